"""A few seconds of random use (soak.py)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hatbox.engines import engine_supervisor
from tests.engines.chromium import soak
from tests.examples import examples

SECONDS = 6.0


@pytest.mark.parametrize("seed", range(1, 1 + examples(2)))
def test_random_steps_at_random_times_neither_hang_nor_lose_a_tab(
    browser: str, path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(engine_supervisor, "_RESTART_DELAYS", (0.05,))
    asyncio.run(soak.soak(path, browser, seed, SECONDS))


def test_a_hang_is_reported_with_the_stack_of_every_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "LIMIT_SECONDS", 0.01)

    async def stuck() -> None:
        async with asyncio.timeout(60):
            await forgotten()

    async def forgotten() -> None:
        await asyncio.Event().wait()

    with pytest.raises(AssertionError, match=r"stuck for 0.01 s in: a page\n(.*\n)* .*forgotten \(test_soak.py:\d+\)"):
        asyncio.run(soak.within(stuck(), "a page"))
