"""A copy of a profile has everything, or does not exist (store/tables/dump.py, fill.py, store/sqlite/copying.py)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sqlite3
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.errors import NotAProfile, ProfileCorrupt, ProfileError, ProfileReadOnly
from hatbox.maintenance import copy_profile, create_profile, profile_info
from hatbox.store.base import ChangeRecord, Transaction
from hatbox.store.sqlite import SqliteStore
from hatbox.store.sqlite.check import check
from hatbox.store.tables import dump
from hatbox.store.tables.schema import ACTIVITY, CHANGES, GRANTS, PROFILE, TABLES
from tests.marks import starts
from tests.store.copier import Copier, started_copier
from tests.store.fuzz import contents, make
from tests.store.in_loop import in_loop
from tests.store.kill_count import kill_count
from tests.store.test_check import change, copied, files
from tests.store.test_migrations import restore

KILLS = kill_count(40)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("copy") / "closed", "database")


@pytest.fixture
def source(filled: Path, tmp_path: Path) -> Path:
    return copied(filled, tmp_path)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere" / "copy.db"


def tables(path: Path) -> dict[str, list[Any]]:
    """Every row of every table that a copy has, with its checksum."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {
            table.name: sorted(connection.execute(f"SELECT * FROM {table.name}"), key=repr)
            for table in TABLES
            if table not in (PROFILE, CHANGES, GRANTS, ACTIVITY)
        }


def write(path: Path, work: Callable[[Transaction], Any]) -> None:
    async def run() -> None:
        store = SqliteStore(path)
        await store.open()
        await store.write(work)
        await store.close()

    asyncio.run(run())


@pytest.mark.process
def test_every_row_and_counter_is_copied_and_the_source_is_not_changed(source: Path, target: Path) -> None:
    before = files(source)
    done = copy_profile(source, target)
    assert files(source) == before
    assert tables(target) == tables(source)
    assert check(target).is_sound
    assert (done.source, done.target, done.is_new) == (str(source), str(target), True)
    assert done.rows == {name: len(rows) for name, rows in tables(source).items()}
    assert done.rows["cookies"] == 178
    assert profile_info(source).uuid != profile_info(target).uuid
    assert target.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in target.parent.iterdir()] == ["copy.db"]


def test_a_profile_that_is_unchanged_since_it_was_created_is_filled(source: Path, target: Path) -> None:
    create_profile(target)
    uuid = profile_info(target).uuid
    assert copy_profile(source, target).is_new is False
    assert tables(target) == tables(source)
    assert check(target).is_sound
    assert profile_info(target).uuid == uuid


@pytest.mark.process
def test_a_profile_that_was_only_opened_is_filled(source: Path, target: Path) -> None:
    with hatbox.open_sync(target) as profile:
        assert len(profile.identities.query()) == 4
    copy_profile(source, target)
    assert tables(target) == tables(source)


def remove_an_identity(transaction: Transaction) -> None:
    transaction.identities.delete(4)


def create_and_remove(transaction: Transaction) -> None:
    transaction.identities.delete(transaction.identities.insert("a", "pet", "red"))


def set_a_cookie(transaction: Transaction) -> None:
    transaction.cookies.put(0, [("site.example", 1, "/", "a", "", "b", 0, 0, "lax", None, 1, 1.0, 1.0)])


def log_a_change(transaction: Transaction) -> None:
    transaction.changes.append("topic", b"{}")


@pytest.mark.parametrize("work", [remove_an_identity, create_and_remove, set_a_cookie, log_a_change])
def test_a_target_that_was_changed_is_refused(source: Path, target: Path, work: Callable[[Transaction], Any]) -> None:
    write(target, work)
    before = files(target)
    with pytest.raises(ProfileError, match="it was changed since it was created") as caught:
        copy_profile(source, target)
    assert caught.value.label == str(target)
    assert files(target) == before


def test_a_target_that_is_another_file_or_an_earlier_profile_is_refused(source: Path, tmp_path: Path) -> None:
    letter, old = tmp_path / "letter.txt", tmp_path / "old.db"
    letter.write_text("Dear reader")
    restore(5, old)
    before = files(source)
    with pytest.raises(NotAProfile):
        copy_profile(source, letter)
    with pytest.raises(ProfileError, match="it has the earlier format 5, so it is not a new profile"):
        copy_profile(source, old)
    assert files(source) == before


