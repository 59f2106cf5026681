"""How the SQLite store commits (store/sqlite/writer.py): many calls together, and the log that others read."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from pathlib import Path

import pytest

import hatbox
from hatbox.store.base import Transaction
from hatbox.store.sqlite import SqliteStore
from tests.store.in_loop import in_loop
from tests.store.sealing import edited
from tests.waiting import until


def commits(path: Path) -> int:
    """How many transactions stand in the journal: the last frame of each says how long the file is after it."""
    journal = path.with_name(f"{path.name}-wal").read_bytes()
    salt, frame_size = journal[16:24], 24 + 4096
    frames = (journal[start : start + 24] for start in range(32, len(journal), frame_size))
    return sum(frame[4:8] != bytes(4) and frame[8:16] == salt for frame in frames)


@in_loop
async def test_calls_that_wait_together_share_one_commit(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    store, go_on = SqliteStore(path), threading.Event()
    await store.open()

    def create(transaction: Transaction) -> int:
        return transaction.identities.insert("a", "circle", "red")

    def wait_and_create(transaction: Transaction) -> int:
        go_on.wait(10)
        return create(transaction)

    try:
        first = store.write(wait_and_create)
        others = [store.write(create) for _ in range(500)]
        go_on.set()
        assert await first == 6
        assert await asyncio.gather(*others) == list(range(7, 507))
        assert commits(path) <= 3  # the first, perhaps with some of the others; the rest
    finally:
        await store.close()


@in_loop
async def test_calls_that_only_read_commit_nothing(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile:
        write = profile.identities.create("a", color="red", icon="pet")
        reads = [profile.identities.query() for _ in range(20)]
        with pytest.raises(hatbox.InvalidColor):
            await profile.identities.create("b", color="no such color", icon="pet")  # type: ignore[arg-type]
        await asyncio.gather(write, *reads)
        assert commits(path) == 1


@in_loop
async def test_more_calls_than_one_commit_takes_are_all_done_in_order(tmp_path: Path) -> None:
    heard: list[str] = []
    async with hatbox.open(tmp_path / "profile.db") as profile:
        profile.identities.on_created.add_listener(lambda identity: heard.append(identity.name))
        calls = [profile.identities.create(str(number), color="red", icon="pet") for number in range(3000)]
        made = await asyncio.gather(*calls)
    assert [identity.cookie_store_id for identity in made] == [f"firefox-container-{6 + n}" for n in range(3000)]
    assert heard == [str(number) for number in range(3000)]


@in_loop
async def test_the_log_of_changes_does_not_grow_for_ever(tmp_path: Path) -> None:
    """Changes of the day before are dropped some time; who follows misses nothing, and numbers go on."""
    path = tmp_path / "profile.db"
    heard: list[hatbox.ContextualIdentity] = []
    async with hatbox.open(path) as one, hatbox.open(path) as two:
        two.identities.on_updated.add_listener(heard.append)
        for _ in range(300):
            await one.identities.update("firefox-container-1", name="a")
        await until(lambda: len(heard) == 300)
        with edited(path) as connection:
            connection.execute("UPDATE changes SET at = at - 2 * 24 * 60 * 60 * 1000")
        for _ in range(300):
            await one.identities.update("firefox-container-1", name="b")
        await until(lambda: len(heard) == 600)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            found = connection.execute("SELECT min(sequence), max(sequence), count(*) FROM changes")
            first, last, count = found.fetchone()
    assert last == 600
    assert count == last - first + 1
    assert 300 < first <= 512
