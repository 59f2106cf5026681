"""Real Firefox is the judge: the Python face answers as recorded, but for the differences that are written down."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

import hatbox
from tests.conformance.record import CASES, RECORDING
from tests.conformance.replay import run_case

ALL: list[dict[str, Any]] = json.loads(CASES.read_text("utf-8"))
RECORDED: dict[str, list[Any]] = json.loads(RECORDING.read_text("ascii"))["answers"]
DIFFERENT = [case for case in ALL if "differs" in case]
DECISIONS = Path(__file__).parents[2] / "docs" / "decisions.md"


def name_of(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", ALL, ids=name_of)
def test_a_script_gets_the_same_answers_as_in_firefox(case: dict[str, Any], tmp_path: Path) -> None:
    async def replayed() -> list[dict[str, Any]]:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            return await run_case(profile.browser(case.get("permissions", ["contextualIdentities"])), case["steps"])

    expected = case["expect"] if "expect" in case else RECORDED[case["name"]]
    # Line by line and as text: the order of an object's keys is part of the answer.
    assert [json.dumps(entry) for entry in asyncio.run(replayed())] == [json.dumps(entry) for entry in expected]


@pytest.mark.parametrize("case", DIFFERENT, ids=name_of)
def test_a_difference_from_firefox_is_real_and_explained(case: dict[str, Any]) -> None:
    assert json.dumps(RECORDED[case["name"]]) != json.dumps(case["expect"])
    headings = re.findall(r"^#+ (.*)$", DECISIONS.read_text("utf-8"), re.MULTILINE)
    assert case["differs"] in [re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_every_case_has_a_name_of_its_own_and_an_answer() -> None:
    names = [case["name"] for case in ALL]
    assert len(names) == len(set(names))
    assert all("expect" in case or case["name"] in RECORDED for case in ALL)
    assert set(RECORDED) <= set(names)
