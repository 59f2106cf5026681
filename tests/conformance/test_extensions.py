"""Real Firefox is the judge of what only extensions have: runner.js, as an extension of ours, gets its answers."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from tests.conformance.record import EXTENSION_SUITES, RUNNER, Suite
from tests.conformance.site import Site
from tests.conformance.test_suites import engine_for, headings
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno

RECORDED: dict[str, dict[str, list[Any]]] = {suite.name: suite.recorded()["answers"] for suite in EXTENSION_SUITES}
ALL = [(suite, case) for suite in EXTENSION_SUITES for case in suite.cases()]
LOOPBACK = "http://127.0.0.1/*"  # which the extension that was recorded had, to tell of its answers


def name_of(suite: Suite) -> str:
    return suite.name


def logs_of(suite: Suite) -> dict[str, list[Any]]:
    """What all cases of a suite bring, each set of permissions in an extension of its own."""

    async def main(folder: Path) -> dict[str, list[Any]]:
        with Site() as site:
            async with asyncio.timeout(300), hatbox.open(folder / "profile.db") as profile, engine_for(profile, suite):
                return await replayed(profile, folder, site.origin)

    async def replayed(profile: Profile, folder: Path, site: str) -> dict[str, list[Any]]:
        logs: dict[str, list[Any]] = {}
        await profile.set_settings(closed_tabs=25)  # as Firefox remembers them
        for permissions in dict.fromkeys(tuple(case["permissions"]) for case in suite.cases()):
            settings: dict[str, Any] = {} if suite.has_id else {"browser_specific_settings": {"gecko": {}}}
            made = make(folder, RUNNER.read_text("utf-8"), permissions=[*permissions, LOOPBACK], **settings)
            extension = await profile.extensions.start(made)
            for case in suite.cases():
                if tuple(case["permissions"]) == permissions:
                    await _one_tab(profile)
                    logs[case["name"]] = await extension.evaluate(f"runCase(browser, {json.dumps(case)}, '{site}')")
            await profile.extensions.stop(extension)
        return logs

    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(main(Path(folder)))


async def _one_tab(profile: Profile) -> None:
    new = await profile.tabs.open(DEFAULT_COOKIE_STORE_ID)
    for tab in await profile.tabs.query():
        if tab.id != new.id:
            await profile.tabs.close(tab.id)


@needs_deno
@pytest.mark.parametrize("suite", EXTENSION_SUITES, ids=name_of)
def test_an_extension_gets_the_same_answers_as_in_firefox(suite: Suite) -> None:
    different: dict[str, list[str]] = {}
    logs = logs_of(suite)
    for case in suite.cases():
        expected = case["expect"] if "expect" in case else RECORDED[suite.name][case["name"]]
        # Line by line and as text: the order of an object's keys is part of the answer.
        logged = [json.dumps(entry) for entry in logs[case["name"]]]
        if logged != [json.dumps(entry) for entry in expected]:
            different[case["name"]] = logged
    assert different == {}


def test_each_difference_from_firefox_is_real_and_explained() -> None:
    different = [(case, RECORDED[suite.name][case["name"]]) for suite, case in ALL if "differs" in case]
    assert [case["name"] for case, log in different if json.dumps(log) == json.dumps(case["expect"])] == []
    assert {case["differs"] for case, _ in different} <= headings()


@pytest.mark.parametrize("suite", EXTENSION_SUITES, ids=name_of)
def test_every_case_has_a_name_of_its_own_and_an_answer(suite: Suite) -> None:
    names = [case["name"] for case in suite.cases()]
    assert len(names) == len(set(names))
    assert set(names) == set(RECORDED[suite.name])
