"""Every scenario on every engine (scenarios.py, adapters.py)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.engines.adapters import ADAPTERS
from tests.engines.chromium import shared_driver
from tests.engines.scenarios import SCENARIOS
from tests.site import Site

LIMIT_SECONDS = 120


def case(engine: str, name: str) -> Any:
    need = getattr(SCENARIOS[name], "starts", None)
    marks = ["browser"] if engine == "chromium" else [need] if need else []
    return pytest.param(engine, name, id=f"{engine}-{name}", marks=[getattr(pytest.mark, mark) for mark in marks])


CASES = [case(engine, name) for engine in ADAPTERS for name in SCENARIOS]


@pytest.mark.parametrize(("engine", "name"), CASES)
def test_scenario(engine: str, name: str, path: Path, site: Site) -> None:
    adapter = ADAPTERS[engine]
    if why := adapter.missing():
        pytest.skip(why)
    scenario = SCENARIOS[name]

    async def bounded() -> None:
        await asyncio.wait_for(asyncio.ensure_future(scenario(adapter, path, site)), LIMIT_SECONDS)

    run = shared_driver.run if engine == "chromium" else asyncio.run
    run(bounded())
