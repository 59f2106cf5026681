"""What was removed is in no file of the profile, and the change log does not outgrow the data."""

# ruff: noqa: ASYNC240 - looking at files is what these tests do, and nothing else waits for their loop

from __future__ import annotations

import contextlib
import random
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.extension_data.storage.storage_areas import AREAS
from hatbox.extension_data.storage.storage_items import get, remove, set_items
from hatbox.store.base import RESYNC, ChangeRecord, CookieRowKey, Transaction
from hatbox.store.sqlite import SqliteStore, writer
from hatbox.store.sqlite.check import check
from hatbox.store.tables import change_log
from hatbox.tabs.pages import PageState, save_page_snapshot, update_page
from tests.store.in_loop import in_loop
from tests.waiting import until

EXTENSION, LOCAL = "one@extension.example", AREAS["local"]
SECRETS = [
    *("cookie-value-secret", "cookie-name-secret", "cookie.secret.example", "tab-url-secret", "tab-title-secret"),
    *("saved-page-secret", "site-data-secret", "origin.secret.example", "identity-name-secret", "storage-secret"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.fixture(params=["as compiled", "off by default"])
def secure_delete(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """SQLite as it is, and as it is compiled elsewhere: without overwriting what is deleted."""
    connect = sqlite3.connect

    def connect_without(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **named)
        connection.execute("PRAGMA secure_delete = OFF")
        return connection

    if request.param == "off by default":
        monkeypatch.setattr(sqlite3, "connect", connect_without)
    yield


def secrets_in(folder: Path) -> dict[str, list[str]]:
    found = {
        secret: [file.name for file in folder.iterdir() if secret.encode() in file.read_bytes()] for secret in SECRETS
    }
    return {secret: files for secret, files in found.items() if files}


async def fill(profile: hatbox.Profile, copies: int) -> hatbox.ContextualIdentity:
    """An identity with all that one can have, many times over, so that pages of the database split and merge."""
    identity = await profile.identities.create("identity-name-secret", color="red", icon="pet")
    number = int(identity.cookie_store_id.rpartition("-")[2])
    store = await profile.cookie_store(identity)
    for copy in range(copies):
        await store.receive(
            [f"cookie-name-secret-{copy}=cookie-value-secret-{copy}; Path=/{'p' * (copy % 97)}"],
            f"https://host{copy % 40}.cookie.secret.example/",
        )
        tab = await profile.tabs.open(identity, f"https://site.example/tab-url-secret-{copy}")
        page = PageState(
            f"https://site.example/tab-url-secret/{copy}", f"tab-title-secret {copy}", "", 200, "text/html"
        )
        await profile.tabs.write(lambda each, tab=tab, page=page: update_page(each, tab.id, 1, page))  # type: ignore[misc]
        await profile.tabs.write(
            lambda each, tab=tab, copy=copy: save_page_snapshot(each, tab.id, b"saved-page-secret" * (copy % 500))  # type: ignore[misc]
        )
        await profile.tabs.write(
            lambda each, copy=copy: each.site_data.put(  # type: ignore[misc]
                number, f"https://{copy}.origin.secret.example", b"site-data-secret" * (copy % 700)
            )
        )
    return identity


@pytest.mark.usefixtures("secure_delete")
@pytest.mark.parametrize("by", ["forever", "empty", "named", "expiry", "limit"])
@pytest.mark.parametrize("copies", [3, pytest.param(150, marks=pytest.mark.slow)])
@in_loop
async def test_nothing_of_a_removed_identity_is_in_any_file_after_the_last_close(
    path: Path, copies: int, by: str
) -> None:
    async with hatbox.open(path) as profile, hatbox.open(path) as follower:
        follower.identities.on_removed.add_listener(lambda _: None)
        identity = await fill(profile, copies)
        others = await fill(profile, 2)
        await profile.identities.update(others, name="renamed")
        for each in (identity, others):
            await profile.identities.remove(each, forever=by == "forever")
        assert len(await profile.trash.list()) == (0 if by == "forever" else 2)
        if by == "empty":
            await profile.trash.empty()
        elif by == "named":
            await profile.trash.remove([identity.cookie_store_id, others.cookie_store_id])
        elif by == "expiry":
            await profile.set_settings(trash_days=0)
        elif by == "limit":
            await profile.set_settings(trash_bytes=1)
        await profile.tabs.write(lambda each: set_items(each, EXTENSION, LOCAL, {"key": "storage-secret" * 1000}))
        await profile.tabs.write(lambda each: remove(each, EXTENSION, LOCAL, "key"))
    assert secrets_in(path.parent) == {}
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@in_loop
async def test_closed_tabs_and_deleted_cookies_are_in_no_file_after_the_last_close(path: Path) -> None:
    async with hatbox.open(path) as profile:
        identity = await fill(profile, 40)
        for tab in await profile.tabs.query():
            await profile.tabs.close(tab.id)
        store = await profile.cookie_store(identity)
        await store.clear()
        number = int(identity.cookie_store_id.rpartition("-")[2])
        await profile.tabs.write(lambda each: each.site_data.clear(number))
        await profile.identities.update(identity, name="renamed")
    assert secrets_in(path.parent) == {}


@in_loop
async def test_what_was_removed_leaves_the_wal_also_while_the_profile_stays_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_IDLE_SECONDS", 0.01)
    monkeypatch.setattr(writer, "RETENTION_SECONDS", 0.0)
    monkeypatch.setattr(change_log, "RETENTION_SECONDS", 0.0)
    async with hatbox.open(path) as profile, hatbox.open(path) as other:
        identity, other_identity = await fill(profile, 5), await fill(profile, 5)
        await profile.identities.remove(identity, forever=True)
        await profile.identities.remove(other_identity)
        await profile.trash.empty()
        await until(lambda: secrets_in(path.parent) == {})
        assert len(await other.identities.query()) == 4


@in_loop
async def test_a_reader_only_delays_the_truncation_of_the_wal(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_IDLE_SECONDS", 0.01)
    monkeypatch.setattr(writer, "_BLOCKED_SECONDS", 0.01)
    journal = path.with_name(f"{path.name}-wal")
    async with hatbox.open(path) as profile:
        identity = await fill(profile, 5)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM identities").fetchall()
            await profile.identities.remove(identity, forever=True)
            assert journal.stat().st_size > 0
            reader.execute("COMMIT")
            await until(lambda: journal.stat().st_size == 0)
    assert secrets_in(path.parent) == {}


@in_loop
async def test_a_profile_that_was_killed_gives_up_its_log_at_the_next_close(path: Path, tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    async with hatbox.open(path) as profile:
        await profile.identities.remove(await fill(profile, 5), forever=True)
        for end in ("", "-wal"):
            (killed / f"profile.db{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    assert secrets_in(killed) != {}
    async with hatbox.open(killed / "profile.db") as profile:
        await profile.identities.query()
    assert secrets_in(killed) == {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2, 3])
@in_loop
async def test_what_was_removed_does_not_stay_where_pages_were_split_and_merged(path: Path, seed: int) -> None:
    """Other cookies and tabs stay, and with them the pages of the database, between which cells move."""
    choose = random.Random(seed)
    cookies: dict[CookieRowKey, str] = {}
    tabs: dict[int, str] = {}
    removed: list[str] = []

    def secret() -> str:
        return f"secret-{choose.getrandbits(80):020x}"

    def work(transaction: Transaction) -> None:
        for _ in range(60):
            if cookies and choose.random() < 0.4:
                key = choose.choice(list(cookies))
                removed.append(cookies.pop(key))
                transaction.cookies.delete(0, [key])
            else:
                key = (f"{choose.randrange(10**6)}.example", 1, "/", "n" * choose.randrange(1, 60), "")
                removed.append(cookies.pop(key, ""))
                cookies[key] = secret()
                value = cookies[key] * choose.choice([1, 1, 2, 5, 20, 150])
                transaction.cookies.put(0, [(*key, value, 1, 0, "lax", 2e9, 1, 1e9, 1.5e9)])
            if tabs and choose.random() < 0.4:
                tab = choose.choice(list(tabs))
                removed.append(tabs.pop(tab))
                transaction.tabs.delete(tab)
            else:
                text = secret()
                tab = transaction.tabs.insert(1, len(tabs), 0, url=text * choose.choice([1, 3, 30]), title=text).id
                transaction.tabs.save_page_snapshot(tab, text.encode() * choose.choice([1, 10, 400, 2000]))
                tabs[tab] = text

    def content(transaction: Transaction) -> list[Any]:
        found = transaction.tabs.find()
        pages = [transaction.tabs.page_snapshot(tab.id) for tab in found]
        return [sorted(transaction.cookies.load(0)), found, pages]

    store = SqliteStore(path)
    await store.open()
    for _ in range(40):
        await store.write(work)
    before = await store.read(content)
    await store.close()
    stored = path.read_bytes()
    assert len(stored) > 2 * 820 * 4096, "the database must have several pages of the pointer map"
    assert {text.decode() for text in re.findall(rb"secret-[0-9a-f]{20}", stored)}.isdisjoint(removed)
    assert check(path).problems == ()
    await store.open()
    assert await store.read(content) == before
    await store.close()


# -------------------------------------------------------------------------------------------------- the size of the log


@pytest.mark.slow
@in_loop
async def test_a_hundred_writes_of_one_megabyte_take_the_room_of_a_few(path: Path) -> None:
    largest = 0
    async with hatbox.open(path) as profile:
        for number in range(100):
            items = {"key": f"{number:04}" * 250_000}
            await profile.tabs.write(lambda each, items=items: set_items(each, EXTENSION, LOCAL, items))  # type: ignore[misc]
            largest = max(largest, sum(file.stat().st_size for file in path.parent.iterdir()))
        found = await profile.tabs.read(lambda each: get(each, EXTENSION, LOCAL, "key"))
        assert found == {"key": "0099" * 250_000}
    assert largest < 30_000_000
    assert path.stat().st_size < 3_000_000


@in_loop
async def test_a_follower_that_falls_behind_further_than_the_log_reaches_receives_missed(path: Path) -> None:
    one, two = SqliteStore(path), SqliteStore(path)
    received: list[ChangeRecord] = []
    await one.open()
    await two.open()
    try:
        two.subscribe(received.append)
        two._poller.stop()  # it does not get to read
        for number in range(12):
            await one.write(lambda each, number=number: each.changes.append("t", b'"%s"' % (b"x" * 1_000_000)))  # type: ignore[misc]
        await two.deliver_pending_changes()
        assert received[0].topic == RESYNC
        assert [change.topic for change in received[1:]] == ["t"] * (len(received) - 1)
        assert 2 <= len(received) < 12
    finally:
        await two.close()
        await one.close()


@pytest.mark.slow
@in_loop
async def test_one_change_that_is_larger_than_the_log_still_reaches_followers(path: Path) -> None:
    one, two = SqliteStore(path), SqliteStore(path)
    received: list[ChangeRecord] = []
    await one.open()
    await two.open()
    try:
        two.subscribe(received.append)
        payload = b'"%s"' % (b"x" * 20_000_000)
        await one.write(lambda each: each.changes.append("large", payload))
        await until(lambda: bool(received))
        assert received == [ChangeRecord("large", payload, None)]
    finally:
        await two.close()
        await one.close()
