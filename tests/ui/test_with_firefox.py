"""The manager page in a real Firefox: cards, changes of others, a new identity, and no error."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.firefox import Firefox, find_firefox
from tests.ui.manager import open_manager
from tests.waiting import until_awaited

PREFS: dict[str, bool | int | str] = {"dom.security.trusted_types.enabled": True}


@pytest.fixture
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

            # Create an identity with the keyboard.
            await asyncio.to_thread(started.press_keys, "n")
            await page.until("return document.querySelector('dialog[open] input') === document.activeElement")
            await asyncio.to_thread(started.press_keys, "Made in Firefox\ue007")
            await page.until(has, "Made in Firefox")
            assert "Made in Firefox" in [each.name for each in await manager.profile.identities.query()]

            # A menu is a popover at its button.
            await page.until("document.querySelector('.card [data-part=menu]').click(); return true")
            assert await page.until(
                "const menu = document.querySelector('[role=menu]');"
                "const box = menu?.getBoundingClientRect();"
                "return box && menu.contains(document.activeElement) && box.width > 100 && box.top > 0"
            )
            for screen in ("sites", "tabs", "rules", "extensions", "trash", "activity", "identity/firefox-container-1"):
                await page.until("location.hash = '#/' + arguments[0]; return true", screen)
                await page.until(
                    "return document.querySelector('main h1') && !document.querySelector('main [aria-busy=true]')"
                )
            assert await asyncio.to_thread(started.console_errors) == []
