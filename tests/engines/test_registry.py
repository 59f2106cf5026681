from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from hatbox.engines.registry import ENGINES, registration_of
from hatbox.engines.runner import EngineRunner
from hatbox.errors import EngineError
from tests.store.in_loop import in_loop


def test_every_engine_is_found_by_its_name_and_has_what_a_user_reads() -> None:
    assert ENGINES == ("chromium", "http")
    assert [registration_of(name).DISPLAY_NAME for name in ENGINES] == ["Chromium", "the HTTP engine"]
    assert [registration_of(name).HAS_WINDOWS for name in ENGINES] == [True, False]


@in_loop
async def test_an_engine_is_started_by_its_name(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile, profile.engine("http") as runner:
        assert isinstance(runner, EngineRunner)
        running = await profile.running_engine("Work")
        assert running is not None
        assert running.engine == "HTTP"


@in_loop
async def test_an_unknown_engine_is_named_with_the_known_ones(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        with pytest.raises(EngineError, match=r"unknown engine: gecko\. Allowed values: chromium, http"):
            profile.engine("gecko")
