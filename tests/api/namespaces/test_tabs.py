"""What no case of the conformance suite can show: without an engine, with several callers, and what Firefox has not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ApiError, Profile
from hatbox.api.browser import Browser
from hatbox.api.caller import Caller
from hatbox.tabs.pages import PageState, update_page
from tests.store.in_loop import in_loop

ALL = ["tabs", "tabHide", "cookies", "contextualIdentities"]
SITE = "https://site.example"
WORK = "firefox-container-2"


async def load(profile: Profile, tab_id: int, path: str = "/", title: str = "Page", icon: str = "") -> None:
    """What an engine reports."""
    navigation = (await profile.tabs.get(tab_id)).navigation_id
    await profile.tabs.write(lambda each: update_page(each, tab_id, navigation, PageState(SITE + path, title, icon)))


def log(name: str, into: list[Any]) -> Callable[..., None]:
    return lambda *args: into.append((name, *args))


async def picture(browser: Browser) -> str:
    tabs = await browser.tabs.query({})
    return " ".join("-" * tab["hidden"] + "*" * tab["active"] + str(tab["id"]) for tab in tabs)


@in_loop
async def test_without_an_engine_a_page_is_asked_for_and_nothing_more(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = profile.browser(ALL)
        created = await browser.tabs.create({"url": "HTTPS://www.Site.example/a b", "cookieStoreId": WORK})
        assert (created["url"], created["status"], created["title"]) == (
            "about:blank",
            "complete",
            "site.example/a%20b",
        )
        tab = await profile.tabs.get(created["id"])
        assert (tab.pending_url, tab.cookie_store_id) == ("https://www.site.example/a%20b", WORK)


@in_loop
async def test_the_first_tab_of_a_profile_brings_a_window_and_the_last_takes_it_along(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = profile.browser(ALL)
        assert await browser.windows.getAll() == []
        with pytest.raises(ApiError, match=r"^Cannot access activeTab$"):
            await browser.tabs.update({"pinned": True})
        for window_id in (None, browser.windows.WINDOW_ID_CURRENT):
            tab = await browser.tabs.create({"windowId": window_id})
            assert [window["id"] for window in await browser.windows.getAll()] == [tab["windowId"]]
            await browser.tabs.remove(tab["id"])
            assert await browser.windows.getAll() == []


@in_loop
async def test_hiding_an_identity_notifies_every_script_and_leaves_another_tab_active(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        one, other = profile.browser(ALL), profile.browser([])
        await one.tabs.create({})
        await one.tabs.create({"cookieStoreId": WORK})
        received: list[Any] = []
        other.tabs.onUpdated.addListener(lambda _, info, tab: received.append((tab["id"], info)))
        other.tabs.onActivated.addListener(lambda info: received.append(info["tabId"]))
        await one.contextualIdentities.hide(WORK)
        assert await picture(one) == "*1 -2"
        assert received == [1, (2, {"hidden": True})]
        assert [tab["id"] for tab in await one.tabs.query({"hidden": True})] == [2]
        await one.tabs.show(2)
        assert not (await profile.identities.get(WORK)).hidden
        assert received[2:] == [(2, {"hidden": False})]


@in_loop
async def test_activating_or_opening_a_tab_of_a_hidden_identity_shows_all_of_it(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = profile.browser(ALL)
        for store in ("firefox-default", WORK, WORK):
            await browser.tabs.create({"cookieStoreId": store, "active": False})
        await profile.identities.hide(WORK)
        assert await picture(browser) == "*1 -2 -3"
        await browser.tabs.update(3, {"active": True})
        assert await picture(browser) == "1 2 *3"
        await profile.identities.hide(WORK)
        await browser.tabs.create({"cookieStoreId": WORK, "active": False})
        assert await picture(browser) == "*1 2 3 4"


@in_loop
async def test_what_a_caller_may_see_is_decided_for_each_tab_and_each_event(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        caller = Caller("test")
        browser = Browser(profile._dispatcher, caller)
        received: list[dict[str, Any]] = []
        browser.tabs.onUpdated.addListener(lambda _, info, __: received.append(dict(info)))
        tab = await profile.tabs.open("Work", f"{SITE}/")
        await load(profile, tab.id, icon=f"{SITE}/icon")
        assert "url" not in await browser.tabs.get(tab.id)
        assert await browser.tabs.query({"url": "<all_urls>"}) == []
        assert received == [{"status": "loading"}, {"status": "loading"}, {"status": "complete"}]
        caller.permissions.add(f"{SITE}/*")
        received.clear()
        await profile.tabs.navigate(tab.id, f"{SITE}/next")
        await load(profile, tab.id, "/next", "Next")
        seen = await browser.tabs.get(tab.id)
        assert (seen["url"], seen["title"], "favIconUrl" in seen) == (f"{SITE}/next", "Next", False)
        assert received == [
            {"status": "loading"},
            {"title": "site.example/next"},
            {"status": "loading", "url": f"{SITE}/next"},
            {"title": "Next"},
            {"favIconUrl": None},
            {"status": "complete"},
        ]
        assert len(await browser.tabs.query({"url": "<all_urls>", "title": "N?xt"})) == 1


@in_loop
async def test_a_page_that_could_not_be_loaded_has_firefoxs_title(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = profile.browser(ALL)
        tab = await profile.tabs.open("Work", f"{SITE}/")
        await profile.tabs.write(lambda each: update_page(each, tab.id, 1, PageState(f"{SITE}/", error="no answer")))
        assert (await browser.tabs.get(tab.id))["title"] == "Problem loading page"
        assert (await browser.windows.getCurrent())["title"] == "Problem loading page — Mozilla Firefox"
        assert [each["id"] for each in await browser.tabs.query({"title": "Problem*"})] == [tab.id]


@in_loop
async def test_muted_info_names_the_extension(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = profile.browser(ALL, "the-script")
        tab = await browser.tabs.create({"muted": True})
        muted = {"muted": True, "reason": "extension", "extensionId": "the-script"}
        assert tab["mutedInfo"] == muted
        assert [each["id"] for each in await browser.tabs.query({"muted": True})] == [tab["id"]]
        unmuted = await browser.tabs.update(tab["id"], {"muted": False})
        assert unmuted["mutedInfo"] == {**muted, "muted": False}


@pytest.mark.parametrize(
    ("details", "message"),
    [
        ({"discarded": True, "active": True, "url": f"{SITE}/"}, "Active tabs cannot be created and discarded."),
        ({"openInReaderMode": True, "url": f"{SITE}/"}, "Reader mode is not supported."),
        ({"url": "view-source:https://site.example/"}, "Illegal URL: view-source:https://site.example/"),
        ({"url": "mailto:x@site.example"}, "Illegal URL: mailto:x@site.example"),
        ({"url": "/relative"}, "Illegal URL: /relative"),
    ],
)
@in_loop
async def test_invalid_arguments_are_rejected_and_open_nothing(tmp_path: Path, details: Any, message: str) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = profile.browser(ALL)
        with pytest.raises(ApiError) as raised:
            await browser.tabs.create(details)
        assert str(raised.value) == message
        assert await browser.tabs.query({}) == []


@in_loop
async def test_the_tab_that_becomes_active_is_the_one_that_is_highlighted(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = profile.browser(ALL)
        received: list[Any] = []
        browser.tabs.onActivated.addListener(lambda info: received.append(info["tabId"]))
        browser.tabs.onHighlighted.addListener(log("highlighted", received))
        await browser.tabs.create({})
        await browser.tabs.create({"active": False})
        await browser.tabs.update(1, {"active": True})
        assert received == [1, ("highlighted", {"tabIds": [1], "windowId": 1})]
        await browser.tabs.update(2, {"highlighted": True})
        assert received[2:] == [2, ("highlighted", {"tabIds": [1, 2], "windowId": 1})]


@in_loop
async def test_removing_an_identity_emits_its_tabs_first_then_itself(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = profile.browser(ALL)
        await browser.tabs.create({})
        await browser.tabs.create({"cookieStoreId": WORK})
        await browser.windows.create({"cookieStoreId": WORK})
        received: list[Any] = []
        browser.tabs.onRemoved.addListener(log("tab", received))
        browser.tabs.onActivated.addListener(log("active", received))
        browser.windows.onRemoved.addListener(log("window", received))
        browser.contextualIdentities.onRemoved.addListener(log("identity", received))
        await browser.contextualIdentities.remove(WORK)
        assert [name for name, *_ in received] == ["tab", "active", "tab", "window", "identity"]
        assert received[0][1:] == (2, {"windowId": 1, "isWindowClosing": False})
        assert received[2][1:] == (3, {"windowId": 2, "isWindowClosing": True})


@in_loop
async def test_another_process_sees_the_same_tabs(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as here, hatbox.open(path) as there:
        tab = await here.browser(ALL).tabs.create({"pinned": True})
        assert (await there.browser(ALL).tabs.get(tab["id"]))["pinned"]
        await there.browser(ALL).tabs.remove(tab["id"])
        assert await here.browser(ALL).tabs.query({}) == []


@in_loop
async def test_a_tab_that_is_active_is_accessed_now(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = profile.browser(ALL)
        await browser.tabs.create({})
        await browser.tabs.create({})
        old, new = await browser.tabs.query({})
        assert old["lastAccessed"] <= new["lastAccessed"]
        again = await browser.tabs.get(new["id"])
        assert again["lastAccessed"] >= new["lastAccessed"]
        assert (await browser.tabs.get(old["id"]))["lastAccessed"] == old["lastAccessed"]


@in_loop
async def test_pages_are_captured_only_with_a_permission_and_by_a_program_that_shows_them(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        tab = await profile.tabs.open("Work")
        assert not hasattr(profile.browser({"tabs"}).tabs, "captureTab")
        assert not hasattr(profile.browser({"tabs"}).tabs, "captureVisibleTab")
        assert not hasattr(profile.browser({"activeTab"}).tabs, "captureTab")
        with pytest.raises(ApiError, match="Missing activeTab permission"):
            await profile.browser({"activeTab"}).tabs.captureVisibleTab()
        everything = profile.browser({"<all_urls>"})
        with pytest.raises(ApiError, match=f"Tab {tab.id} has no page in this program"):
            await everything.tabs.captureTab(tab.id)
        with pytest.raises(ApiError, match="Invalid tab ID: 99"):
            await everything.tabs.captureTab(99)
        with pytest.raises(ApiError, match="Invalid window ID: 99"):
            await everything.tabs.captureVisibleTab(99)
