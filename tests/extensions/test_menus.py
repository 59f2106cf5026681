"""Menus, as a background calls them."""

from __future__ import annotations

from pathlib import Path

from hatbox import Profile
from hatbox.extensions.extension import Extension
from tests.extensions.made import run_made
from tests.extensions.runtime.lab import needs_deno

pytestmark = needs_deno


def test_without_a_callback_there_is_a_promise(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        missing = "browser.contextMenus.remove('none').catch(error => error.message)"
        assert await extension.evaluate(missing) == "Cannot find menu item with id none"
        assert await extension.evaluate("browser.menus.create({id: 'one', title: 'One'})") == "one"
        assert await extension.evaluate("browser.menus.remove('one').then(() => 'removed')") == "removed"
        assert await extension.evaluate("browser.menus.removeAll().then(() => 'removed')") == "removed"

    run_made(tmp_path, use, permissions=["menus", "contextMenus"])
