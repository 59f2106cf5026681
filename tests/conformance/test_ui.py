"""Real Firefox is the judge of menus, buttons, commands and notifications: the same scripts, run as extensions here."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.extensions.extension import Extension
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.tabs.pages import PageState, update_page
from tests.conformance.ui.record import CASES, RECORDING, Case, record, shown
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.firefox import find_firefox, firefox_version

pytestmark = pytest.mark.browser

RECORDED: dict[str, dict[str, Any]] = json.loads(RECORDING.read_text("ascii"))["answers"]
ORIGIN = "http://localhost:1"
NAME = "the-extension"

# The script's own functions for what it asks of the host: each is a line of the log, which the host waits for.
ASKING = """
let asked = 0;
const answers = new Map();
globalThis.answerHost = number => answers.get(number)();
function host(name, value = null) {
  return new Promise(resolve => {
    answers.set(++asked, resolve);
    console.log("host " + JSON.stringify([asked, name, value]));
  });
}
"""


class _Hands:
    """Does what a script asks of the host, as a user would do it."""

    def __init__(self, profile: Profile, tab_id: int) -> None:
        self._profile = profile
        self._tab_id = tab_id
        self.extension: Extension

    async def menu(self, item: Any) -> None:
        await self._trigger(f"menu:{item['id']}")

    async def action(self, _: Any) -> None:
        await self._trigger("action")

    async def pageAction(self, _: Any) -> None:  # noqa: N802 - as the scripts call it
        await self._trigger("page-action")

    async def command(self, name: str) -> None:
        await self._trigger(f"command:{name}")

    async def notification(self, name: str) -> None:
        await self._trigger(f"notification:{name}")

    async def navigate(self, to: Any) -> None:
        """As an engine does it: the page is asked for, and it is there."""
        tabs = self._profile.tabs
        if to["url"] is None:
            tab = await tabs.reload(self._tab_id)
        else:
            tab = await tabs.navigate(self._tab_id, ORIGIN + to["url"])
        await tabs.write(lambda each: update_page(each, tab.id, tab.navigation_id, PageState(tab.pending_url)))

    async def _trigger(self, what: str) -> None:
        await self._profile.extensions.trigger(self.extension.id, what)


def answers_of(case: Case) -> dict[str, Any]:
    """What the script of a case reports."""

    async def main(folder: Path) -> dict[str, Any]:
        body = f"{ASKING}\n globalThis.finished = (async () => {{ {case.body()} }})();"
        keys = {"manifest_version": case.version, "permissions": list(case.permissions), **case.manifest}
        persistent = keys.pop("background", {}).get("persistent", True)
        files = {"popup.html": "<!doctype html>"}
        made = make(folder, body, name=NAME, files=files, persistent=persistent, **keys)
        async with asyncio.timeout(120), hatbox.open(folder / "profile.db") as profile:
            tab = await profile.tabs.open(DEFAULT_COOKIE_STORE_ID)
            hands = _Hands(profile, tab.id)
            tasks: list[asyncio.Task[None]] = []

            def heard(entry: Any) -> None:
                if entry.text.startswith("host "):
                    tasks.append(asyncio.ensure_future(serve(*json.loads(entry.text.removeprefix("host ")))))

            async def serve(number: int, name: str, value: Any) -> None:
                act: Callable[[Any], Awaitable[None]] = getattr(hands, name)
                await act(value)
                await extension.evaluate(f"answerHost({number})")

            extension = await profile.extensions.start(made, on_log=heard, idle_seconds=600)
            hands.extension = extension
            answer: dict[str, Any] = await extension.evaluate("finished")
            await asyncio.gather(*tasks)
            return answer

    with tempfile.TemporaryDirectory() as folder:
        answer = asyncio.run(main(Path(folder)))
    told: dict[str, Any] = shown(answer, ORIGIN, NAME)
    return told


@needs_deno
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_extension_sees_what_it_sees_in_firefox(case: Case) -> None:
    expected, answers = RECORDED[case.name], answers_of(case)
    differing = {name: (answers.get(name), expected.get(name)) for name in expected | answers}
    assert {name: pair for name, pair in differing.items() if json.dumps(pair[0]) != json.dumps(pair[1])} == {}


def test_firefox_still_answers_as_recorded() -> None:
    recorded = json.loads(RECORDING.read_text("ascii"))["firefox"]
    binary = find_firefox()
    if binary is None or firefox_version(binary) != recorded:
        pytest.skip(f"the Firefox that was recorded, {recorded}, is not installed")
    assert json.loads(record())["answers"] == RECORDED
