"""What no case of the conformance suite can show: profiles without windows, and windows without visible tabs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ApiError
from tests.store.in_loop import in_loop

ALL = ["tabs", "tabHide", "cookies", "contextualIdentities"]
WORK = "firefox-container-2"


@in_loop
async def test_a_profile_may_have_no_window_at_all(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        windows = profile.browser(ALL).windows
        for call in (windows.getCurrent, windows.getLastFocused):
            with pytest.raises(ApiError, match=r"^Invalid window$"):
                await call()
        for window_id in (windows.WINDOW_ID_CURRENT, 1):
            with pytest.raises(ApiError, match=f"^Invalid window ID: {window_id}$"):
                await windows.get(window_id)


@in_loop
async def test_a_window_without_visible_tabs_has_its_hidden_tabs(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = profile.browser(ALL)
        created = await browser.windows.create({"cookieStoreId": WORK, "url": ["https://a.example/", "about:blank"]})
        await profile.identities.hide(WORK)
        (window,) = await browser.windows.getAll({"populate": True})
        assert window["id"] == created["id"]
        assert [(tab["hidden"], tab["active"]) for tab in window["tabs"]] == [(True, False)] * 2
        assert window["title"] == "Mozilla Firefox"
        assert (await profile.browser([]).windows.getCurrent())["title"] is None


@in_loop
async def test_properties_of_a_window_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile:
        browser = profile.browser(ALL)
        window = await browser.windows.create({"left": 5, "top": 6, "width": 700, "height": 800})
        await browser.windows.update(window["id"], {"titlePreface": "Work: ", "state": "fullscreen"})
        await browser.windows.create({"type": "panel"})
        await browser.windows.update(window["id"], {"focused": True})
    async with hatbox.open(path) as profile:
        first, second = await profile.browser(ALL).windows.getAll()
        assert (first["left"], first["top"], first["width"], first["height"]) == (5, 6, 700, 800)
        assert (first["title"], first["state"], first["focused"]) == ("Work: — Mozilla Firefox", "fullscreen", True)
        assert (second["type"], second["state"], second["focused"]) == ("popup", "normal", False)
        assert second["title"] == "about:blank - — Mozilla Firefox"


@in_loop
async def test_every_script_and_program_receives_focus_changes(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as here, hatbox.open(path) as there:
        received: list[Any] = []
        here.browser([]).windows.onFocusChanged.addListener(received.append)
        here.browser([]).windows.onCreated.addListener(lambda window: received.append(window["type"]))
        first = await there.browser(ALL).windows.create({})
        second = await there.browser(ALL).windows.create({"type": "popup"})
        await there.browser(ALL).windows.remove(second["id"])
        await here.store.deliver_pending_changes()
        ids = first["id"], second["id"]
        assert received == ["normal", ids[0], "popup", -1, ids[1], -1, ids[0]]


@in_loop
async def test_a_window_can_be_made_of_a_tab_of_a_hidden_identity_which_stays_hidden(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = profile.browser(ALL)
        await browser.tabs.create({})
        tab = await browser.tabs.create({"cookieStoreId": WORK})
        await profile.identities.hide(WORK)
        window = await browser.windows.create({"tabId": tab["id"]})
        assert [(each["id"], each["hidden"], each["active"]) for each in window["tabs"]] == [(tab["id"], True, False)]
        assert (await profile.identities.get(WORK)).hidden
