"""The manager page in a real Firefox: actions with the keyboard, changes of others, a lost server, and no error."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from hatbox.ui.server import ManagerServer
from tests.firefox import Firefox, find_firefox
from tests.marks import starts
from tests.ui.manager import Manager, open_manager
from tests.waiting import until_awaited

ENTER, DELETE = "\ue007", "\ue017"
TOAST = "document.querySelector('.toast')"
PREFS: dict[str, bool | int | str] = {"dom.security.trusted_types.enabled": True}


@pytest.fixture
@starts("browser")
def firefox() -> str:
    """The path of a Firefox. Without it, the test is skipped, or fails where browsers are required."""
    binary = find_firefox()
    if binary is None:
        missing = "no Firefox is installed: `firefox-esr` or `firefox` on the path, or $FIREFOX"
        if os.environ.get("HATBOX_REQUIRE_BROWSERS"):
            pytest.fail(missing)
        pytest.skip(missing)
    return binary


class FirefoxPage:
    """The page in Firefox. Its calls block, so they run in a thread."""

    def __init__(self, firefox: Firefox) -> None:
        self._firefox = firefox

    async def open(self, link: str) -> None:
        """Open a link in a new tab."""
        await asyncio.to_thread(self._firefox.open_page, link)

    async def press(self, keys: str) -> None:
        """Press keys, one after the other."""
        await asyncio.to_thread(self._firefox.press_keys, keys)

    async def focus(self, selector: str) -> None:
        """Focus an element, when it is shown."""
        find = "const found = document.querySelector(arguments[0]); found?.focus();"
        await self.until(f"{find} return found !== null && found === document.activeElement", selector)

    async def show(self, screen: str) -> None:
        """Open a screen, and wait until it has its data."""
        await self.until("location.hash = '#/' + arguments[0]; return true", screen)
        await self.until("return document.querySelector('main h1') && !document.querySelector('main [aria-busy=true]')")

    async def until(self, script: str, *arguments: Any) -> Any:
        """Call the body of a function in the page until it returns something."""
        found: Any = None

        async def is_found() -> bool:
            nonlocal found
            found = await asyncio.to_thread(self._firefox.in_page, script, *arguments)
            return bool(found)

        await until_awaited(is_found)
        return found


async def test_firefox_shows_the_page_and_its_changes_without_an_error(firefox: str, tmp_path: Path) -> None:
    async with open_manager(tmp_path / "profile.db") as manager:
        with Firefox(firefox, PREFS) as started:
            page = FirefoxPage(started)
            await page.open(manager.server.create_link())
            names = "return [...document.querySelectorAll('.card .name')].map(each => each.textContent)"
            has = f"{names}.includes(arguments[0])"
            await page.until(has, "Work")
            assert await page.until(names) == [each.name for each in await manager.profile.identities.query()]

            # A change of another program appears without a reload.
            await manager.profile.identities.create("From <b>elsewhere", color="red", icon="tree")
            await page.until(has, "From <b>elsewhere")

            # Create an identity with the keyboard, hide it, remove it; Undo.
            await page.press("n")
            await page.until("return document.querySelector('dialog[open] input') === document.activeElement")
            await page.press(f"Made in Firefox{ENTER}")
            await page.until(has, "Made in Firefox")
            await page.until("return document.activeElement.ariaLabel?.startsWith('Made in Firefox. ')")
            await page.press("h")
            await until_awaited(lambda: is_hidden(manager, "Made in Firefox"))
            await page.until("return document.activeElement.ariaLabel?.startsWith('Made in Firefox, hidden. ')")
            await page.press(DELETE)
            await page.until(f"return !{has.removeprefix('return ')}", "Made in Firefox")
            await page.until(f"return {TOAST}.textContent.startsWith('Made in Firefox moved to the trash.')")
            await page.until(f"{TOAST}.querySelector('button').click(); return true")
            await page.until(has, "Made in Firefox")
            assert await is_hidden(manager, "Made in Firefox")

            # A menu is a popover at its button.
            await page.until("document.querySelector('.card [data-part=menu]').click(); return true")
            assert await page.until(
                "const menu = document.querySelector('[role=menu]');"
                "const box = menu?.getBoundingClientRect();"
                "return box && menu.contains(document.activeElement) && box.width > 100 && box.top > 0"
            )
            for screen in ("sites", "tabs", "rules", "extensions", "trash", "activity", "identity/firefox-container-1"):
                await page.show(screen)

            # A rule is added, and a cookie is deleted.
            await page.show("rules")
            await page.focus("[aria-label='Address pattern']")
            await page.press(f"rail.example{ENTER}")
            await page.until(
                "return document.querySelector('.rule-rows .rule')?.textContent.startsWith('rail.example')"
            )
            assert [rule.pattern for rule in await manager.profile.rules.list()] == ["rail.example"]
            store = await manager.profile.cookie_store("Work")
            await store.receive(["sid=secret; HttpOnly", "lang=de"], "https://forge.example/")
            await page.show(f"identity/{store.cookie_store_id}/cookies")
            await page.focus(".site .disclosure")
            await page.press(ENTER)
            await page.focus("[aria-label='Delete sid']")
            await page.press(ENTER)
            await page.until(f"return {TOAST}?.textContent.startsWith('Deleted cookie sid of forge.example.')")
            assert [cookie.name for cookie in await store.cookies()] == ["lang"]
            assert await asyncio.to_thread(started.console_errors) == []

            # The server ends and starts again: what was done meanwhile is sent.
            await page.show("identities")
            await manager.server.stop()
            await page.until("return document.querySelector('.banner')?.textContent.includes('Reconnecting')")
            await page.focus(".card[data-key='firefox-container-2'] .hit")
            await page.press("h")
            await page.until("return document.activeElement.ariaLabel?.startsWith('Work, hidden. ')")
            assert not await is_hidden(manager, "Work")
            again = ManagerServer(manager.profile, port=manager.server.port)
            again.keys = manager.server.keys
            async with again:
                await until_awaited(lambda: is_hidden(manager, "Work"))
                await page.until("return !document.querySelector('.banner')")
            await manager.server.start()


async def is_hidden(manager: Manager, name: str) -> bool:
    return (await manager.profile.identities.resolve(name)).hidden