def test_a_profile_is_not_copied_into_itself(source: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(source)
    new = tmp_path / "new.db"
    create_profile(new)
    before = files(source)
    for same, other in ((source, source), (source, link), (link, source), (new, new)):
        with pytest.raises(ProfileError, match="source and target are the same profile"):
            copy_profile(same, other)
    assert files(source) == before


def test_a_source_that_does_not_exist_creates_nothing(target: Path, tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="no profile exists there"):
        copy_profile(tmp_path / "none.db", target)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("table", ["cookies", "packages", "head"])
def test_a_damaged_row_ends_the_copy_and_nothing_is_written(
    source: Path, target: Path, table: str, exists: bool
) -> None:
    if exists:
        create_profile(target)
    change(source, f"UPDATE {table} SET checksum = checksum + 1")
    before, before_target = contents(source), tables(target) if exists else None
    with pytest.raises(ProfileCorrupt, match=f"a row of the table {table} has a wrong checksum") as caught:
        copy_profile(source, target)
    assert caught.value.label == str(source)
    assert contents(source) == before
    if exists:
        assert tables(target) == before_target
    else:
        assert [path.name for path in target.parent.iterdir()] == []


def test_a_row_that_an_index_has_lost_is_damage(source: Path, target: Path) -> None:
    with contextlib.closing(sqlite3.connect(source)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        (index, root) = connection.execute(
            "SELECT name, rootpage FROM sqlite_schema WHERE name = 'tabs_by_window'"
        ).fetchone()
        assert index
    with source.open("r+b") as file:  # the number of entries in the page of the index
        file.seek((root - 1) * 4096 + 3)
        count = int.from_bytes(file.read(2), "big")
        file.seek((root - 1) * 4096 + 3)
        file.write((count - 1).to_bytes(2, "big"))
    with pytest.raises(ProfileCorrupt, match=r"the table tabs has 42 rows, but 43 were read|is damaged"):
        copy_profile(source, target)


def test_a_copy_is_the_state_of_one_commit_while_other_programs_write(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dump, "_MAX_ROWS", 7)
    before = tables(source)
    writes = 0

    def write_between(done: int, total: int) -> None:
        nonlocal writes
        if 0 < done < total and done % 3 == 0:
            writes += 1
            for work in (set_a_cookie, remove_an_identity, log_a_change):
                write(source, work)

    copy_profile(source, target, progress=write_between)
    assert writes > 3
    assert tables(target) == before
    assert tables(source) != before


def test_an_interrupted_copy_leaves_nothing(source: Path, target: Path) -> None:
    def interrupt(done: int, _total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_profile(source, target, progress=interrupt)
    assert [path.name for path in target.parent.iterdir()] == []
    create_profile(target)
    before = tables(target)
    with pytest.raises(KeyboardInterrupt):
        copy_profile(source, target, progress=interrupt)
    assert tables(target) == before


def test_of_two_copies_into_one_file_the_second_is_refused(source: Path, target: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    write(other, remove_an_identity)

    def copy_the_other(done: int, _total: int) -> None:
        if done and not target.exists():
            copy_profile(other, target)

    with pytest.raises(ProfileError, match="another program has created it in the meantime"):
        copy_profile(source, target, progress=copy_the_other)
    assert tables(target) == tables(other)
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_progress_counts_every_row_once(source: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump, "_MAX_ROWS", 10)
    seen: list[tuple[int, int]] = []
    rows = copy_profile(source, target, progress=lambda *counts: seen.append(counts)).rows
    total = sum(rows.values())
    assert {each for _, each in seen} == {total}
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert (seen[0][0], seen[-1][0]) == (0, total)


@pytest.mark.slow
def test_ten_thousand_identities_are_copied_in_little_memory(tmp_path: Path, target: Path) -> None:
    source = tmp_path / "large.db"

    def grow(transaction: Transaction) -> None:
        for number in range(10_000):
            identity = transaction.identities.insert(f"identity {number}", "pet", "red")
            row = ("site.example", 1, "/", "session", "", "v" * 200, 1, 0, "lax", 2e9, number, 1e9, 1e9)
            transaction.cookies.put(identity, [row])
        window = transaction.windows.insert()
        for number in range(12):
            tab = transaction.tabs.insert(window, number, 0, url="https://site.example/")
            transaction.tabs.save_page_snapshot(tab.id, b"x" * 2**20)
        transaction.changes.append("grown", b"{}")

    write(source, grow)
    tracemalloc.start()
    try:
        copy_profile(source, target)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6 * 2**20  # the profile has 17 MB
    assert tables(target) == tables(source)


def test_ids_and_log_numbers_go_on_where_the_source_was(source: Path, target: Path) -> None:
    copy_profile(source, target)
    created: list[list[int]] = []
    for path in (source, target):

        def create(transaction: Transaction) -> None:
            log_a_change(transaction)
            window = transaction.windows.insert()
            tab = transaction.tabs.insert(window, 0, 0).id
            numbers = [transaction.identities.insert("a", "pet", "red", uuid="its UUID"), window, tab]
            transaction.extensions.put("a@example", "local", "new", b"1")
            created.append(numbers)

        write(path, create)
    assert created[0] == created[1]
    assert tables(source)["head"] == tables(target)["head"]
    assert tables(source)["identities"] == tables(target)["identities"]


@in_loop
async def test_a_program_that_has_the_target_open_reloads_it(source: Path, target: Path) -> None:
    async with hatbox.open(target) as profile:
        topics: list[ChangeRecord] = []
        profile.store.subscribe(topics.append)
        await asyncio.to_thread(copy_profile, source, target)
        await profile.store.deliver_pending_changes()
        assert {each.topic for each in topics} == {"resync"}
        assert len(await profile.identities.query()) == 16
        await profile.identities.create("after")
        assert [each.topic for each in topics][-1] != "resync"


def test_a_read_only_source_is_copied(source: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(source)
    only_read(source.parent, monkeypatch)
    copy_profile(source, target)
    assert files(source) == before
    assert tables(target) == tables(source)


def only_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deny write access to a folder, also if the tests run as root."""
    access = os.access

    def denied(path: str | os.PathLike[str], mode: int) -> bool:
        inside = Path(path) == folder or Path(path).parent == folder
        return access(path, mode) and not (inside and mode & os.W_OK)

    monkeypatch.setattr(os, "access", denied)


def test_a_source_of_an_earlier_format_is_upgraded_unless_it_is_read_only(
    tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old" / "old.db"
    old.parent.mkdir()
    restore(5, old)
    with monkeypatch.context() as patch:
        only_read(old.parent, patch)
        before = contents(old)
        with pytest.raises(ProfileReadOnly, match="earlier format 5, and cannot be written to"):
            copy_profile(old, target)
        assert contents(old) == before
        assert not target.exists()
    copy_profile(old, target)
    assert profile_info(old).format == profile_info(target).format
    assert tables(target) == tables(old)


@pytest.fixture
@starts("process")
def copier() -> Iterator[Copier]:
    with started_copier() as copier:
        yield copier


@pytest.mark.parametrize("exists", [False, True])
def test_a_copy_that_is_killed_is_complete_or_did_not_happen(
    copier: Copier, source: Path, tmp_path: Path, exists: bool
) -> None:
    whole = tables(source)

    def prepared(name: str) -> Path:
        path = tmp_path / name / "copy.db"
        path.parent.mkdir()
        if exists:
            create_profile(path)
        return path

    calls = copier.count(source, prepared("first"))
    choose = random.Random(5)
    moments = [*range(calls - 60, calls, 6), *(choose.randrange(1, calls) for _ in range(max(KILLS - 10, 4)))]
    completed = 0
    for moment in moments:
        target = prepared(str(moment) if not (tmp_path / str(moment)).exists() else f"again {moment}")
        new = tables(target) if exists else None
        assert copier.copy_and_kill(source, target, moment) in (-signal.SIGKILL, 0)  # 0: it made fewer calls this time
        if sys.platform == "linux":
            drafts = [*target.parent.glob(".hatbox-*"), *target.parent.glob(".hatbox-*/*")]
            assert not any(draft.stat().st_size for draft in drafts if draft.is_file()), "a copy of the logins was left"
        if exists or target.exists():
            asyncio.run(_open_and_close(target))
            found = tables(target)
            assert found in (whole, new), moment
            completed += found == whole
            assert check(target).is_sound
        if not target.exists() or tables(target) == new:
            copy_profile(source, target)
        assert tables(target) == whole
        assert tables(source) == whole
    assert 0 < completed < len(moments)


async def _open_and_close(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.close()
