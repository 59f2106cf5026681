"""The profile's file: how it is made, and what happens to a file that cannot be used (store/sqlite/files.py)."""

# ruff: noqa: ASYNC240 - looking at files is what these tests do, and nothing else waits for their loop

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import hatbox
from hatbox import new_files
from hatbox.store.sqlite import SqliteStore, failures
from hatbox.store.sqlite import profile_file as files
from hatbox.store.sqlite.check import check
from hatbox.store.sqlite.lock import ProfileLock
from hatbox.store.sqlite.migrations import create_tables
from hatbox.store.sqlite.names import read_names
from hatbox.store.sqlite.schema import APPLICATION_ID, FORMAT, FORMAT_MASK
from hatbox.store.sqlite.side_files import check_folder
from tests.marks import starts
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess, Refused
from tests.store.sealing import edited, seal

FIRST_FOUR = ["Personal", "Work", "Banking", "Shopping"]
PAGE = 4096
NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


async def fill(path: Path, count: int = 0) -> list[str]:
    """A profile with this many identities more than a new one has; the names in it."""
    async with hatbox.open(path) as profile:
        await asyncio.gather(
            *(profile.identities.create(f"identity {number}", color="red", icon="pet") for number in range(count))
        )
        return await names(profile)


async def names(profile: hatbox.Profile) -> list[str]:
    return [identity.name for identity in await profile.identities.query()]


def kept(folder: Path) -> dict[str, bytes]:
    """All files of a folder, but for SQLite's shared memory and an empty journal, which hold nothing that lasts."""
    contents = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    return {
        name: content
        for name, content in contents.items()
        if not name.endswith("-shm") and (content or not name.endswith("-wal"))
    }


async def assert_refused(path: Path, error: type[hatbox.ProfileError], *words: str, named: Path | None = None) -> None:
    """Opening fails, the message names the file and has these words, and nothing in the folder has changed."""
    before = kept(path.parent)
    with pytest.raises(error) as refusal:
        await hatbox.open(path)
    assert type(refusal.value) is error
    assert str(refusal.value).startswith(f"{named or path}: ")
    for word in words:
        assert word in str(refusal.value)
    assert kept(path.parent) == before


