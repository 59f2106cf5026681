"""Real Firefox is the judge here too: runner.js, the very file that was run in Firefox, run in the runtime."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.engines.runner import EngineRunner
from hatbox.extensions.runtime import Runtime
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from tests.api.caller import extension_caller
from tests.conformance.record import RUNNER, SUITES, Case, Suite
from tests.conformance.site import Site
from tests.conformance.test_suites import engine_for
from tests.extensions.runtime.lab import Host, Lab, in_lab, needs_deno

pytestmark = needs_deno

_MOST_LANES = 3  # children at a time
_FEW_CASES = 2  # with the same permissions: only tests/conformance runs them, without a Deno process
_CASES_OF_A_LANE = 60  # with fewer, another child costs more than it saves
_IDLE_URL = "http://idle.invalid/"
_IS_IDLE = f"async () => await (await fetch('{_IDLE_URL}')).text() === 'idle'"
RECORDED: dict[Suite, dict[str, list[Any]]] = {suite: suite.recorded()["answers"] for suite in SUITES}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


def groups() -> dict[tuple[Suite, tuple[str, ...]], list[Case]]:
    """The cases that can share a child: a suite's, with the same permissions. Each still gets a profile of its own."""
    grouped: dict[tuple[Suite, tuple[str, ...]], list[Case]] = {}
    for suite in SUITES:
        for case in suite.cases():
            grouped.setdefault((suite, tuple(case["permissions"])), []).append(case)
    return {
        (suite, permissions): cases
        for (suite, permissions), cases in grouped.items()
        if permissions == suite.permissions or len(cases) > _FEW_CASES or any(map(looks_at_members, cases))
    }


def looks_at_members(case: Case) -> bool:
    """Whether a case checks which members the API has. A Deno process gets them when it starts."""
    return any(f'"{step}":' in json.dumps(case["steps"]) for step in ("has", "keys", "value"))


@pytest.mark.parametrize(
    ("suite", "permissions"),
    groups(),
    ids=lambda each: each.name if isinstance(each, Suite) else "+".join(each) or "none",
)
def test_a_script_gets_the_same_answers_as_in_firefox(
    suite: Suite, permissions: tuple[str, ...], site: Site, tmp_path: Path
) -> None:
    different: dict[str, list[str]] = {}
    numbers = itertools.count()

    async def use(lab: Lab) -> None:
        cases = groups()[suite, permissions]
        lanes = []
        number = min(_MOST_LANES, -(-len(cases) // _CASES_OF_A_LANE))
        for lane in range(number):
            runtime = await lab.start(RUNNER.read_text("utf-8"), caller=extension_caller(permissions))
            lanes.append(run(runtime, lab.host, cases[lane::number]))
        await asyncio.gather(*lanes)

    async def run(runtime: Runtime, host: Host, cases: list[Case]) -> None:
        for case in cases:
            path = tmp_path / f"{next(numbers)}.db"
            async with hatbox.open(path) as profile, engine_for(profile, suite) as engine:
                await profile.tabs.open(DEFAULT_COOKIE_STORE_ID)
                if engine:
                    await engine.wait_until_settled()  # a browser that was recorded had shown its first tab long before
                host.use(profile)
                host.routes[_IDLE_URL] = partial(idle_or_busy, runtime, profile, engine)
                steps = json.dumps({"steps": case["steps"]})
                async with asyncio.timeout(30):
                    log = await runtime.evaluate(f"runCase(browser, {steps}, {site.origin!r}, {_IS_IDLE})")
            expected = case["expect"] if "expect" in case else RECORDED[suite][case["name"]]
            # Line by line and as text: the order of an object's keys is part of the answer.
            if [json.dumps(entry) for entry in log] != [json.dumps(entry) for entry in expected]:
                different[case["name"]] = [json.dumps(entry) for entry in log]

    in_lab(tmp_path, use, seconds=300)
    assert different == {}


async def idle_or_busy(runtime: Runtime, profile: Profile, engine: EngineRunner | None) -> str:
    """`idle` if nothing is pending that could still add to the log of a case."""
    await profile.store.deliver_pending_changes()
    if engine:
        await engine.wait_until_settled()
    is_loading = engine is not None and any(tab.loading for tab in await profile.tabs.query())
    # The script waits for this answer, and the host for the end of the case.
    is_waiting = runtime.pending_calls > 1 or runtime.pending_responses > 1
    return "busy" if is_loading or is_waiting else "idle"
