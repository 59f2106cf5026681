"""profile.tabs: typed, in snake_case, on disk when a call resolves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hatbox
from tests.store.in_loop import in_loop


@in_loop
async def test_tabs_are_there_again_after_a_restart_hidden_ones_hidden(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile:
        first = await profile.tabs.open("Work", "https://site.example/")
        await profile.tabs.open("Personal")
        work = await profile.identities.find("Work")
        await profile.identities.hide(work)
    async with hatbox.open(path) as profile:
        tabs = await profile.tabs.query()
        assert [(tab.cookie_store_id, tab.hidden, tab.active) for tab in tabs] == [
            ("firefox-container-2", True, False),
            ("firefox-container-1", False, True),
        ]
        await profile.identities.show("firefox-container-2")
        again = await profile.tabs.get(first.id)
        assert (again.hidden, again.index, again.pending_url) == (False, 0, "https://site.example/")


@in_loop
async def test_what_one_program_does_to_tabs_is_heard_in_another(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as here, hatbox.open(path) as there:
        heard: list[Any] = []
        here.tabs.on_created.add_listener(heard.append)
        here.tabs.on_updated.add_listener(heard.append)
        opened = await there.tabs.open("Work")
        await there.tabs.open("Personal")
        await there.identities.hide("firefox-container-2")
        await here.store.deliver_pending_changes()
        assert heard[0] == opened
        assert (heard[2].tab.id, heard[2].changed, heard[2].tab.hidden) == (opened.id, ("hidden",), True)


@in_loop
async def test_tabs_are_opened_found_moved_and_closed(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        tabs = profile.tabs
        one = await tabs.open("Work", "https://a.example/")
        two = await tabs.open(await profile.identities.find("Personal"), active=False)
        three = await tabs.open("firefox-default")
        assert [tab.id for tab in await tabs.query()] == [one.id, two.id, three.id]
        assert [tab.id for tab in await tabs.query("Work")] == [one.id]
        assert [tab.id for tab in await tabs.query("firefox-default")] == [three.id]
        assert [tab.id for tab in await tabs.move([three.id, two.id], 0)] == [three.id, two.id]
        await tabs.activate(two.id)
        assert [tab.id for tab in await tabs.query() if tab.active] == [two.id]
        assert (await tabs.navigate(two.id, "https://b.example/")).pending_url == "https://b.example/"
        assert (await tabs.reload(one.id)).navigation_id == 2
        assert len(await tabs.windows()) == 1
        await tabs.close([one.id, two.id])
        await tabs.close(three.id)
        assert await tabs.query() == []
        assert await tabs.windows() == []
        with pytest.raises(hatbox.InvalidTab):
            await tabs.get(one.id)
        with pytest.raises(hatbox.IdentityNotFound):
            await tabs.open("Wrok")


@in_loop
async def test_an_identity_object_of_another_profile_opens_no_tab(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "theirs.db") as theirs, hatbox.open(tmp_path / "mine.db") as mine:
        stranger = await theirs.identities.create("Theirs", color="red", icon="gift")
        await mine.identities.create("Mine", color="red", icon="gift")
        with pytest.raises(hatbox.IdentityMismatch, match='is named "Mine"'):
            await mine.tabs.open(stranger)
        assert await mine.tabs.query() == []


@in_loop
async def test_the_tabs_of_an_identity_go_in_the_transaction_that_removes_it(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        tab = await profile.tabs.open("Work")
        told: list[Any] = []
        profile.tabs.on_removed.add_listener(told.append)
        profile.identities.on_removed.add_listener(told.append)
        removed = await profile.identities.remove("firefox-container-2")
        assert [told[0].tab.id, told[1]] == [tab.id, removed]
        assert await profile.tabs.query() == []
