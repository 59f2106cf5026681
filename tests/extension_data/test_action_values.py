"""Values of actions: the narrowest scope wins. tests/conformance compares results with Firefox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hatbox import ApiError, Profile
from hatbox.api.browser import Browser
from hatbox.extension_data.actions import ACTION
from tests.api.ui_actions import ID, PAGE, PERSISTENT, browser_of, go, in_profile, tab_at

MANIFEST = {**PERSISTENT, "browser_action": {"default_title": "Default"}, "page_action": {}}


def test_each_action_namespace_needs_its_manifest_key(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        every = ("browserAction", "action", "pageAction", "commands")

        def there(manifest: dict[str, Any]) -> set[str]:
            browser = browser_of(profile, manifest)
            return {name for name in every if hasattr(browser, name)}

        keys: dict[str, Any] = {key: {} for key in ("browser_action", "action", "page_action", "commands")}
        assert there(PERSISTENT) == set()
        assert there({**PERSISTENT, **dict.fromkeys(keys)}) == set()
        assert there({**PERSISTENT, **keys}) == {"browserAction", "pageAction", "commands"}
        assert there({**PERSISTENT, **keys, "manifest_version": 3}) == {"action", "pageAction", "commands"}
        assert not any(hasattr(profile.browser(["tabs", "menus"]), name) for name in (*every, "menus"))

    in_profile(tmp_path, use)


def test_the_narrowest_scope_wins(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser, tab = browser_of(profile, MANIFEST), await tab_at(profile)
        here, window = {"tabId": tab.id}, {"windowId": tab.window_id}

        async def titles() -> list[str]:
            return [await browser.browserAction.getTitle(target) for target in ({}, window, here)]

        assert await titles() == ["Default", "Default", "Default"]
        await browser.browserAction.setTitle({"title": "tab", **here})
        await browser.browserAction.setTitle({"title": "all"})
        assert await titles() == ["all", "all", "tab"]
        await browser.browserAction.setTitle({"title": "window", "windowId": -2})
        assert await titles() == ["all", "window", "tab"]
        await browser.browserAction.setTitle({"title": None, **here})
        assert await titles() == ["all", "window", "window"]
        await browser.browserAction.setTitle({"title": "", **window})
        assert await titles() == ["all", "", ""]
        for target in ({}, window):
            await browser.browserAction.setTitle({"title": None, **target})
        assert await titles() == ["Default", "Default", "Default"]
        assert await profile.store.read(lambda each: each.extensions.find(ACTION)) == []

    in_profile(tmp_path, use)


def test_values_of_a_tab_are_dropped_with_its_page(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser, tab = browser_of(profile, MANIFEST), await tab_at(profile)

        async def set_and(url: str) -> str:
            """What a text is that was set before the tab went there."""
            await browser.browserAction.setBadgeText({"text": "x", "tabId": tab.id})
            await go(profile, tab, url)
            text: str = await browser.browserAction.getBadgeText({"tabId": tab.id})
            return text

        assert await set_and("https://site.example/other") == ""
        assert await set_and("https://site.example/other#place") == "x"
        assert await set_and("https://site.example/other#another") == "x"
        assert await set_and("https://site.example/other#another") == ""  # the same URL again reloads the page
        assert await set_and("https://site.example/other") == ""
        await browser.browserAction.setBadgeText({"text": "y", "tabId": tab.id})
        await profile.tabs.navigate(tab.id, PAGE)
        assert await browser.browserAction.getBadgeText({"tabId": tab.id}) == "y"  # the old page is still there

    in_profile(tmp_path, use)


def test_values_of_closed_tabs_and_windows_are_deleted(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser, tab = browser_of(profile, MANIFEST, "tabs"), await tab_at(profile)
        other = await browser.windows.create({})
        await browser.browserAction.setTitle({"title": "x", "windowId": other["id"]})
        await browser.browserAction.setTitle({"title": "x", "tabId": other["tabs"][0]["id"]})
        await browser.windows.remove(other["id"])
        await browser.browserAction.setTitle({"title": "x", "tabId": tab.id})
        found = await profile.store.read(lambda each: each.extensions.find(ACTION, ID))
        assert [key for _, key, _ in found] == [f"tab:{tab.id}"]

    in_profile(tmp_path, use)


def test_two_extensions_have_two_buttons(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        one, two = (browser_of(profile, MANIFEST, extension_id=name) for name in ("one@x", "two@x"))
        await one.browserAction.setBadgeText({"text": "1"})
        assert await two.browserAction.getBadgeText({}) == ""

    in_profile(tmp_path, use)


@pytest.mark.parametrize("member", ["getTitle", "getPopup", "getBadgeText", "isEnabled"])
def test_an_unknown_scope_is_rejected(tmp_path: Path, member: str) -> None:
    async def use(profile: Profile) -> None:
        get = getattr(browser_of(profile, MANIFEST).browserAction, member)
        for details, words in (
            ({"windowId": -2}, "Invalid window ID: -2"),  # there is none yet
            ({"tabId": 9}, "Invalid tab ID: 9"),
            ({"windowId": 9}, "Invalid window ID: 9"),
            ({"tabId": 9, "windowId": 9}, "Only one of tabId and windowId can be specified."),
        ):
            with pytest.raises(ApiError) as raised:
                await get(details)
            assert str(raised.value) == words

    in_profile(tmp_path, use)


def test_a_page_action_is_shown_where_the_manifest_or_the_script_says(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        matches = {"show_matches": ["https://*.example/*"], "hide_matches": ["https://site.example/secret*"]}
        tab = await tab_at(profile)

        async def shown(browser: Browser) -> bool:
            answer: bool = await browser.pageAction.isShown({"tabId": tab.id})
            return answer

        on_pages = browser_of(profile, {**PERSISTENT, "page_action": matches}, extension_id="matches@x")
        nowhere = browser_of(profile, {**PERSISTENT, "page_action": {"show_matches": None}})
        assert [await shown(on_pages), await shown(nowhere)] == [True, False]
        await on_pages.pageAction.hide(tab.id)
        await nowhere.pageAction.show(tab.id)
        assert [await shown(on_pages), await shown(nowhere)] == [False, True]
        await go(profile, tab, "https://site.example/secret")
        assert [await shown(on_pages), await shown(nowhere)] == [False, False]
        await go(profile, tab, "https://site.example/open")
        assert [await shown(on_pages), await shown(nowhere)] == [True, False]

    in_profile(tmp_path, use)
