"""The namespace hatbox: facts about the profile, for programs of the user only."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.errors import PermissionDenied
from hatbox.manager_api import counted_sites
from hatbox.manager_api.cookie_domains import valid_domains
from tests.store.in_loop import in_loop
from tests.waiting import until


def test_a_script_with_the_permission_reads_facts_about_the_profile(tmp_path: Path) -> None:
    async def read() -> dict[str, object]:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            overview: dict[str, object] = await profile.browser(["hatbox"]).hatbox.getProfile()
            return overview

    overview = asyncio.run(read())
    assert str(overview["label"]).endswith("profile.db")
    assert overview["command"] == f"hatbox --profile '{overview['label']}'"
    assert overview["isEncrypted"] is False
    assert overview["trashDays"] == 30


def test_a_script_without_the_permission_does_not_see_it(tmp_path: Path) -> None:
    async def call() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            browser = profile.browser(["contextualIdentities"])
            assert not hasattr(browser, "hatbox")
            with pytest.raises(PermissionDenied, match="hatbox needs the permission hatbox"):
                profile._dispatcher.call(browser._caller, "hatbox", "getProfile", [])

    asyncio.run(call())


@in_loop
async def test_the_counts_are_those_of_the_lists(address: str) -> None:
    async with hatbox.open(address) as profile:
        work = await profile.cookie_store("Work")
        await work.receive(["sid=1", "old=1; Max-Age=0"], "https://www.forge.example/")
        await work.receive(["sid=1"], "https://forge.example/")
        await (await profile.cookie_store("Personal")).receive(["sid=1"], "https://forge.example/")
        await profile.tabs.open("Work", "https://forge.example/")
        await profile.rules.add("forge.example", "Work")
        await profile.identities.remove("Banking")
        counts = await profile.browser(["hatbox"]).hatbox.getCounts()
    assert counts == {"identities": 3, "sites": 1, "tabs": 1, "rules": 1, "extensions": 0, "trash": 1}


def test_an_event_says_that_counts_changed_in_another_program(tmp_path: Path) -> None:
    async def watch() -> None:
        path = tmp_path / "profile.db"
        async with hatbox.open(path) as profile, hatbox.open(path) as other:
            namespace = profile.browser(["hatbox"]).hatbox
            changed = asyncio.Event()
            namespace.onCountsChanged.addListener(changed.set)
            before = await namespace.getCounts()
            await other.identities.create("Travel")
            await asyncio.wait_for(changed.wait(), 60)
            assert (await namespace.getCounts())["identities"] == before["identities"] + 1

    asyncio.run(watch())


@in_loop
async def test_a_cookie_of_a_known_site_is_no_change_and_only_the_changed_identity_is_counted(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Collection[int] | None] = []

    def recorded(store: Any, stores: Collection[int] | None = None) -> Any:
        read.append(None if stores is None else set(stores))
        return valid_domains(store, stores)

    monkeypatch.setattr(counted_sites, "valid_domains", recorded)
    async with hatbox.open(address) as page, hatbox.open(address) as program:
        personal, work = await program.cookie_store("Personal"), await program.cookie_store("Work")
        for each in (personal, work):
            await each.receive(["sid=1"], "https://forge.example/")
        namespace = page.browser(["hatbox"]).hatbox
        changes: list[None] = []
        namespace.onCountsChanged.addListener(lambda: changes.append(None))

        async def sites_after_a_change() -> int:
            await until(lambda: changes)
            changes.clear()
            number: int = (await namespace.getCounts())["sites"]
            return number

        assert (await namespace.getCounts())["sites"] == 1
        await work.receive(["sid=2", "theme=dark"], "https://www.forge.example/")
        await work.receive(["sid=3"], "https://forge.example/")
        await page.store.deliver_pending_changes()
        await asyncio.sleep(0)
        assert not changes
        await work.receive(["sid=1"], "https://rail.example/")
        assert await sites_after_a_change() == 2
        assert read == [None, {2}]
        await work.receive(["sid=1; Max-Age=0"], "https://rail.example/")
        assert await sites_after_a_change() == 1
        await program.identities.remove("Work")
        assert await sites_after_a_change() == 1  # Personal has cookies there
        assert set().union(*(each for each in read[1:] if each is not None)) == {2}
        await program.trash.restore("Work")
        await personal.receive(["sid=1; Max-Age=0"], "https://forge.example/")
        await until(lambda: changes)
        await page.store.deliver_pending_changes()
        counts = await namespace.getCounts()
        assert (counts["sites"], counts["trash"], counts["identities"]) == (1, 0, 4)
        assert read.count(None) == 1
