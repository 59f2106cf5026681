"""The scripts beside this file in an extension of Hatbox, with pages in Chromium: the same as in a real Firefox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.background_cases import Case, by_name, check_same
from tests.conformance.chromium_run import run_case
from tests.conformance.content_scripts.record import CASES, FILES, RECORDING
from tests.engines.chromium import shared_driver
from tests.engines.chromium.conftest import browser as browser
from tests.extensions.runtime.lab import needs_deno

pytestmark = needs_deno

FIREFOX = RECORDING.load()["answers"]

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
    expected = by_name(FIREFOX[case.name]) | DIFFERENT.get(case.name, {})
    if case.script.stem == "manifest":
        _, about = expected["what a content script has"]
        shown = {key: [name for name in about[key] if name not in absent] for key, absent in ABSENT.items()}
        expected["what a content script has"] = ["resolved", about | shown | {"self": True}]
    return expected


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_content_scripts_are_as_in_firefox(case: Case, tmp_path: Path, browser: str) -> None:
    check_same(by_name(shared_driver.run(run_case(case, tmp_path, browser, FILES))), expected_of(case))


def test_firefox_still_answers_as_recorded() -> None:
    RECORDING.check_firefox()
