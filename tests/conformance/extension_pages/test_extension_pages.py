"""Popups and tabs of an extension in Chromium: the same as in a real Firefox."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.extensions.extension import Extension
from tests.conformance.background_cases import Case, by_name, check_same
from tests.conformance.content_scripts.site import FrameSite
from tests.conformance.extension_pages.record import CASES, FILES, RECORDING
from tests.conformance.test_ui import ASKING
from tests.engines.chromium import shared_driver
from tests.engines.chromium.conftest import browser as browser
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno

pytestmark = needs_deno

FIREFOX = RECORDING.load()["answers"]

# What docs/differences.md names, under "`chrome` is `browser`" and "Pages of extensions": the pages have https URLs in
# Chromium, and runtime.getBackgroundPage() does not exist in them.
_URL = "moz-extension://$uuid/pages/popup.html"
_TYPES = ["object", "object", "object", "undefined", "function", "object", "object", True, True, True]
DIFFERENT: dict[str, Any] = {
    "in the popup: location": ["resolved", [_URL, "moz-extension://$uuid", "https:", "Popup", True]],
    "in the popup: has": ["resolved", _TYPES],
}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_pages_of_an_extension_are_as_in_firefox(case: Case, tmp_path: Path, browser: str) -> None:
    check_same(by_name(shared_driver.run(_run(case, tmp_path, browser))), by_name(FIREFOX[case.name]) | DIFFERENT)


def test_firefox_still_answers_as_recorded() -> None:
    RECORDING.check_firefox()


async def _run(case: Case, folder: Path, browser: str) -> list[list[Any]]:
    with FrameSite() as site:
        background = f"{ASKING}\nglobalThis.finished = (async () => {{\n{case.body(site)}\n}})();"
        made = make(
            folder, background, name="probe", manifest_version=case.version, files=FILES, **case.keys_in_hatbox()
        )
        tasks: list[asyncio.Task[None]] = []
        async with (
            asyncio.timeout(200),
            hatbox.open(folder / "profile.db") as profile,
            profile.chromium(headless=True, browser=browser),
        ):
            await profile.tabs.open("firefox-default", f"{site.origin}/page")

            def on_log(entry: Any) -> None:
                if entry.text.startswith("host "):
                    tasks.append(asyncio.ensure_future(click(json.loads(entry.text.removeprefix("host "))[0])))

            async def click(number: int) -> None:
                extension = await started  # scripts run before start() returns
                await profile.extensions.trigger(extension.id, "action")
                await extension.evaluate(f"answerHost({number})")

            started: asyncio.Future[Extension] = asyncio.get_running_loop().create_future()
            extension = await profile.extensions.start(made, idle_seconds=600, on_log=on_log)
            started.set_result(extension)
            log: list[list[Any]] = await extension.evaluate("finished", timeout=180)
            await asyncio.gather(*tasks)
            return log
