"""An older copy that is put in the place of a profile is not mixed with the WAL that is beside it."""

# ruff: noqa: ASYNC240 - these tests are about files

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import hatbox
from hatbox.store.sqlite import writer
from hatbox.store.sqlite.check import check
from hatbox.store.sqlite.profile_file import ProfileFile, open_profile
from hatbox.store.sqlite.wal import damage_in
from tests.store.in_loop import in_loop
from tests.waiting import until

OTHER_PROGRAM = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(sys.argv[2])
connection.execute("SELECT * FROM head").fetchall()
print("open", flush=True)
sys.stdin.read()
"""


@in_loop
async def test_a_copy_beside_the_log_of_a_killed_program_is_refused_and_opens_without_the_log(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    wal = tmp_path / "profile.db-wal"
    old = await _created(path, "old")
    await _created(path, "between")
    async with hatbox.open(path) as profile:
        await profile.identities.create("new", color="red", icon="pet")
        killed = path.read_bytes(), wal.read_bytes()
    for database, names in ((killed[0], ["old", "between", "new"]), (old, ["old"])):
        path.write_bytes(database)
        wal.write_bytes(killed[1])
        if database is old:
            with pytest.raises(hatbox.ProfileCorrupt, match="not the file that its write-ahead log"):
                await hatbox.open(path)
            assert "older copy" in check(path).problems[0].problem
            assert (path.read_bytes(), wal.read_bytes()) == (old, killed[1])
            wal.unlink()
        assert await _names(path) == names


@in_loop
async def test_each_log_of_two_programs_has_a_number_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    numbers = []
    async with hatbox.open(path) as one, hatbox.open(path) as other:
        for number, program in enumerate((one, other, one, other)):
            await program.identities.create(f"{number}", color="red", icon="pet")
            with contextlib.closing(sqlite3.connect(path)) as connection:  # as the maintenance of either
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            numbers.append(_number(path))
    assert [(each - numbers[0]) % 2**23 for each in numbers] == [0, 1, 2, 3]


@in_loop
async def test_a_copy_that_is_put_in_place_of_an_open_profile_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    old = await _created(path, "old")
    await _created(path, "between")
    async with hatbox.open(path) as profile:
        assert await profile.identities.query(name="between")
        path.write_bytes(old)  # the file stays the same one, as with cp
        for _ in range(2):
            with pytest.raises(hatbox.ProfileError, match="replaced while it was open"):
                await profile.identities.create("new", color="red", icon="pet")
    assert await _names(path) == ["old"]


def test_a_log_that_sqlite_starts_again_without_truncating_it_has_a_number_of_its_own(tmp_path: Path) -> None:
    path, wal = tmp_path / "profile.db", tmp_path / "profile.db-wal"
    file = open_profile(path)
    older = path.read_bytes()
    for size in (5_000_000, 0, 0):
        file.begin(writes=True)
        file.connection.execute("CREATE TABLE IF NOT EXISTS large (content)")
        file.connection.execute("INSERT INTO large VALUES (?)", (bytes(size),))
        file.connection.execute("COMMIT")
        if size:
            assert wal.stat().st_size > size
    assert wal.stat().st_size < 100_000, "it was started again"
    killed = path.read_bytes(), wal.read_bytes()
    file.close()
    for database, is_sound in ((killed[0], True), (older, False)):
        path.write_bytes(database)
        wal.write_bytes(killed[1])
        assert (damage_in(path) is None) == is_sound


def test_a_log_that_a_reader_did_not_let_be_truncated_is_not_started_again_unnumbered(tmp_path: Path) -> None:
    path, wal = tmp_path / "profile.db", tmp_path / "profile.db-wal"
    file = open_profile(path)
    older = path.read_bytes()
    _write(file, "CREATE TABLE first (content)")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM first").fetchall()
        assert not file.truncate_log()
    _write(file, "CREATE TABLE second (content)")
    killed = wal.read_bytes()
    assert file.truncate_log()
    file.close()
    path.write_bytes(older)
    wal.write_bytes(killed)
    if damage_in(path) is None:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("SELECT * FROM first JOIN second").fetchall()
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@in_loop
async def test_maintenance_numbers_the_log_into_which_it_moves_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_IDLE_SECONDS", 0.01)
    path = tmp_path / "profile.db"
    await _created(path, "old")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE large (content)")
        connection.execute("INSERT INTO large VALUES (?)", (bytes(20_000),))
        connection.execute("DROP TABLE large")
    number, size = _number(path), path.stat().st_size
    async with hatbox.open(path):
        await until(lambda: path.stat().st_size <= size - 20_000)
    assert _number(path) == number + 1


def test_only_an_empty_log_is_compared_with_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "profile.db"
    file = open_profile(path)
    _write(file, "CREATE TABLE large AS SELECT zeroblob(5000000) AS content")
    monkeypatch.setattr(file, "_check_content", lambda: pytest.fail("opened another connection"))
    _write(file, "UPDATE head SET changes = changes + 1")
    file.close()


@pytest.mark.process
@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
@pytest.mark.parametrize("is_writing", [False, True])
def test_the_log_of_a_killed_program_is_checked_while_another_program_reads(tmp_path: Path, is_writing: bool) -> None:
    path, wal = tmp_path / "profile.db", tmp_path / "profile.db-wal"
    file = open_profile(path)
    older = path.read_bytes()
    for number in (1, 2):
        _write(file, "UPDATE head SET changes = changes + 1")
        if number == 1:
            file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    killed = wal.read_bytes()
    file.close()
    path.write_bytes(older)
    wal.write_bytes(killed)
    begin = "BEGIN IMMEDIATE" if is_writing else "BEGIN"
    program = [sys.executable, "-c", OTHER_PROGRAM, str(path), begin]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"open\n"
        assert (damage_in(path) is None) == is_writing
        if not is_writing:
            with pytest.raises(hatbox.ProfileCorrupt, match="not the file that its write-ahead log"):
                open_profile(path)
            assert "older copy" in check(path).problems[0].problem
        other.communicate()


def _write(file: ProfileFile, statement: str) -> None:
    file.begin(writes=True)
    file.connection.execute(statement)
    file.connection.execute("COMMIT")


def _number(path: Path) -> int:
    return int.from_bytes(path.read_bytes()[60:64], "big") >> 8


async def _created(path: Path, name: str) -> bytes:
    """The closed profile, after an identity was created."""
    async with hatbox.open(path) as profile:
        await profile.identities.create(name, color="red", icon="pet")
    return path.read_bytes()


async def _names(path: Path) -> list[str]:
    async with hatbox.open(path) as profile:
        return [identity.name for identity in await profile.identities.query()][4:]
