"""The public conformance data, where it is there: data of others, read and never copied."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(os.environ.get("HATBOX_COOKIE_DATA") or Path(__file__).parents[2].parent / "shared" / "data" / "cookies")


def published(name: str, member: str) -> list[Any]:
    """The cases of one file, or a single case that skips and says why."""
    path = _FOLDER / f"{name}.json"
    if not path.exists():
        reason = f"the public cookie data is not there ({name}.json): set HATBOX_COOKIE_DATA to its folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id=f"no {name}.json")]
    cases: list[Any] = json.loads(path.read_text("utf-8"))[member]
    return cases
