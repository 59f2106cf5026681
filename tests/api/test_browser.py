from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ArgumentError, PermissionDenied, Profile
from hatbox.api.browser import Browser
from hatbox.api.caller import Caller

LOWER = "contextualidentities"
CAMEL = "contextualIdentities"


def with_profile(tmp_path: Path, use: Callable[[Profile], Awaitable[None]]) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            await use(profile)

    asyncio.run(main())


def test_without_the_permission_the_namespace_is_absent(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = profile.browser(permissions=[])
        assert not hasattr(browser, CAMEL)
        assert not hasattr(browser, LOWER)
        assert dir(browser) == ["tabs", "windows"]
        with pytest.raises(AttributeError, match="contextualIdentities"):
            _ = browser.contextualIdentities

    with_profile(tmp_path, use)


def test_a_namespace_shows_its_members_and_is_the_same_object_each_time(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = profile.browser(permissions=[LOWER])
        assert dir(browser) == [CAMEL, LOWER, "tabs", "windows"]
        assert dir(browser.contextualidentities) == ["create", "get", "query", "remove", "update"]
        assert browser.contextualIdentities is browser.contextualIdentities
        assert repr(browser) == "<browser of script: contextualIdentities, contextualidentities, tabs, windows>"

    with_profile(tmp_path, use)


async def named(browser: Browser, **arguments: Any) -> Any:
    return await browser.contextualIdentities.get(**arguments)


def test_arguments_may_be_given_by_the_names_of_the_schema(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        variant_b = profile.browser(permissions=[LOWER])
        firefox = profile.browser(permissions=[CAMEL])
        assert (await named(variant_b, cookiestoreid="firefox-container-2"))["name"] == "Work"
        assert (await named(firefox, cookieStoreId="firefox-container-2"))["name"] == "Work"
        assert (await named(firefox, cookiestoreid="firefox-container-2"))["name"] == "Work"  # it contains variant B
        with pytest.raises(ArgumentError, match="cookiestoreid"):
            await named(variant_b, cookieStoreId="firefox-container-2")
        await variant_b.contextualIdentities.hide(cookiestoreid="firefox-container-2")
        updated = await variant_b.contextualIdentities.update(
            cookieStoreId="firefox-container-2", details={"name": "W"}
        )
        assert updated["name"] == "W"

    with_profile(tmp_path, use)


def test_what_the_call_itself_throws_is_raised_without_awaiting(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser: Any = profile.browser(permissions=[CAMEL])
        with pytest.raises(ArgumentError, match=r"^Incorrect argument types for contextualIdentities\.get\.$"):
            browser.contextualIdentities.get()
        rejected = browser.contextualIdentities.get("nope")
        with pytest.raises(hatbox.InvalidIdentity, match=r"^Invalid contextual identity: nope$"):
            await rejected

    with_profile(tmp_path, use)


def test_a_call_that_nobody_awaits_is_made_all_the_same(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = profile.browser(permissions=[CAMEL])
        _ = browser.contextualIdentities.create({"name": "Travel", "color": "blue", "icon": "vacation"})
        assert [each["name"] for each in await browser.contextualIdentities.query({"name": "Travel"})] == ["Travel"]

    with_profile(tmp_path, use)


def test_both_python_apis_and_all_variants_show_the_same_identities(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        everything = profile.browser(permissions=[LOWER, CAMEL])
        travel = await profile.identities.create("Travel", color="toolbar", icon="vacation")  # type: ignore[arg-type]
        assert await everything.contextualidentities.get(travel.cookie_store_id) == {
            "name": "Travel",
            "icon": "vacation",
            "color": "gray",
            "cookieStoreId": "firefox-container-6",
        }
        assert await everything.contextualIdentities.get(travel.cookie_store_id) == {
            "name": "Travel",
            "icon": "vacation",
            "iconUrl": "resource://usercontext-content/vacation.svg",
            "color": "gray",
            "colorCode": "#7c7c7d",
            "cookieStoreId": "firefox-container-6",
        }

    with_profile(tmp_path, use)


def test_it_can_be_copied_and_looked_into_by_tools(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        assert dir(copy.copy(profile.browser([CAMEL]))) == [CAMEL, "tabs", "windows"]

    with_profile(tmp_path, use)


def test_a_function_with_a_permission_of_its_own_is_there_while_the_caller_holds_it(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        caller = Caller("test")
        browser = Browser(profile._dispatcher, caller)
        assert not hasattr(browser.tabs, "hide")
        assert "hide" not in dir(browser.tabs)
        with pytest.raises(PermissionDenied, match=r"tabs\.hide needs the permission tabHide"):
            profile._dispatcher.call(caller, "tabs", "hide", [[]])
        caller.permissions.add("tabHide")
        assert {"hide", "show"} < set(dir(browser.tabs))
        hide = browser.tabs.hide
        assert await hide([]) == []
        caller.permissions.clear()
        assert not hasattr(browser.tabs, "show")
        with pytest.raises(PermissionDenied):
            hide([])
        with pytest.raises(AttributeError, match="setZoom is not available"):
            _ = browser.tabs.setZoom  # type: ignore[attr-defined]

    with_profile(tmp_path, use)


def test_constants_are_members(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = profile.browser([])
        assert browser.tabs.TAB_ID_NONE == browser.windows.WINDOW_ID_NONE == -1
        assert browser.windows.WINDOW_ID_CURRENT == -2
        assert "TAB_ID_NONE" in dir(browser.tabs)

    with_profile(tmp_path, use)


def test_permissions_are_a_list_and_a_lone_string_is_refused(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        with pytest.raises(TypeError, match="list of names"):
            profile.browser(permissions=CAMEL)

    with_profile(tmp_path, use)
