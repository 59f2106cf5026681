"""Closed tabs can be restored only if the user has chosen how many, and they leave with their identity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

import hatbox
from hatbox import Profile
from hatbox.tabs.closed_tab_restore import restore_closed_tab, restore_closed_window
from hatbox.tabs.closed_tabs import clear_closed_tabs, forget_session, get_session, get_sessions
from hatbox.tabs.opening import open_window
from hatbox.tabs.pages import PageState, save_page_snapshot, update_page
from hatbox.tabs.script_tabs import add_script_tab, close_script_tabs, run_key
from hatbox.tabs.windows import close_window
from tests.postgres import address_of
from tests.store.in_loop import in_loop

SITE = "https://site.example/"


@pytest.fixture
def address(tmp_path: Path) -> str:
    return address_of(tmp_path / "profile.db")


async def open_page(profile: Profile, identity: str, name: str, **options: Any) -> int:
    tab = await profile.tabs.open(identity, SITE + name, **options)
    page = PageState(SITE + name, f"Page {name}", http_status=200)
    await profile.tabs.write(lambda each: update_page(each, tab.id, 1, page))
    await profile.tabs.write(lambda each: save_page_snapshot(each, tab.id, f"snapshot {name}".encode()))
    return tab.id


async def closed(profile: Profile) -> list[list[str]]:
    sessions = await profile.store.read(get_sessions)
    return [[str(tab.columns["url"]).removeprefix(SITE) for _, tab in session.tabs] for session in sessions]


@in_loop
async def test_nothing_is_recorded_unless_the_user_says_so(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.tabs.close(await open_page(profile, "Work", "a"))
        assert await closed(profile) == []
        with pytest.raises(ValueError, match="closed_tabs must be a whole number from 0 to 1000, not -1"):
            await profile.set_settings(closed_tabs=-1)


@in_loop
async def test_a_closed_tab_with_a_damaged_snapshot_comes_back_without_it(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(closed_tabs=25)
        await profile.tabs.close(await open_page(profile, "Work", "a"))
        (session,) = await profile.store.read(get_sessions)
        row, tab = session.tabs[0]
        damaged = msgspec.structs.replace(tab, page=msgspec.Raw(b"\xa1x"))
        session = msgspec.structs.replace(session, tabs=((row, damaged),))
        restored = await profile.store.write(lambda each: restore_closed_tab(each, session))
        assert restored.url == SITE + "a"
        assert await profile.store.read(lambda each: each.tabs.page_snapshot(restored.id)) is None


@in_loop
async def test_a_closed_tab_comes_back_as_it_was(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(closed_tabs=25)
        stay = await open_page(profile, "Work", "stay")
        tab = await open_page(profile, "Personal", "a")
        await profile.store.write(lambda each: each.extensions.put("ext", f"session.tab:{tab}", "k", b"1"))
        await profile.tabs.close(tab)
        (session,) = await profile.store.read(get_sessions)
        restored = await profile.store.write(lambda each: restore_closed_tab(each, session))
        assert (restored.url, restored.title, restored.active) == (SITE + "a", "Page a", True)
        assert restored.cookie_store_id == "firefox-container-1"
        assert restored.window_id == (await profile.tabs.get(stay)).window_id
        page = await profile.store.read(lambda each: each.tabs.page_snapshot(restored.id))
        assert page == b"snapshot a"
        assert await profile.store.read(lambda each: each.extensions.find(f"session.tab:{restored.id}")) == [
            ("ext", "k", b"1")
        ]
        assert await closed(profile) == []


@in_loop
async def test_a_closed_window_comes_back_with_its_tabs(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(closed_tabs=25)
        tab = await open_page(profile, "Work", "a")
        window = (await profile.tabs.get(tab)).window_id
        await open_page(profile, "Personal", "b", active=False)
        await profile.store.write(lambda each: close_window(each, window))
        assert await closed(profile) == [["a", "b"]]
        (session,) = await profile.store.read(get_sessions)
        restored = await profile.store.write(lambda each: restore_closed_window(each, session))
        tabs = await profile.tabs.query()
        assert [(each.url, each.active, each.window_id) for each in tabs] == [
            (SITE + "a", True, restored.id),
            (SITE + "b", False, restored.id),
        ]


@in_loop
async def test_the_list_is_bounded_and_a_lower_limit_applies_at_once(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(closed_tabs=3)
        await open_page(profile, "Work", "stay")
        for name in "abcde":
            await profile.tabs.close(await open_page(profile, "Work", name))
        assert await closed(profile) == [["e"], ["d"], ["c"]]
        await profile.set_settings(closed_tabs=1)
        assert await closed(profile) == [["e"]]
        await profile.set_settings(closed_tabs=0)
        assert await closed(profile) == []


@in_loop
async def test_tabs_of_a_removed_identity_of_scripts_and_blank_ones_are_not_in_the_list(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(closed_tabs=25)
        await open_page(profile, "Personal", "stay")
        await profile.tabs.close((await profile.tabs.open("Work")).id)
        await profile.tabs.close(await open_page(profile, "Work", "a"))
        script = await open_page(profile, "Personal", "script")
        await profile.store.write(lambda each: add_script_tab(each, "run", script))
        await profile.store.write(lambda each: close_script_tabs(each, run_key("run")))
        await open_page(profile, "Work", "open")
        assert await closed(profile) == [["a"]]
        await profile.identities.remove("Work")
        assert await closed(profile) == []
        await profile.trash.restore("Work")
        assert [tab.url for tab in await profile.tabs.query("Work")] == [SITE + "open"]


@in_loop
async def test_a_value_of_a_later_version_is_skipped_and_the_list_can_be_cleared_by_host(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(closed_tabs=25)
        await open_page(profile, "Work", "stay")
        await profile.tabs.close(await open_page(profile, "Work", "a"))
        await profile.store.write(lambda each: each.closed_tabs.insert(None, 0, 5.0, b"unknown"))
        assert await closed(profile) == [["a"]]
        last = await profile.store.read(lambda each: get_session(each, None))
        assert last is not None
        assert await profile.store.read(lambda each: get_session(each, last.id)) == last
        assert await profile.store.read(lambda each: get_session(each, 10**19)) is None
        await profile.store.write(lambda each: clear_closed_tabs(each, None, {"other.example"}))
        assert await closed(profile) == [["a"]]
        await profile.store.write(lambda each: clear_closed_tabs(each, None, {"site.example"}))
        assert await closed(profile) == []


@in_loop
async def test_tabs_that_were_closed_in_a_window_go_with_it_and_come_back_with_it(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(closed_tabs=25)
        await open_page(profile, "Work", "stay")
        window = await profile.store.write(lambda each: open_window(each, [SITE], cookie_store_id="firefox-default"))
        await open_page(profile, "Work", "shown", window_id=window.id)
        for name in ("first", "second"):
            await profile.tabs.close(await open_page(profile, "Work", name, window_id=window.id))
        assert await closed(profile) == [["second"], ["first"]]
        await profile.store.write(lambda each: close_window(each, window.id))
        assert [session[-1] for session in await closed(profile)] == ["shown"], "as in Firefox"
        (session,) = await profile.store.read(get_sessions)
        await profile.store.write(lambda each: restore_closed_window(each, session))
        assert await closed(profile) == [["second"], ["first"]]
        windows = {tab.window_id for tab in await profile.tabs.query()} - {window.id}
        await profile.store.write(lambda each: close_window(each, max(windows)))
        (session,) = await profile.store.read(get_sessions)
        await profile.store.write(lambda each: forget_session(each, session.id))
        assert await profile.store.read(lambda each: each.closed_tabs.sessions()) == []
