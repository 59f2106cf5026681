"""Flipped bytes: what is read is right or there is an error, and what opening does not notice, the check reports.

For more flips, and the figures: python -m tests.store.fuzz 5000
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples import examples
from tests.store.fuzz import Fuzz, Kind

pytestmark = pytest.mark.process

FLIPS: dict[Kind, int] = {"database": 500, "log": 500, "database with a log": 100}
ALLOWED = {"right", "error", "missed"}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a folder: each flip copies, opens and closes a profile."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(dir=memory))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("kind", FLIPS)
def test_no_flipped_byte_goes_undetected(folder: Path, kind: Kind) -> None:
    fuzz = Fuzz(folder, kind)
    choose = random.Random(2026)
    flips = [fuzz.flip(choose) for _ in range(examples(FLIPS[kind]))]
    counts = Counter(outcome for outcome, *_ in flips)
    assert not [flip for flip in flips if flip[0] not in ALLOWED]
    assert counts["error"]
    if kind == "log":
        assert counts["missed"] == 0  # opening walks the log
