"""Real Firefox is the judge: the Python face answers as recorded, but for the differences that are written down."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.engines.runner import EngineRunner
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from tests.conformance.record import SUITES, Case, Suite
from tests.conformance.replay import run_case
from tests.conformance.site import Site

RECORDED: dict[Suite, dict[str, list[Any]]] = {suite: suite.recorded()["answers"] for suite in SUITES}
ALL = [(suite, case) for suite in SUITES for case in suite.cases()]
DIFFERENT = [(suite, case) for suite, case in ALL if "differs" in case]
WITH_PAGES = ("tabs", "windows", "tab_strip", "web_request", "history", "sessions")
DECISIONS = Path(__file__).parents[2] / "docs" / "differences.md"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


def name_of(value: Suite | Case) -> str:
    return value.name if isinstance(value, Suite) else str(value["name"])


@pytest.mark.parametrize(("suite", "case"), ALL, ids=name_of)
def test_a_script_gets_the_same_answers_as_in_firefox(suite: Suite, case: Case, site: Site, tmp_path: Path) -> None:
    async def replayed() -> list[dict[str, Any]]:
        async with hatbox.open(tmp_path / "profile.db") as profile, engine_for(profile, suite) as engine:
            await profile.tabs.open(DEFAULT_COOKIE_STORE_ID)
            settled = engine.wait_until_settled if engine else None
            return await run_case(profile.browser(case["permissions"]), case["steps"], site.origin, settled, expected)

    expected = case["expect"] if "expect" in case else RECORDED[suite][case["name"]]
    # Line by line and as text: the order of an object's keys is part of the answer.
    assert [json.dumps(entry) for entry in asyncio.run(replayed())] == [json.dumps(entry) for entry in expected]


def engine_for(profile: Profile, suite: Suite) -> AbstractAsyncContextManager[EngineRunner | None]:
    """What loads the pages of cases, where a suite has any. The site is a plain one, and certificates take time."""
    return profile.http_engine(verify=False) if suite.name in WITH_PAGES else nullcontext()


def test_each_difference_from_firefox_is_real_and_explained() -> None:
    recorded = [(case, RECORDED[suite][case["name"]]) for suite, case in DIFFERENT]
    assert [case["name"] for case, log in recorded if json.dumps(log) == json.dumps(case["expect"])] == []
    assert {case["differs"] for _, case in DIFFERENT} <= headings()


def headings() -> set[str]:
    """The headings of docs/differences.md, as links name them."""
    found = re.findall(r"^#+ (.*)$", DECISIONS.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("suite", SUITES, ids=name_of)
def test_every_case_has_a_name_of_its_own_and_an_answer(suite: Suite) -> None:
    names = [case["name"] for case in suite.cases()]
    assert len(names) == len(set(names))
    assert all("expect" in case or case["name"] in RECORDED[suite] for case in suite.cases())
    assert set(RECORDED[suite]) <= set(names)
