"""The scripts beside this file in an extension of Hatbox, with pages in Chromium: compared with a real Firefox."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from tests.conformance.background_cases import Case, by_name, check_same
from tests.conformance.chromium_run import run_case
from tests.conformance.web_resources.record import CASES, FILES, RECORDING
from tests.engines.chromium import shared_driver
from tests.engines.chromium.conftest import browser as browser
from tests.extensions.runtime.lab import needs_deno

pytestmark = needs_deno

FIREFOX = RECORDING.load()["answers"]

# What docs/differences.md names, under "Content scripts".
_FAILED: Final[dict[str, Any]] = {
    **dict.fromkeys(("img", "link", "script", "module", "XMLHttpRequest"), "error"),
    **dict.fromkeys(("script has run", "module has run"), None),
    **dict.fromkeys(("fetch", "import()"), "rejected: TypeError"),
}


def _failed(prefix: str, *ways: str) -> dict[str, Any]:
    return {f"{prefix}: {way}": ["returned", _FAILED[way]] for way in ways}


def _returned(value: str) -> list[str]:
    return ["returned", value]


_ELEMENTS: Final = ("img", "link", "script", "script has run", "module", "module has run")
_TYPE_ERROR: Final = _returned("rejected: TypeError")
DIFFERENT: Final[dict[str, Any]] = {
    # Only files that the manifest lists, and no import() of moz-extension: URLs.
    **_failed("content script: open", "import()"),
    **_failed("content script: closed", *_ELEMENTS, "import()", "XMLHttpRequest"),
    "content script: color of the sheet": _returned("rgb(1, 2, 3)"),
    "content script: fetch: with an encoded slash": _TYPE_ERROR,
    # Chromium loads moz-extension: URLs in these ways only.
    **_failed("page: open", "module", "module has run", "fetch", "import()", "XMLHttpRequest"),
    "page: fetch: with a query": _TYPE_ERROR,
    # The policy of the page applies.
    **_failed("content script, with a policy: open", *_ELEMENTS, "import()", "XMLHttpRequest"),
    **_failed("content script, with a policy: closed", *_ELEMENTS, "import()", "XMLHttpRequest"),
    "content script, with a policy: color of the sheet": _returned("rgb(0, 0, 0)"),
    "content script, with a policy: fetch: with an encoded slash": _TYPE_ERROR,
    **_failed("page, with a policy: open", *_ELEMENTS, "fetch", "import()", "XMLHttpRequest"),
    "page, with a policy: color of the sheet": _returned("rgb(0, 0, 0)"),
    "page, with a policy: fetch: with a query": _TYPE_ERROR,
    "frame, with a policy": ["resolved", "no message"],
    # Firefox tells pages which of the listed files exist. Hatbox does not.
    **{
        f"{who}{where}: fetch: no such file": _TYPE_ERROR
        for who in ("content script", "page")
        for where in ("", ", with a policy")
    },
}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_files_in_pages_are_as_in_firefox(case: Case, tmp_path: Path, browser: str) -> None:
    check_same(
        by_name(shared_driver.run(run_case(case, tmp_path, browser, FILES))), by_name(FIREFOX[case.name]) | DIFFERENT
    )


def test_firefox_still_answers_as_recorded() -> None:
    RECORDING.check_firefox()
