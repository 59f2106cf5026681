"""The namespace hatbox: facts about the profile, for programs of the user only."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import hatbox
from hatbox.errors import PermissionDenied
from tests.store.in_loop import in_loop


def test_a_script_with_the_permission_reads_facts_about_the_profile(tmp_path: Path) -> None:
    async def read() -> dict[str, object]:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            overview: dict[str, object] = await profile.browser(["hatbox"]).hatbox.getProfile()
            return overview

    overview = asyncio.run(read())
    assert str(overview["label"]).endswith("profile.db")
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
