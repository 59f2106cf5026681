"""Encrypting a profile, changing its key, and decrypting it (store/sqlite/rekeying.py)."""

# ruff: noqa: ASYNC240 - looking at files is what these tests do, and nothing else waits for their loop

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import hatbox
from hatbox.maintenance import change_profile_key
from hatbox.store.base import Transaction
from hatbox.store.keys import Key
from hatbox.store.sqlite.check import check
from hatbox.store.tables.schema import TABLES
from tests.store.in_loop import in_loop
from tests.store.sealing import edited
from tests.store.test_encrypted_profiles import FILLED, contents, fill, secrets_in
from tests.store.test_migrations import restore

ONE, TWO = Key(bytes(range(32))), Key(bytes(range(1, 33)))
WORKER = Path(__file__).with_name("rekey_worker.py")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.fixture(autouse=True)
def use(monkeypatch: pytest.MonkeyPatch) -> KeySetting:
    setting = KeySetting(monkeypatch)
    setting(None)
    return setting


class KeySetting:
    """Sets the key of the environment."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, key: Key | None) -> None:
        for name in ("HATBOX_KEY", "HATBOX_KEY_FILE"):
            self._monkeypatch.delenv(name, raising=False)
        if key is not None:
            self._monkeypatch.setenv("HATBOX_KEY", key.text)


async def make(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
        await profile.store.write(_put_many)


def _put_many(transaction: Transaction) -> None:
    """So many that pages split, and values so long that they have pages of their own."""
    rows = [
        (f"{number}.example", 1, "/", "n", "", "cookie-value-secret" * (number % 40), 1, 0, "lax", 2e9, 1, 1.0, 1.0)
        for number in range(300)
    ]
    transaction.cookies.put(3, rows)
    for number in range(5):
        transaction.site_data.put(3, f"https://{number}.example", b"site-data-secret" * 1000 * number)


async def everything(path: Path) -> list[object]:
    async with hatbox.open(path) as profile:
        return [
            *await contents(profile),
            await profile.store.read(lambda each: sorted(each.cookies.load(3))),
            await profile.store.read(lambda each: each.site_data.load(3)),
        ]


@in_loop
async def test_encrypt_rekey_and_decrypt_change_every_value_and_lose_none(path: Path, use: KeySetting) -> None:
    await make(path)
    before = await everything(path)
    assert before[:4] == FILLED
    assert secrets_in(path.parent) != set()

    rewritten = change_profile_key(path, None, ONE)
    assert rewritten is not None and rewritten > 300
    assert secrets_in(path.parent) == set()
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert check(path).is_sound
    with pytest.raises(hatbox.WrongKey):
        await everything(path)
    use(ONE)
    assert await everything(path) == before

    stored = _stored_values(path)
    assert change_profile_key(path, ONE, TWO) == rewritten
    assert secrets_in(path.parent) == set()
    assert not stored & _stored_values(path)
    assert not [value for value in stored if value in path.read_bytes()], "values of the old key are gone"
    with pytest.raises(hatbox.WrongKey):
        await everything(path)
    use(TWO)
    assert await everything(path) == before

    assert change_profile_key(path, TWO, None) == rewritten
    use(None)
    assert await everything(path) == before
    assert check(path).is_sound


def _stored_values(path: Path) -> set[bytes]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {
            value
            for table in TABLES
            for column in table.secret
            for (value,) in connection.execute(f"SELECT {column} FROM {table.name}")
        }


@pytest.mark.parametrize(
    ("stored", "old", "new", "problem"),
    [
        (ONE, TWO, None, "encrypted with another key"),
        (ONE, None, TWO, "encrypted with another key.*hatbox profile rekey"),
        (None, ONE, TWO, "not encrypted.*hatbox profile encrypt"),
    ],
)
@in_loop
async def test_a_wrong_key_changes_nothing(
    path: Path, stored: Key | None, old: Key | None, new: Key | None, problem: str, use: KeySetting
) -> None:
    use(stored)
    await make(path)
    before = path.read_bytes()
    with pytest.raises(hatbox.WrongKey, match=problem):
        change_profile_key(path, old, new)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("key", [None, ONE])
@in_loop
async def test_a_key_that_the_profile_has_already_changes_no_value(
    path: Path, key: Key | None, use: KeySetting
) -> None:
    use(key)
    await make(path)
    stored = _stored_values(path)
    assert change_profile_key(path, None, key) is None
    assert _stored_values(path) == stored


@in_loop
async def test_no_key_is_changed_while_a_program_has_the_profile_open(path: Path) -> None:
    async with hatbox.open(path) as profile:
        with pytest.raises(hatbox.ProfileLocked, match="only while no program has it open"):
            change_profile_key(path, None, ONE)
        await fill(profile)
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("SELECT * FROM identities").fetchone()
    assert change_profile_key(path, None, ONE) is not None


@in_loop
async def test_a_damaged_row_or_one_that_was_moved_stops_it_and_nothing_is_changed(path: Path, use: KeySetting) -> None:
    use(ONE)
    await make(path)
    with edited(path) as connection:
        connection.execute("UPDATE cookies SET store = 4 WHERE store = 2")
    stored = _stored_values(path)
    with pytest.raises(hatbox.DecryptionError, match="table cookies"):
        change_profile_key(path, ONE, TWO)
    assert _stored_values(path) == stored
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE cookies SET checksum = checksum + 1 WHERE store = 4")
    with pytest.raises(hatbox.ProfileCorrupt, match="wrong checksum"):
        change_profile_key(path, ONE, TWO)
    assert _stored_values(path) == stored


def test_a_profile_that_does_not_exist_is_not_created(path: Path) -> None:
    with pytest.raises(hatbox.ProfileError, match="does not exist"):
        change_profile_key(path, None, ONE)
    assert not path.exists()


def test_it_is_refused_where_the_disk_has_no_room(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hatbox.open_sync(path):
        pass
    before = path.read_bytes()
    usage = shutil.disk_usage(path.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100_000))
    with pytest.raises(hatbox.DiskFull, match="MB are needed"):
        change_profile_key(path, None, ONE)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [3, 5])
def test_a_profile_of_an_earlier_format_is_upgraded_and_encrypted(version: int, path: Path, use: KeySetting) -> None:
    restore(version, path)
    assert b"what it keeps" in path.read_bytes()
    assert change_profile_key(path, None, ONE)
    assert b"what it keeps" not in path.read_bytes()
    use(ONE)
    with hatbox.open_sync(path) as profile:
        assert profile.identities.query()


def test_an_earlier_profile_does_not_open_while_a_key_is_set(path: Path, use: KeySetting) -> None:
    restore(5, path)
    use(ONE)
    with pytest.raises(hatbox.WrongKey, match="not encrypted"), hatbox.open_sync(path):
        pass


def _run_worker(
    path: Path, old: Key | None, new: Key | None, last: int, within: int
) -> subprocess.CompletedProcess[str]:
    texts = [each.text if each else "" for each in (old, new)]
    command = [sys.executable, str(WORKER), str(path), *texts, str(last), str(within)]  # keys of a test are no secrets
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), [(None, ONE), (ONE, TWO), (TWO, None)])
def test_a_process_that_is_killed_leaves_the_profile_with_the_old_or_the_new_key(
    path: Path, old: Key | None, new: Key | None, use: KeySetting
) -> None:
    use(old)
    asyncio.run(make(path))
    before = asyncio.run(everything(path))
    master = path.with_name("master.db")
    shutil.copyfile(path, master)
    done = _run_worker(path, old, new, 0, 0)
    assert done.returncode == 0, done.stderr
    statements = int(done.stdout.split()[0])
    found = set()
    last_ones = [(statements - number, within) for number in range(4) for within in (0, 1000)]
    for last, within in [*last_ones, *((1 + statements * step // 6, 0) for step in range(6)), (statements // 2, 20)]:
        for file in path.parent.iterdir():
            if file != master:
                file.unlink()
        shutil.copyfile(master, path)
        killed = _run_worker(path, old, new, last, within)
        assert killed.returncode in (-signal.SIGKILL, 0), killed.stderr
        use(old)
        try:
            assert asyncio.run(everything(path)) == before
            found.add(old)
        except hatbox.WrongKey:
            use(new)
            assert asyncio.run(everything(path)) == before
            found.add(new)
        assert check(path).is_sound
        change_profile_key(path, old, new)  # again: it finishes, also the removal of old values
        if new is not None:
            master.rename(path.with_name("m"))
            moved = path.parent.parent / f"{path.parent.name}-master"
            path.with_name("m").rename(moved)
            assert secrets_in(path.parent) == set()
            moved.rename(master)
    assert found == {old, new}


@in_loop
async def test_values_that_were_left_in_free_pages_are_gone_too(path: Path) -> None:
    await make(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE scratch (x)")
        connection.execute("INSERT INTO scratch VALUES (?)", ("cookie-value-secret" * 1000,))
        connection.execute("DROP TABLE scratch")
        connection.execute("DELETE FROM cookies WHERE store = 3")
    assert b"cookie-value-secret" * 200 in path.read_bytes()
    change_profile_key(path, None, ONE)
    assert secrets_in(path.parent) == set()