def read_file(path: Path, sql: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


# ---------------------------------------------------------------------------------------------------------- a new file


@in_loop
async def test_a_new_profile_is_private_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "some" / "folder" / "profile.db"
    async with hatbox.open(path) as profile:
        assert await names(profile) == FIRST_FOUR
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["profile.db"]
    assert path.stat().st_nlink == 1


@in_loop
async def test_opening_and_reading_an_old_profile_leaves_it_byte_for_byte(path: Path) -> None:
    before = await fill(path, 10)
    content = kept(path.parent)
    async with hatbox.open(path) as profile:
        assert await names(profile) == before
    assert kept(path.parent) == content


@in_loop
async def test_a_commit_waits_for_the_disk(path: Path) -> None:
    await fill(path)
    with contextlib.closing(files.open_profile(path)) as opened:
        connection = opened.connection
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA fullfsync").fetchone() == (1,)


def test_a_new_profile_and_its_new_folders_are_on_the_disk_before_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[Path] = set()
    fsync = os.fsync

    def spy(descriptor: int) -> None:
        synced.add(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", spy)
    if not Path("/proc/self/fd").exists():
        pytest.skip("what a descriptor stands for can only be seen in /proc")
    files.open_profile(tmp_path / "a" / "b" / "profile.db").close()
    assert {tmp_path / "a" / "b", tmp_path / "a", tmp_path} <= synced


def test_who_is_slower_in_making_a_profile_gets_the_one_that_is_there(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def be_overtaken(connection: sqlite3.Connection) -> None:
        monkeypatch.setattr(files, "create_tables", create_tables)
        files.open_profile(path).close()
        with edited(path) as other:
            other.execute("UPDATE identities SET name = 'of the faster one' WHERE id = 1")
        create_tables(connection)

    monkeypatch.setattr(files, "create_tables", be_overtaken)
    with contextlib.closing(files.open_profile(path)) as opened:
        found = opened.connection.execute("SELECT name FROM identities WHERE id = 1").fetchone()
        assert found == ("of the faster one",)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.process
@pytest.mark.parametrize("count", [2, 8])
@in_loop
async def test_processes_that_make_the_same_profile_at_once_share_one(path: Path, count: int) -> None:
    with contextlib.ExitStack() as stack:
        others = [stack.enter_context(OtherProcess()) for _ in range(count)]
        for other in others:
            other.call("close")  # all have started
        for round_ in range(5):
            folder = path.parent / str(round_)
            for other in others:
                other.begin("open", str(folder / path.name))
            for other in others:
                other.finish()
            for number, other in enumerate(others):
                other.begin("identities", "create", f"made by {number}", color="red", icon="pet")
            ids = [other.finish()["cookieStoreId"] for other in others]
            for other in others:
                assert len(other.identities("query")) == 4 + count
            assert sorted(ids) == sorted(f"firefox-container-{6 + number}" for number in range(count))
            assert not [file for file in folder.iterdir() if not file.name.startswith(path.name)]
            for other in others:
                other.call("close")
            assert [file.name for file in folder.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "name",
    [
        *("with a space.db", "what?.db", "#1.db", "100%.db", "%41.db", "q?mode=memory", "hüte \U0001f3a9.db", "'.db"),
        *("a;b&c=d.db", "-wal", "no-ending", ".hidden", "back\\slash.db", "new\nline.db", "n" * 240, "\u5e3d" * 80),
    ],
    ids=lambda name: ascii(name)[:20],
)
@in_loop
async def test_a_profile_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "more # of % this?" / name
    try:
        path.parent.mkdir()
        path.with_name(f"{name}-journal").touch()
        path.with_name(f"{name}-journal").unlink()
    except OSError as error:
        pytest.skip(f"this file system does not hold such a name: {error}")
    before = await fill(path, 1)
    assert [file.name for file in path.parent.iterdir()] == [name]
    async with hatbox.open(path) as profile:
        assert await names(profile) == before


@in_loop
async def test_a_relative_path_stays_where_it_was_after_a_change_of_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    profile = hatbox.open("profile.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    async with profile:
        await profile.identities.create("a", color="red", icon="pet")
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["profile.db"]


# ------------------------------------------------------------------------------------------- a link to the profile


@in_loop
async def test_a_link_to_a_profile_is_the_profile(tmp_path: Path) -> None:
    real, link = tmp_path / "real" / "profile.db", tmp_path / "links" / "profile.db"
    await fill(real, 1)
    link.parent.mkdir()
    link.symlink_to(real)
    async with hatbox.open(real) as one, hatbox.open(link) as two:
        await one.identities.create("through the real name", color="red", icon="pet")
        await two.identities.create("through the link", color="red", icon="pet")
        assert (await names(one))[-2:] == ["through the real name", "through the link"]
        assert await names(one) == await names(two)
    assert [file.name for file in link.parent.iterdir()] == ["profile.db"]
    assert link.is_symlink()


@in_loop
async def test_a_link_to_nothing_is_refused(path: Path) -> None:
    path.symlink_to(path.parent / "missing" / "profile.db")
    await assert_refused(path, hatbox.ProfileError, "target does not exist", "another path")
    assert path.is_symlink()


@in_loop
async def test_a_newer_version_in_the_journal_is_seen_through_a_link_too(tmp_path: Path) -> None:
    real, link = tmp_path / "real" / "profile.db", tmp_path / "profile.db"
    await fill(real, 3)
    crash_of_a_newer_version(real)
    link.symlink_to(real)
    await assert_refused(link, hatbox.ProfileTooNew, "Update Hatbox", named=real)


@in_loop
async def test_a_crash_while_the_journal_was_folded_in_is_mended_through_a_link_too(tmp_path: Path) -> None:
    real, link = tmp_path / "real" / "profile.db", tmp_path / "profile.db"
    before = await fill(real, 3)
    crash_while_folding(real)
    link.symlink_to(real)
    async with hatbox.open(link) as profile:
        assert len(await names(profile)) == len(before) + 200


# ---------------------------------------------------------------------------------- files that are not for this version


@in_loop
async def test_a_profile_of_a_newer_version_is_refused(path: Path) -> None:
    await fill(path, 3)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    await assert_refused(path, hatbox.ProfileTooNew, f"format {FORMAT + 1}", "Update Hatbox")


@in_loop
async def test_a_newer_version_that_stands_in_the_journal_only_is_refused(path: Path) -> None:
    await fill(path, 3)
    crash_of_a_newer_version(path)
    assert int.from_bytes(path.read_bytes()[60:64], "big") & FORMAT_MASK == FORMAT
    await assert_refused(path, hatbox.ProfileTooNew, "Update Hatbox")
    await assert_refused(path, hatbox.ProfileTooNew, "Update Hatbox")


@in_loop
async def test_a_newer_version_that_arrives_while_a_profile_is_open_ends_the_writing(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.create("before", color="red", icon="pet")
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
        for _ in range(2):
            calls = (profile.identities.create(name, color="red", icon="pet") for name in ("after", "and after"))
            for error in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(error, hatbox.ProfileTooNew)
                assert str(path) in str(error)
    assert read_file(path, "SELECT name FROM identities ORDER BY position")[4:] == [("before",)]
    assert read_file(path, "PRAGMA user_version") == [(FORMAT + 1,)]


def crash_of_a_newer_version(path: Path) -> None:
    """Leave the file and a journal in which a newer Hatbox has migrated it, as after its crash."""
    version = int.from_bytes(path.read_bytes()[60:64], "big")
    leave_journal(path, f"CREATE TABLE later (x); PRAGMA user_version = {version + 1};")


def leave_journal(path: Path, sql: str) -> None:
    aside = path.parent / "aside"
    aside.mkdir()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.executescript(sql)
        seal(connection)
        for end in ("", "-wal"):
            shutil.copy2(f"{path}{end}", aside / f"{path.name}{end}")
    for file in aside.iterdir():
        file.replace(path.parent / file.name)
    aside.rmdir()


def crash_while_folding(path: Path) -> None:
    """Leave a file whose header counts pages that only the journal holds: pages are copied from the first one on."""
    rows = ", ".join(
        f"('{'x' * 500}', 'pet', 'red', 0, {number}, 'uuid', 0)" for number in range(10_000_000, 10_000_200)
    )
    leave_journal(path, f"INSERT INTO identities (name, icon, color, hidden, position, uuid, checksum) VALUES {rows};")
    journal = path.with_name(f"{path.name}-wal").read_bytes()
    frames = (journal[start : start + 24 + PAGE] for start in range(32, len(journal), 24 + PAGE))
    first_page = [frame[24:] for frame in frames if frame[:4] == (1).to_bytes(4, "big")][-1]
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.write(first_page)
    assert int.from_bytes(first_page[28:32], "big") * PAGE > size == path.stat().st_size


@in_loop
async def test_a_crash_while_the_journal_was_folded_in_is_mended(path: Path) -> None:
    before = await fill(path, 3)
    crash_while_folding(path)
    async with hatbox.open(path) as profile:
        assert len(await names(profile)) == len(before) + 200


# ------------------------------------------------------------------------------------------ files that are no profile


@pytest.mark.parametrize(
    "content",
    [b"Dear diary", b"\x00" * 8192, b"SQLite format 2\x00" + bytes(200), random.Random(1).randbytes(20_000)],
    ids=["text", "zeros", "nearly SQLite", "noise"],
)
@in_loop
async def test_a_file_of_another_kind_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    await assert_refused(path, hatbox.NotAProfile, "is not a Hatbox profile", "Name another path")


@in_loop
async def test_an_empty_file_is_refused(path: Path) -> None:
    path.touch()
    await assert_refused(path, hatbox.NotAProfile, "empty file", "Name another path")


@pytest.mark.parametrize("mode", ["delete", "wal"])
@in_loop
async def test_a_database_of_another_program_is_refused(path: Path, mode: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE identities (anything)")
    await assert_refused(path, hatbox.NotAProfile, "another program", "Name another path")


@in_loop
async def test_a_folder_is_refused(path: Path) -> None:
    path.mkdir()
    (path / "content").write_text("kept")
    await assert_refused(path, hatbox.NotAProfile, "is not a file", "Name another path")


@in_loop
async def test_a_pipe_is_refused_and_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    await assert_refused(path, hatbox.NotAProfile, "is not a file", "Name another path")


@in_loop
async def test_a_path_below_a_file_is_refused(path: Path) -> None:
    path.write_text("a file")
    with pytest.raises(hatbox.ProfileError, match="another path"):
        await hatbox.open(path / "profile.db")
    with pytest.raises(hatbox.ProfileError, match="another path"):
        await hatbox.open(path / "deeper" / "profile.db")
    assert path.read_text() == "a file"


@in_loop
async def test_a_journal_that_has_lost_its_profile_is_not_mixed_into_a_new_one(path: Path) -> None:
    """Somebody deleted profile.db, but not the profile.db-wal that a crash had left beside it."""
    await fill(path, 3)
    leave_journal(path, "UPDATE identities SET name = 'of the old profile'; DELETE FROM identities WHERE id > 3;")
    path.unlink()
    orphan = kept(path.parent)
    try:
        found = await fill(path)
    except hatbox.ProfileError as error:
        assert str(path) in str(error)
        assert kept(path.parent) == orphan
    else:
        assert found == FIRST_FOUR
        assert read_file(path, "PRAGMA integrity_check") == [("ok",)]


# ----------------------------------------------------------------------------------------------------- damaged profiles


@pytest.mark.parametrize("size", [1, 16, 99, 100, 4095, 4096, -4096, -1])
@in_loop
async def test_a_profile_that_was_cut_short_is_refused(path: Path, size: int) -> None:
    await fill(path, 200)
    os.truncate(path, size if size > 0 else path.stat().st_size + size)
    error = hatbox.NotAProfile if 0 < size < 16 else hatbox.ProfileCorrupt
    await assert_refused(path, error, "It was left as it is")


@in_loop
async def test_a_profile_with_a_damaged_header_is_refused(path: Path) -> None:
    await fill(path, 3)
    sound = path.read_bytes()
    for start, end in ((0, 16), (0, 100), (16, 18), (18, 20), (21, 24), (44, 48), (68, 72), (100, 108)):
        content = bytearray(sound)
        content[start:end] = b"\xa5" * (end - start)
        path.write_bytes(content)
        with pytest.raises(hatbox.ProfileError, match=r"left as it is|Nothing was changed") as refusal:
            async with hatbox.open(path) as profile:
                await profile.identities.query()
        assert str(path) in str(refusal.value)
        assert kept(path.parent) == {path.name: bytes(content)}


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["zeros", "noise"])
@in_loop
async def test_a_damaged_page_is_told_and_the_file_is_left_as_it_is(path: Path, damage: str) -> None:
    """Every page but the first, one after the other: the whole truth, or an error; never less than there was."""
    before = await fill(path, 400)
    sound = path.read_bytes()
    told = 0
    for start in range(PAGE, len(sound), PAGE):
        content = bytearray(sound)
        content[start : start + PAGE] = bytes(PAGE) if damage == "zeros" else random.Random(start).randbytes(PAGE)
        path.write_bytes(content)
        for _ in range(3):
            try:
                async with hatbox.open(path) as profile:
                    assert await names(profile) == before
            except hatbox.ProfileCorrupt as error:
                told += 1
                assert str(path) in str(error)
                assert "backup" in str(error)
        assert kept(path.parent) == {path.name: bytes(content)}
    assert told >= 9  # at the least the root of the table, that of an index, and a leaf; and each time anew
    assert told % 3 == 0


@in_loop
async def test_nothing_is_written_to_a_profile_whose_table_is_damaged(path: Path) -> None:
    await fill(path, 120)
    [(root,)] = read_file(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'identities'")
    assert isinstance(root, int)
    with path.open("r+b") as file:
        file.seek((root - 1) * PAGE)
        file.write(bytes(PAGE))
    content = path.read_bytes()
    async with hatbox.open(path) as profile:
        calls = (
            lambda: profile.identities.create("a", color="red", icon="pet"),
            lambda: profile.identities.update("firefox-container-1", name="a"),
            lambda: profile.identities.remove("firefox-container-1"),
            lambda: profile.identities.move("firefox-container-1", 2),
            lambda: profile.identities.hide("firefox-container-1"),
            profile.identities.query,
        )
        for call in (*calls, *calls):
            with pytest.raises(hatbox.ProfileCorrupt, match="is damaged") as refusal:
                await call()
            assert str(path) in str(refusal.value)
        for answer in await asyncio.gather(*(call() for call in calls), return_exceptions=True):
            assert isinstance(answer, hatbox.ProfileCorrupt)
    assert kept(path.parent) == {path.name: content}


@in_loop
async def test_a_name_that_is_no_text_is_told(path: Path) -> None:
    await fill(path, 1)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE identities SET name = CAST(x'ff41' AS TEXT) WHERE id = 6")
    async with hatbox.open(path) as profile:
        with pytest.raises(hatbox.ProfileError, match=r"profile\.db"):
            await profile.identities.query()


# ---------------------------------------------------------------------------------------- places that cannot be written


@pytest.fixture
@starts("process")
def stranger() -> Iterator[tuple[Path, OtherProcess]]:
    """A folder, and a process that may write there only as its permissions say."""
    folder = Path(tempfile.mkdtemp())
    with OtherProcess(folder / "warm" / "profile.db") as process:  # so that all that it needs is imported
        process.call("close")
        shutil.rmtree(folder / "warm")
        if os.geteuid() == 0:  # permissions mean nothing to root
            os.chown(folder, NOBODY, NOBODY)
            process.call("become", NOBODY)
        yield folder, process
    for entry in (folder, *folder.iterdir()):
        entry.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.parametrize(("folder_mode", "mode"), [(0o500, 0o600), (0o500, 0o400), (0o700, 0o400)])
def test_a_profile_that_cannot_be_written_can_be_read(
    stranger: tuple[Path, OtherProcess], folder_mode: int, mode: int
) -> None:
    folder, process = stranger
    path = folder / "profile.db"
    process.call("open", str(path))
    process.identities("create", "a", color="red", icon="pet")
    process.call("close")
    before = kept(folder)
    path.chmod(mode)
    folder.chmod(folder_mode)
    for _ in range(2):
        process.call("open", str(path))
        assert [identity["name"] for identity in process.identities("query")] == [*FIRST_FOUR, "a"]
        with pytest.raises(Refused) as refusal:
            process.identities("create", "b", color="red", icon="pet")
        assert refusal.value.kind == "ProfileReadOnly"
        assert refusal.value.message.startswith(f"{path}: it cannot be written to")
        assert f"the folder {folder} writable" in refusal.value.message
        process.call("close")
    folder.chmod(0o700)
    path.chmod(0o600)
    assert kept(folder) == before
    process.call("open", str(path))
    process.identities("create", "b", color="red", icon="pet")


def test_a_profile_that_a_crash_has_left_in_a_folder_that_cannot_be_written_is_read_whole_or_not_at_all(
    stranger: tuple[Path, OtherProcess],
) -> None:
    folder, process = stranger
    path = folder / "profile.db"
    process.call("open", str(path))
    process.identities("create", "a", color="red", icon="pet")
    aside = Path(tempfile.mkdtemp(dir=folder))
    for end in ("", "-wal"):
        shutil.copy2(f"{path}{end}", aside)
    aside.chmod(0o500)
    os.chown(aside, *((NOBODY, NOBODY) if os.geteuid() == 0 else (-1, -1)))
    for file in aside.iterdir():
        os.chown(file, *((NOBODY, NOBODY) if os.geteuid() == 0 else (-1, -1)))
    try:
        process.call("open", str(aside / path.name))
        assert [identity["name"] for identity in process.identities("query")] == [*FIRST_FOUR, "a"]
    except Refused as refusal:
        assert refusal.kind == "ProfileReadOnly"
    finally:
        aside.chmod(0o700)


@pytest.mark.parametrize("below", [".", "new/folder"])
def test_no_profile_is_made_in_a_folder_that_cannot_be_written(stranger: tuple[Path, OtherProcess], below: str) -> None:
    folder, process = stranger
    folder.chmod(0o500)
    with pytest.raises(Refused) as refusal:
        process.call("open", str(folder / below / "profile.db"))
    assert refusal.value.kind == "ProfileReadOnly"
    assert str(folder / below / "profile.db") in refusal.value.message
    assert ("does not exist" in refusal.value.message) == (below != ".")
    folder.chmod(0o700)
    assert not list(folder.iterdir())


@pytest.mark.parametrize(("kind", "word"), [("folder", "not a file"), ("text", "not a Hatbox profile")])
def test_what_cannot_be_written_and_is_no_profile_is_not_called_damaged(
    stranger: tuple[Path, OtherProcess], kind: str, word: str
) -> None:
    folder, process = stranger
    path = folder / kind
    if kind == "folder":
        path.mkdir(0o555)
    else:
        path.write_text("root:x:0:0" * 200)
        path.chmod(0o444)
    folder.chmod(0o555)
    with pytest.raises(Refused) as refusal:
        process.call("open", str(path))
    assert (refusal.value.kind, word in refusal.value.message) == ("NotAProfile", True), refusal.value.message


def test_a_profile_that_cannot_be_read_says_so(stranger: tuple[Path, OtherProcess]) -> None:
    folder, process = stranger
    path = folder / "profile.db"
    process.call("open", str(path))
    process.call("close")
    path.chmod(0o000)
    with pytest.raises(Refused) as refusal:
        process.call("open", str(path))
    path.chmod(0o600)
    assert refusal.value.kind == "ProfileError"
    assert "cannot be read" in refusal.value.message
    process.call("open", str(path))


@in_loop
async def test_a_profile_whose_folder_was_deleted_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "profile.db"
    await fill(path, 1)
    shutil.rmtree(path.parent)
    assert await fill(path) == FIRST_FOUR


# ---------------------------------------------------------------------------------------------------------- a full disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("a small disk can only be mounted by root, on Linux")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def use_up(disk: Path, leave: int = 0) -> Path:
    """Fill the disk but for so many bytes."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    os.truncate(filler, max(0, filler.stat().st_size - leave))
    return filler


@pytest.mark.process
@pytest.mark.parametrize("leave", [0, 4096, 32768])
@in_loop
async def test_a_full_disk_is_told_and_loses_nothing(disk: Path, leave: int) -> None:
    path = disk / "profile.db"
    resolved: list[str] = []
    async with hatbox.open(path) as profile:

        async def create_until_full() -> None:
            for number in range(1000):
                name = f"{number} {'x' * 300}"
                await profile.identities.create(name, color="red", icon="pet")
                resolved.append(name)

        await profile.identities.create("first", color="red", icon="pet")
        filler = use_up(disk, leave)
        for _ in range(3):
            with pytest.raises(hatbox.DiskFull, match=r"the disk is full.*Free some space") as refusal:
                await create_until_full()
            assert str(path) in str(refusal.value)
            assert await names(profile) == [*FIRST_FOUR, "first", *resolved]
        filler.unlink()
        await profile.identities.create("last", color="red", icon="pet")
        expected = [*FIRST_FOUR, "first", *resolved, "last"]
        assert await names(profile) == expected
    async with hatbox.open(path) as profile:
        assert await names(profile) == expected
    assert read_file(path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.process
@in_loop
async def test_many_calls_at_once_on_a_full_disk_are_each_done_or_not(disk: Path) -> None:
    path = disk / "profile.db"
    async with hatbox.open(path) as profile:
        filler = use_up(disk, leave=65536)
        calls = (profile.identities.create(f"{number} {'x' * 300}", color="red", icon="pet") for number in range(400))
        answers = await asyncio.gather(*calls, return_exceptions=True)
        made = [answer.name for answer in answers if isinstance(answer, hatbox.ContextualIdentity)]
        assert {type(answer) for answer in answers} == {hatbox.ContextualIdentity, hatbox.DiskFull}
        filler.unlink()
    async with hatbox.open(path) as profile:
        assert await names(profile) == [*FIRST_FOUR, *made]


@pytest.mark.process
@in_loop
async def test_no_profile_is_made_on_a_full_disk(disk: Path) -> None:
    filler = use_up(disk)
    for path in (disk / "profile.db", disk / "folder" / "profile.db"):
        with pytest.raises(hatbox.DiskFull, match="the disk is full") as refusal:
            await hatbox.open(path)
        assert str(path) in str(refusal.value)
    assert [file for file in disk.rglob("*") if file.is_file()] == [filler]
    filler.unlink()
    assert await fill(disk / "profile.db") == FIRST_FOUR


@pytest.mark.process
@in_loop
async def test_a_profile_that_cannot_be_opened_on_a_full_disk_says_so(disk: Path) -> None:
    path = disk / "profile.db"
    before = await fill(path, 3)
    content = path.read_bytes()
    filler = use_up(disk)
    with pytest.raises(hatbox.DiskFull, match="the disk is full"):
        async with hatbox.open(path) as profile:
            await profile.identities.query()
            await profile.identities.create("a", color="red", icon="pet")
    filler.unlink()
    assert path.read_bytes() == content
    async with hatbox.open(path) as profile:
        assert await names(profile) == before


# ----------------------------------------------------------------------------------------------------- a locked profile


@in_loop
async def test_a_profile_that_another_program_keeps_locked_is_told_and_works_afterwards(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "BUSY_SECONDS", 0.1)
    await fill(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        async with hatbox.open(path) as profile:
            other.execute("BEGIN IMMEDIATE")
            for _ in range(2):
                with pytest.raises(hatbox.ProfileLocked, match=r"locked by another process, .* \(waited") as refusal:
                    await profile.identities.create("a", color="red", icon="pet")
                assert str(path) in str(refusal.value)
                assert "try again" in str(refusal.value)
            assert await names(profile) == FIRST_FOUR
            async with hatbox.open(path) as reader:  # a lock keeps nobody from reading
                assert await names(reader) == FIRST_FOUR
            other.execute("ROLLBACK")
            await profile.identities.create("b", color="red", icon="pet")
            assert await names(profile) == [*FIRST_FOUR, "b"]


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux tells who holds a lock")
def test_a_program_that_was_stopped_while_it_wrote_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "BUSY_SECONDS", 0.1)
    program = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE'); "
    )
    command = [sys.executable, "-c", f"{program}print(flush=True); sys.stdin.read()", str(path)]
    with hatbox.open_sync(path) as profile:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stopped:
            assert stopped.stdout
            stopped.stdout.readline()
            stopped.send_signal(signal.SIGSTOP)
            until_stopped(stopped.pid)
            with pytest.raises(hatbox.ProfileLocked, match=rf"\(pid {stopped.pid}\), which is stopped \(waited"):
                profile.identities.create("a", color="red", icon="pet")
            stopped.send_signal(signal.SIGCONT)
            stopped.communicate()
        profile.identities.create("b", color="red", icon="pet")


def until_stopped(process: int) -> None:
    status = Path(f"/proc/{process}/stat")
    while status.read_text("utf-8").rpartition(")")[2].split()[0] != "T":
        os.sched_yield()


@in_loop
async def test_a_short_lock_is_waited_for(path: Path) -> None:
    async with hatbox.open(path) as profile:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            call = profile.identities.create("a", color="red", icon="pet")
            done, _ = await asyncio.wait([call], timeout=0.2)
            assert not done
            other.execute("COMMIT")
            assert (await call).name == "a"


def test_the_number_that_tells_a_profile_from_other_databases_stays_the_same() -> None:
    assert APPLICATION_ID.to_bytes(4, "big") == b"HATB"


@in_loop
async def test_a_profile_that_is_deleted_under_an_open_program_takes_no_more_changes(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile:
        for file in tmp_path.iterdir():
            file.unlink()
        with pytest.raises(hatbox.ProfileError, match="deleted, moved or replaced while it was open"):
            for _ in range(10_000):  # it is noticed within a hundredth of a second, not at once
                await profile.identities.create("a", color="red", icon="pet")
    assert not path.exists()


@in_loop
async def test_a_file_that_was_put_in_the_place_of_an_open_profile_is_not_changed_at_its_close(path: Path) -> None:
    other = path.with_name("other.db")
    await fill(other, 3)
    put = other.read_bytes()
    async with hatbox.open(path) as profile:
        await profile.identities.create("a", color="red", icon="pet")
        other.replace(path)
    assert path.read_bytes() == put


@in_loop
async def test_a_second_name_of_a_profile_is_refused(path: Path) -> None:
    await fill(path)
    other = path.with_name("other.db")
    async with hatbox.open(path):
        os.link(path, other)
        for name in (path, other):
            with pytest.raises(hatbox.ProfileError, match="2 names"):
                await hatbox.open(name)
    other.unlink()
    os.link(path, path.with_name(".hatbox-1-00000000.new"))  # of a process that was killed while it created the profile
    async with hatbox.open(path):
        assert [file.name for file in path.parent.iterdir() if file.suffix == ".new"] == []


@pytest.mark.skipif(sys.platform != "linux", reason="bind mounts are of Linux")
@pytest.mark.process
def test_a_file_that_is_mounted_under_another_name_is_refused_while_it_is_in_use(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path / "profile.db"))
    mounted = tmp_path / "mounted" / "profile.db"
    mounted.parent.mkdir()
    mounted.touch()
    mount = ["unshare", "--mount", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh"]
    hatbox_list = [sys.executable, "-m", "hatbox", "list", "--profile", str(mounted)]
    command = [*mount, str(tmp_path / "profile.db"), str(mounted), *hatbox_list]
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user cannot mount")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    with OtherProcess(tmp_path / "profile.db"):
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "open under one name at a time" in result.stderr


@pytest.mark.parametrize("end", ["-wal", "-shm"])
@in_loop
async def test_a_file_that_is_deleted_beside_an_open_profile_is_noticed_and_nothing_is_lost(
    path: Path, end: str
) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.create("kept", color="red", icon="pet")
        path.with_name(path.name + end).unlink()
        with pytest.raises(hatbox.ProfileError, match=f"its file {path.name}{end} was deleted"):
            for _ in range(10_000):  # it is noticed within a hundredth of a second, not at once
                await profile.identities.create("a", color="red", icon="pet")
    async with hatbox.open(path) as profile:
        assert "kept" in await names(profile)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can make files of others")
@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal", "-lock"])
@in_loop
async def test_what_another_user_has_made_beside_a_profile_is_refused(path: Path, end: str) -> None:
    await fill(path)
    prepared = path.with_name(path.name + end)
    prepared.touch()
    os.chown(path, NOBODY, NOBODY)
    os.chown(prepared, NOBODY - 1, NOBODY)
    with pytest.raises(hatbox.ProfileError, match=f"{prepared.name} beside it is not a file of its owner"):
        await hatbox.open(path)
    prepared.unlink()
    path.parent.chmod(0o777)
    with pytest.raises(hatbox.ProfileError, match=f"chmod o-w {path.parent}"):
        await hatbox.open(path)
    path.parent.chmod(0o1777)
    async with hatbox.open(path):
        assert stat.S_IMODE(path.with_name(f"{path.name}-wal").stat().st_mode) == 0o600


class Folder(NamedTuple):
    """Who opens a profile in which folder, with the mode 0o775 if nothing else is said."""

    user: int = 1000
    owner: int = 1000
    group: int = 1000
    mode: int = 0o775
    profile: int = 1000
    profile_mode: int = 0o600


ALICE, BOB, SERVICE, ROOT = (1000, "alice", 1000, "bash"), (1001, "bob", 1001, "bash"), (33, "www", 33, "nologin"), 0
ACCOUNTS = [ALICE, BOB, SERVICE, (0, "root", 0, "bash"), (1009, "default", 0, "bash")]
ACCOUNTS += [(1002, "carol", 100, "bash"), (12, "games", 100, "nologin")]
GROUPS = {0: ("root", []), 1000: ("alice", ["alice"]), 1001: ("bob", []), 33: ("www", []), 50: ("staff", ["bob"])}
GROUPS |= {100: ("users", []), 51: ("own", ["remote"]), 52: ("other", ["elsewhere"])}


@pytest.mark.skipif(os.name != "posix", reason="owners and groups of POSIX")
@pytest.mark.parametrize(
    ("folder", "problem"),
    [
        (Folder(), ""),
        (Folder(mode=0o777), "all users"),
        (Folder(mode=0o1777), ""),
        (Folder(group=1001), "group bob"),
        (Folder(group=50), "group staff"),
        (Folder(group=33), "group www"),  # a server on this machine
        (Folder(group=50, profile_mode=0o660), ""),
        (Folder(group=54321), ""),
        (Folder(group=100), "group users"),
        (Folder(user=1002, owner=1002, group=100), ""),
        (Folder(group=52), "group other"),  # an account that is listed in the group only
        (Folder(user=ROOT, group=50), ""),
        (Folder(user=ROOT, mode=0o777), "all users"),
        (Folder(user=1001), ""),  # what is of alice, by bob
        (Folder(user=1001, group=50), ""),
        (Folder(user=100065, owner=0, group=0, profile=100065), ""),  # OpenShift
        (Folder(user=2000, owner=2000, group=51, profile=2000), ""),  # LDAP that lists no users
        (Folder(user=1001, owner=65534, profile=1001), "its owner,.*In a container: run it as the user 65534"),
    ],
)
def test_a_folder_is_refused_if_others_can_replace_a_profile_in_it(
    path: Path, folder: Folder, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pwd, grp = pytest.importorskip("pwd"), pytest.importorskip("grp")

    def account(uid: int, name: str, gid: int, shell: str) -> Any:
        return pwd.struct_passwd((name, "x", uid, gid, "", "/", f"/usr/sbin/{shell}"))

    accounts = [account(*each) for each in ACCOUNTS]
    known = [*accounts, account(2000, "remote", 2000, "bash")]
    by_name, by_id = {each.pw_name: each for each in known}, {each.pw_uid: each for each in known}
    groups = {gid: grp.struct_group((name, "x", gid, members)) for gid, (name, members) in GROUPS.items()}
    monkeypatch.setattr(os, "getuid", lambda: folder.user)
    monkeypatch.setattr(pwd, "getpwall", lambda: accounts)
    monkeypatch.setattr(pwd, "getpwnam", by_name.__getitem__)
    monkeypatch.setattr(pwd, "getpwuid", by_id.__getitem__)
    monkeypatch.setattr(grp, "getgrgid", groups.__getitem__)
    status = os.stat_result((folder.mode, 0, 0, 2, folder.owner, folder.group, 0, 0, 0, 0))
    monkeypatch.setattr(Path, "stat", lambda *_, **__: status)
    database = os.stat_result((folder.profile_mode, 0, 0, 1, folder.profile, folder.group, 0, 0, 0, 0))
    refused = pytest.raises(hatbox.ProfileError, match=f"(?s){problem}") if problem else contextlib.nullcontext()
    with refused:
        check_folder(path, database)


@pytest.mark.skipif(os.name != "posix", reason="owners and groups of POSIX")
def test_nothing_is_created_in_a_folder_in_which_a_profile_is_not_opened(path: Path) -> None:
    path.parent.chmod(0o777)
    for create in (open_and_close, partial(files.create_profile, fill=create_tables)):
        with pytest.raises(hatbox.ProfileError, match="all users of this machine can replace"):
            create(path)
        assert list(path.parent.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="owners and groups of POSIX")
def test_all_that_reads_a_profile_checks_its_folder(path: Path) -> None:
    asyncio.run(fill(path))
    assert read_names(path, "identities")
    path.parent.chmod(0o777)
    for read in (open_and_close, check):
        with pytest.raises(hatbox.ProfileError, match="can replace files"):
            read(path)
    assert read_names(path, "identities") == []


def test_without_hard_links_no_profile_is_created_that_a_kill_would_leave_empty(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(new_files, "_open_unnamed", lambda _: None)
    monkeypatch.setattr(Path, "hardlink_to", no_links)
    with pytest.raises(hatbox.ProfileError, match=r"its file system has no hard links.*Choose another path"):
        open_and_close(path)
    assert list(path.parent.iterdir()) == []


def open_and_close(path: Path) -> None:
    files.open_profile(path).close()


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_a_second_name_is_refused_within_one_process_too(path: Path) -> None:
    asyncio.run(fill(path))
    other = path.with_name("mounted.db")  # as a mount of the file alone, which has one link
    os.link(path, other)
    lock = ProfileLock(path, 1)
    with pytest.raises(hatbox.ProfileLocked, match="one name at a time"):
        ProfileLock(other, 1)
    lock.release()
    ProfileLock(other, 1).release()


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_of_two_names_that_two_threads_open_at_once_one_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(fill(path))
    other = path.with_name("mounted.db")
    os.link(path, other)
    opened: list[ProfileLock] = []

    def open_other() -> None:
        with contextlib.suppress(hatbox.ProfileLocked):
            opened.append(ProfileLock(other, 1))

    thread = threading.Thread(target=open_other)
    is_current = ProfileLock._is_current

    def interrupted(lock: ProfileLock) -> bool:
        if lock.path.name == "profile.db-lock":
            thread.start()
            thread.join(0.2)  # it waits for this one
        return is_current(lock)

    monkeypatch.setattr(ProfileLock, "_is_current", interrupted)
    lock = ProfileLock(path, 1)
    thread.join(10)
    assert opened == []
    monkeypatch.undo()
    lock.release()


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
@in_loop
async def test_what_another_user_makes_just_before_sqlite_opens_it_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await fill(path, 1)
    content, wal = path.read_bytes(), path.with_name("profile.db-wal")

    def plant(_: Path) -> None:
        wal.write_bytes(b"")
        wal.with_name("second name").hardlink_to(wal)  # as the file of another user

    monkeypatch.setattr(files, "create_private", plant)
    with pytest.raises(hatbox.ProfileError, match="beside it is not a file of its owner"):
        await hatbox.open(path)
    assert (path.read_bytes(), wal.read_bytes()) == (content, b"")
    monkeypatch.undo()
    wal.unlink()
    async with hatbox.open(path) as profile:
        assert await names(profile) == before


def test_a_file_system_without_locks_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(fill(path))

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.lockf", refuse)
    with pytest.raises(hatbox.ProfileError, match=r"its file system has no locks"):
        asyncio.run(fill(path))


def test_an_error_of_a_disk_that_is_gone_is_explained(tmp_path: Path) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    assert "disk I/O error" in str(failures.to_profile_error(tmp_path / "gone" / "profile.db", error))


@pytest.mark.parametrize("name", ["~nosuchuser/profile.db", "loop.db", "x" * 5000 + ".db"])
@in_loop
async def test_a_path_that_cannot_be_followed_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop.db").symlink_to(tmp_path / "loop.db")
    path = name if name.startswith("~") else str(tmp_path / name)
    with pytest.raises(hatbox.ProfileError, match="another path"):
        await hatbox.open(path)


@in_loop
async def test_a_log_of_changes_that_cannot_be_read_is_told_as_damage(path: Path) -> None:
    async with hatbox.open(path) as profile:
        profile.identities.on_created.add_listener(print)
        with edited(path) as connection:
            connection.execute(
                "INSERT INTO changes (at, logged, changes, program, process, machine, checksum) "
                "VALUES (0, 0, x'67', '', 0, '', 0)"
            )
        with pytest.raises(hatbox.ProfileCorrupt):
            await profile.identities.create("a", color="red", icon="pet")


def test_a_profile_owns_its_files_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "profile.db")
    (tmp_path / "profile.db").touch()
    own = ["", "-wal", "-shm", "-journal", "-lock", "-engine", "-engine.log", "-process-7-0123456789ab"]
    for store in (SqliteStore(tmp_path / "profile.db"), SqliteStore(tmp_path / "link.db")):
        assert all(store.owns_file(tmp_path / f"profile.db{each}") for each in own)
        assert store.owns_file(tmp_path / "folder" / ".." / "profile.db-wal")
        assert store.owns_file(tmp_path / "link.db")
        for other in ("profile.dbx", "profile.db-cookies.txt", "profile.db.bak", "-wal", "folder/profile.db"):
            assert not store.owns_file(tmp_path / other)


@in_loop
async def test_a_profile_that_another_process_has_just_created_is_not_missing(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile:
        await profile.identities.create("Travel", color="red", icon="pet")
        assert path.with_name("profile.db-wal").exists()
        assert not files.create_profile(path, create_tables)
        assert len(await profile.identities.query()) == 5
