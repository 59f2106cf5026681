"""Real Firefox is the judge here too: runner.js, the very file that was run in Firefox, run in the runtime."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.cookie_store_ids import DEFAULT_STORE
from tests.api.caller import extension_caller
from tests.conformance.record import RUNNER, SUITES, Case, Suite
from tests.conformance.site import Site
from tests.conformance.test_suites import engine_for
from tests.extensions.runtime.lab import Lab, in_lab, needs_deno

pytestmark = needs_deno

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
    return grouped


@pytest.mark.parametrize(
    ("suite", "permissions"),
    groups(),
    ids=lambda each: each.name if isinstance(each, Suite) else "+".join(each) or "none",
)
def test_a_script_gets_the_same_answers_as_in_firefox(
    suite: Suite, permissions: tuple[str, ...], site: Site, tmp_path: Path
) -> None:
    different: dict[str, list[str]] = {}

    async def use(lab: Lab) -> None:
        runtime = await lab.start(RUNNER.read_text("utf-8"), caller=extension_caller(permissions))
        for index, case in enumerate(groups()[suite, permissions]):
            async with hatbox.open(tmp_path / f"{index}.db") as profile, engine_for(profile, suite):
                await profile.tabs.open(DEFAULT_STORE)
                lab.host.use(profile)
                steps = json.dumps({"steps": case["steps"]})
                async with asyncio.timeout(30):
                    log = await runtime.evaluate(f"runCase(browser, {steps}, {site.origin!r})")
            expected = case["expect"] if "expect" in case else RECORDED[suite][case["name"]]
            # Line by line and as text: the order of an object's keys is part of the answer.
            if [json.dumps(entry) for entry in log] != [json.dumps(entry) for entry in expected]:
                different[case["name"]] = [json.dumps(entry) for entry in log]

    in_lab(tmp_path, use, seconds=300)
    assert different == {}
