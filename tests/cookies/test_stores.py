from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.cookies import stores
from hatbox.cookies.stores import CookieStore
from hatbox.store.sqlite import files
from tests.store.in_loop import in_loop

WORK = "firefox-container-2"
URL = "https://site.example/"


async def received(store: CookieStore, line: str) -> None:
    await store.receive([line], URL)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@in_loop
async def test_each_identity_has_cookies_of_its_own_and_they_are_there_after_a_restart(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await received(await profile.cookie_store("Work"), "sid=work; Secure; Max-Age=1000")
        await received(await profile.cookie_store("Personal"), "sid=personal")
    async with hatbox.open(path) as profile:
        assert await (await profile.cookie_store("Work")).header(URL) == "sid=work"
        assert await (await profile.cookie_store("Personal")).header(URL) == "sid=personal"
        assert await (await profile.cookie_store("firefox-default")).header(URL) == ""


@in_loop
async def test_session_cookies_can_be_dropped_at_the_start(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await received(await profile.cookie_store("Work"), "session=1")
        await received(await profile.cookie_store("Work"), "kept=1; Max-Age=1000")
    async with hatbox.open(path, keep_session_cookies=False) as profile:
        assert await (await profile.cookie_store("Work")).header(URL) == "kept=1"


@in_loop
async def test_a_login_in_one_program_is_seen_by_the_next_request_of_another(path: Path) -> None:
    async with hatbox.open(path) as one, hatbox.open(path) as two:
        here, there = await one.cookies.open(WORK), await two.cookies.open(WORK)
        for number in range(20):
            await received(here if number % 2 else there, f"sid={number}")
            assert await (there if number % 2 else here).header(URL) == f"sid={number}"


@in_loop
async def test_an_identity_takes_its_cookies_along_and_its_store_says_so(path: Path) -> None:
    async with hatbox.open(path) as one, hatbox.open(path) as two:
        store = await one.cookies.open(WORK)
        await received(store, "sid=1")
        await two.identities.remove(WORK)
        with pytest.raises(hatbox.InvalidIdentity):
            await store.header(URL)
        with pytest.raises(hatbox.InvalidIdentity):
            await received(store, "sid=2")
        with pytest.raises(hatbox.InvalidIdentity):
            await one.cookies.open(WORK)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM cookies").fetchone() == (0,)


@in_loop
async def test_who_finds_nothing_left_to_store_has_not_been_told_so_too_early(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = stores.keep_changes

    def fail_once(*arguments: Any) -> None:
        monkeypatch.setattr(stores, "keep_changes", keep)
        raise OSError("the disk refuses")

    async with hatbox.open(path) as profile:
        store = await profile.cookies.open(WORK)
        monkeypatch.setattr(stores, "keep_changes", fail_once)
        answers = await asyncio.gather(received(store, "a=1"), received(store, "a=1"), return_exceptions=True)
        assert isinstance(answers[0], OSError)
        assert answers[1] is None
        assert await store.header(URL) == "a=1"
    async with hatbox.open(path) as profile:
        assert await (await profile.cookies.open(WORK)).header(URL) == "a=1"


@in_loop
async def test_after_a_change_that_failed_the_jar_is_as_the_disk_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BUSY_SECONDS", 0.05)
    async with hatbox.open(path) as one, hatbox.open(path) as two:
        here, there = await one.cookies.open(WORK), await two.cookies.open(WORK)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as blocker:
            blocker.execute("BEGIN IMMEDIATE")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):  # nobody waits any more when it fails
                    await received(here, "sid=phantom")
            with pytest.raises(hatbox.ProfileBusy):
                await received(here, "other=phantom")
        await received(there, "sid=new")
        assert await here.header(URL) == "sid=new"
        await asyncio.gather(*[received(here, f"{name}=1") for name in "abc"], received(there, "d=1"))
        assert sorted((await here.header(URL)).split("; ")) == ["a=1", "b=1", "c=1", "d=1", "sid=new"]
        assert await there.header(URL) == await here.header(URL)


@in_loop
async def test_a_program_that_has_slept_through_changes_looks_at_everything_anew(path: Path) -> None:
    async with hatbox.open(path) as one:
        store, gone = await one.cookies.open(WORK), await one.cookies.open("firefox-container-3")
        await received(store, "a=0")
        await received(gone, "a=0")
        async with hatbox.open(path) as two:
            await received(await two.cookies.open(WORK), "a=1")
            await two.identities.remove("firefox-container-3")
            with contextlib.closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("DELETE FROM changes")  # as if a day had gone by
                connection.execute("INSERT INTO changes (sequence, at, changes) VALUES (99, 0, '[]')")
        assert await store.header(URL) == "a=1"
        with pytest.raises(hatbox.InvalidIdentity):
            await gone.header(URL)


@in_loop
async def test_a_store_that_is_kept_while_the_profile_is_closed_is_loaded_anew(path: Path) -> None:
    profile = hatbox.open(path)
    async with profile:
        store = await profile.cookies.open(WORK)
        await received(store, "a=0")
    async with hatbox.open(path) as other:
        await received(await other.cookies.open(WORK), "a=1")
    async with profile:
        assert await store.header(URL) == "a=1"
