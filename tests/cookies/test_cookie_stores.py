from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.cookies import jar_cache
from hatbox.cookies.cookie_stores import CookieStore
from hatbox.store.sqlite import failures
from tests.postgres import sqlite_file
from tests.store.in_loop import in_loop
from tests.store.sealing import edited

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
    with contextlib.closing(sqlite3.connect(sqlite_file(path))) as connection:
        assert connection.execute("SELECT count(*) FROM cookies").fetchone() == (0,)


@in_loop
async def test_who_finds_nothing_left_to_store_has_not_been_told_so_too_early(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_write = jar_cache.JarCache._write
    created = []

    def fail_first(*arguments: Any) -> Any:
        """The first call fails however often it is tried: PostgreSQL may run a transaction again."""
        write = create_write(*arguments)
        created.append(write)
        return refuse if len(created) == 1 else write

    def refuse(_: Any) -> Any:
        raise OSError("the disk refuses")

    async with hatbox.open(path) as profile:
        store = await profile.cookies.open(WORK)
        monkeypatch.setattr(jar_cache.JarCache, "_write", fail_first)
        answers = await asyncio.gather(received(store, "a=1"), received(store, "a=1"), return_exceptions=True)
        assert [type(answer) for answer in answers] == [OSError, type(None)]
        assert await store.header(URL) == "a=1"
    async with hatbox.open(path) as profile:
        assert await (await profile.cookies.open(WORK)).header(URL) == "a=1"


@in_loop
async def test_after_a_change_that_failed_the_jar_is_as_the_disk_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "BUSY_SECONDS", 0.05)
    async with hatbox.open(path) as one, hatbox.open(path) as two:
        here, there = await one.cookies.open(WORK), await two.cookies.open(WORK)
        with contextlib.closing(sqlite3.connect(sqlite_file(path), isolation_level=None)) as blocker:
            blocker.execute("BEGIN IMMEDIATE")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):  # nobody waits any more when it fails
                    await received(here, "sid=phantom")
            with pytest.raises(hatbox.ProfileLocked):
                await received(here, "other=phantom")
        await received(there, "sid=new")
        assert await here.header(URL) == "sid=new"
        await asyncio.gather(*[received(here, f"{name}=1") for name in "abc"], received(there, "d=1"))
        assert sorted((await here.header(URL)).split("; ")) == ["a=1", "b=1", "c=1", "d=1", "sid=new"]
        assert await there.header(URL) == await here.header(URL)


def skip_changes(path: Path) -> None:
    """As if so much had been changed that the log no longer has it."""
    with edited(path) as connection:
        connection.execute("DELETE FROM changes")
        connection.execute(
            "INSERT INTO changes (sequence, at, logged, changes, program, process, machine, checksum) "
            "VALUES (99, 0, 0, x'5b5d', '', 0, '', 0)"
        )
        connection.execute("UPDATE head SET changes = 99")


@in_loop
async def test_a_program_that_has_slept_through_changes_looks_at_everything_anew(path: Path) -> None:
    async with hatbox.open(path) as one:
        store, gone = await one.cookies.open(WORK), await one.cookies.open("firefox-container-3")
        await received(store, "a=0")
        await received(gone, "a=0")
        async with hatbox.open(path) as two:
            await received(await two.cookies.open(WORK), "a=1")
            await two.identities.remove("firefox-container-3")
            skip_changes(path)
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


class BusyReads:
    """A store's reads, each followed by something that another writer does before the reader goes on."""

    def __init__(self, store: Any, meanwhile: Callable[[int], Awaitable[object]]) -> None:
        self.count = 0
        self._store, self._read, self._meanwhile = store, store.read, meanwhile

    async def __call__(self, work: Any) -> Any:
        self.count += 1
        assert self.count < 20, "it reads again and again, as long as others write"
        found = await self._read(work)
        await self._meanwhile(self.count)
        await self._store.deliver_pending_changes()
        return found


@in_loop
async def test_a_store_opens_with_one_read_however_busy_another_writer_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as one, hatbox.open(path) as two:
        theirs = await two.cookies.open(WORK)
        for line in ("a=0", "b=0", "c=0"):
            await received(theirs, line)
        await one.cookies.open("firefox-default")  # from now on it hears of others

        async def write(count: int) -> None:
            await received(theirs, f"a={count}")
            await received(theirs, "b=0; Max-Age=0")
            await received(theirs, f"d{count}={count}")

        reads = BusyReads(one.store, write)
        monkeypatch.setattr(one.store, "read", reads)
        both = await asyncio.gather(one.cookies.open(WORK), one.cookies.open(WORK))
        assert both[0] is both[1]
        assert reads.count <= 2
        monkeypatch.undo()
        assert await both[0].header(URL) == await theirs.header(URL)
        assert "b=" not in await both[0].header(URL)


@in_loop
async def test_a_jar_that_is_loaded_anew_misses_nothing_of_what_is_written_meanwhile(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = hatbox.open(path)
    async with profile:
        store = await profile.cookies.open(WORK)
        await received(store, "a=0")
    async with profile, hatbox.open(path) as other:  # closed meanwhile: the jar may be old
        theirs = await other.cookies.open(WORK)
        reads = BusyReads(profile.store, lambda count: received(theirs, f"a={count}"))
        monkeypatch.setattr(profile.store, "read", reads)
        assert await store.header(URL) == "a=1"
        assert reads.count == 1


@in_loop
async def test_a_store_whose_identity_goes_while_it_is_loaded_is_not_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as one, hatbox.open(path) as two:
        await received(await two.cookies.open(WORK), "a=0")
        await one.cookies.open("firefox-default")
        monkeypatch.setattr(one.store, "read", BusyReads(one.store, lambda _: two.identities.remove(WORK)))
        with pytest.raises(hatbox.InvalidIdentity):
            await one.cookies.open(WORK)
        monkeypatch.undo()
        with pytest.raises(hatbox.InvalidIdentity):
            await one.cookies.open(WORK)


@in_loop
async def test_what_is_missed_while_a_store_is_loaded_is_looked_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hatbox.open(path) as one, hatbox.open(path) as two:
        theirs = await two.cookies.open(WORK)
        await received(theirs, "a=0")
        await one.cookies.open("firefox-default")

        async def sleep_a_day(count: int) -> None:
            if count == 1:
                await received(theirs, "a=1")
                skip_changes(path)

        monkeypatch.setattr(one.store, "read", BusyReads(one.store, sleep_a_day))
        assert await (await one.cookies.open(WORK)).header(URL) == "a=1"


@in_loop
async def test_an_open_that_failed_can_be_tried_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hatbox.open(path) as profile:

        async def failing(_: Any) -> Any:
            raise OSError("the disk refuses")

        monkeypatch.setattr(profile.store, "read", failing)
        with pytest.raises(OSError, match="the disk refuses"):
            await profile.cookies.open(WORK)
        monkeypatch.undo()
        assert await (await profile.cookies.open(WORK)).header(URL) == ""


@in_loop
async def test_two_processes_at_once_do_not_put_an_insecure_cookie_in_the_place_of_a_secure_one(path: Path) -> None:
    async with hatbox.open(path) as one, hatbox.open(path) as other:
        secure, insecure = await one.cookie_store("Work"), await other.cookie_store("Work")
        for number in range(20):
            host = f"h{number}.example"
            await asyncio.gather(
                secure.receive(["s=good; Secure; Path=/"], f"https://{host}/"),
                insecure.receive(["s=evil; Path=/"], f"http://{host}/"),
            )
            assert await secure.header(f"https://{host}/") == await insecure.header(f"https://{host}/") == "s=good"
