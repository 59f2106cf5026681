"""The scripts beside this file in an extension of Hatbox, with pages in Chromium: the same as in a real Firefox."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import hatbox
from tests.conformance.content_scripts.record import CASES, FILES, LOOPBACK, Case, compare, record, recorded
from tests.conformance.content_scripts.site import FrameSite
from tests.engines.chromium.conftest import browser as browser
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.firefox import find_firefox, firefox_version

pytestmark = needs_deno

FIREFOX = recorded()["answers"]

# What docs/differences.md names, under "Content scripts".
_LET = "let is disallowed as a lexically bound name"
_BROKEN = ["resolved", [{"documentId": "$string", "error": {"error": f"SyntaxError: {_LET}"}, "frameId": 0}]]
DIFFERENT: dict[str, dict[str, Any]] = {
    "tabs": {
        "code: syntaxError": ["rejected", ["Error", _LET]],
        "code: letAgain": ["rejected", ["Error", "Identifier 'lexical' has already been declared"]],
    },
    "scripting": {"injection: brokenFile": _BROKEN},
    "scripting, version 2": {"injection: brokenFile": _BROKEN},
}
ABSENT = {
    "browser": {"test"},  # only in tests of Hatbox
    "i18n": {"detectLanguage", "getPreferredSystemLanguages"},
    "runtime": {"getDocumentId", "getFrameId"},
}


def expected_of(case: Case) -> dict[str, Any]:
    """What Firefox answered, by the name of the probe, except for the differences."""
    expected = {name: [how, value] for name, how, value in FIREFOX[case.name]} | DIFFERENT.get(case.name, {})
    if case.script == "manifest":
        _, about = expected["what a content script has"]
        shown = {key: [name for name in about[key] if name not in absent] for key, absent in ABSENT.items()}
        expected["what a content script has"] = ["resolved", about | shown | {"self": True}]
    return expected


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_content_scripts_are_as_in_firefox(case: Case, tmp_path: Path, browser: str) -> None:
    found = {name: [how, value] for name, how, value in asyncio.run(_run(case, tmp_path, browser))}
    expected = expected_of(case)
    assert list(found) == list(expected)
    different = [
        f"{name}\n  hatbox:  {json.dumps(found[name])}\n  firefox: {json.dumps(theirs)}"
        for name, theirs in expected.items()
        if found[name] != theirs
    ]
    assert not different, "\n".join(different)


def test_firefox_still_answers_as_recorded() -> None:
    version = recorded()["firefox"]
    binary = find_firefox()
    if binary is None or firefox_version(binary) != version:
        pytest.skip(f"the Firefox that was recorded, {version}, is not installed")
    assert compare(recorded(), record()) is None


async def _run(case: Case, folder: Path, browser: str) -> list[list[Any]]:
    with FrameSite() as site:
        keys = case.keys()
        keys["permissions"] = [*case.permissions, *([LOOPBACK] if case.version == 2 else [])]
        background = f"globalThis.answers = (async () => {{\n{case.body(site)}\n}})();"
        made = make(folder, background, name="probe", manifest_version=case.version, files=FILES, **keys)
        async with (
            asyncio.timeout(280),
            hatbox.open(folder / "profile.db") as profile,
            profile.chromium(headless=True, browser=browser),
        ):
            extension = await profile.extensions.start(made, idle_seconds=600)
            log: list[list[Any]] = await extension.evaluate("answers", timeout=240)
            return log
