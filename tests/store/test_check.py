"""What is damaged is listed, and nothing is changed (store/sqlite/check.py)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

import hatbox
from hatbox.errors import NotAProfile, ProfileError, ProfileTooNew
from hatbox.store.check_results import Report
from hatbox.store.sqlite.check import Examination, check
from tests.marks import starts
from tests.store.fuzz import make
from tests.store.in_loop import in_loop
from tests.store.sealing import edited

PROFILES = Path(__file__).with_name("profiles")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("check") / "closed", "database")


@pytest.fixture(scope="module")
@starts("process")
def unclean_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("check") / "unclean", "log")


@pytest.fixture
def path(source: Path, tmp_path: Path) -> Path:
    return copied(source, tmp_path)


def copied(source: Path, folder: Path) -> Path:
    for file in filter(Path.is_file, source.parent.iterdir()):
        shutil.copyfile(file, folder / file.name)
    return folder / source.name


def files(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}


def change(path: Path, statement: str) -> None:
    """Change the database without the checksums, as damage does."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(statement)
        connection.commit()


def places(report: Report) -> list[str]:
    return sorted({place for place, _ in report.problems})


def test_a_sound_profile_has_no_problems_and_its_rows_are_counted(path: Path) -> None:
    before = files(path)
    report = check(path)
    assert report.is_sound
    assert report.notes == ()
    assert report.rows["identities"] == 16
    assert report.rows["windows"] == 12
    assert report.rows["head"] == 1
    assert files(path) == before


@pytest.mark.parametrize(
    "table, statement",
    [
        ("identities", "UPDATE identities SET color = 'blue' WHERE id = 6"),
        ("cookies", "UPDATE cookies SET value = 'other' WHERE rowid IN (SELECT 1) OR name = 'name3'"),
        ("windows", "UPDATE windows SET title_preface = 'x' WHERE id = 1"),
        ("tabs", "UPDATE tabs SET url = 'https://evil.example/' WHERE id = 2"),
        ("tab_pages", "UPDATE tab_pages SET page = x'00' WHERE tab = 2"),
        ("site_data", "UPDATE site_data SET data = x'0102' WHERE store = 1"),
        ("extension_data", "UPDATE extension_data SET value = x'7b7d' WHERE sequence = 1"),
        ("head", "UPDATE head SET logged = logged + 1"),
    ],
)
def test_a_changed_value_is_reported_with_its_table(path: Path, table: str, statement: str) -> None:
    change(path, statement.replace("rowid IN (SELECT 1) OR ", ""))
    report = check(path)
    assert places(report) == [f"table {table}"]
    assert all("has a wrong checksum" in problem for _, problem in report.problems)


def test_text_that_is_not_utf_8_is_reported_and_the_other_rows_are_checked(path: Path) -> None:
    change(path, "UPDATE identities SET name = CAST(x'ff41' AS TEXT) WHERE id = 6")
    change(path, "UPDATE identities SET icon = 'tree' WHERE id = 8")
    rows = [problem for place, problem in check(path).problems if place == "table identities"]
    assert len(rows) == 2


def test_a_table_without_an_index_entry_is_reported(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = NULL, type = 'gone' WHERE name = 'identities_by_name'")
        connection.commit()
    assert not check(path).is_sound


def test_a_changed_schema_is_reported(path: Path) -> None:
    change(path, "UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', 'NOT  NULL') WHERE name = 'tabs'")
    assert "schema" in places(check(path))


def test_a_counter_that_would_give_a_number_twice_is_reported(path: Path) -> None:
    change(path, "UPDATE head SET identities = 3")
    problems = [problem for _, problem in check(path).problems]
    assert "the last number of identities is 3, but a row has 17" in problems


def test_a_program_that_writes_meanwhile_is_no_damage(path: Path) -> None:
    with (
        contextlib.closing(sqlite3.connect(path)) as connection,
        contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):

        def create(statement: str) -> None:
            if "max(" in statement or "FROM head LIMIT" in statement:
                other.executescript(
                    "BEGIN; UPDATE head SET identities = identities + 1;"
                    "UPDATE identities SET id = id + 1 WHERE id = (SELECT max(id) FROM identities); COMMIT"
                )

        connection.set_trace_callback(create)
        examination = Examination(path, connection)
        examination.run()
    assert examination.problems == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tab_counts SET tabs = tabs + 1 WHERE window = 1",
        "UPDATE tab_counts SET pinned = 1 WHERE window = 2",
        "DELETE FROM tab_counts WHERE window = 3",
        "DELETE FROM tabs WHERE id = 2",
    ],
)
def test_counts_that_are_not_those_of_the_tabs_are_reported(path: Path, statement: str) -> None:
    with edited(path) as connection:
        connection.execute(statement)
    assert places(check(path)) == ["table tab_counts"]


def test_a_missing_head_row_is_reported(path: Path) -> None:
    change(path, "DELETE FROM head")
    assert places(check(path)) == ["table head"]


def test_rows_that_a_page_lost_are_reported(path: Path) -> None:
    """A smaller count of cells in the header of a page: SQLite reads fewer rows, and complains of nothing."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'windows'").fetchone()
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096 + 4)
        (cells,) = file.read(1)
        assert cells == 12
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([cells - 5]))
    before = files(path)
    assert "database" in places(check(path))
    assert files(path) == before


def test_an_unclean_end_is_no_damage_and_stays_as_it_is(unclean_source: Path, tmp_path: Path) -> None:
    path = copied(unclean_source, tmp_path)
    path.with_name(f"{path.name}-shm").unlink()
    before = files(path)
    report = check(path)
    assert report.is_sound
    assert report.rows["identities"] == 16
    assert files(path) == before


def test_a_damaged_log_is_reported_and_stays_as_it_is(unclean_source: Path, tmp_path: Path) -> None:
    path = copied(unclean_source, tmp_path)
    log = path.with_name(f"{path.name}-wal")
    with log.open("r+b") as file:
        file.seek(5000)
        file.write(b"damage")
    before = files(path)
    report = check(path)
    assert places(report) == ["write-ahead log"]
    assert files(path) == before


@in_loop
async def test_a_profile_that_is_open_is_checked_beside_its_users(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.create("new", color="red", icon="pet")
        report = await asyncio.to_thread(check, path)
        assert report.is_sound
        assert report.rows["identities"] == 17
        assert "another program has the profile open" in report.notes[0]
        await profile.identities.create("and goes on", color="red", icon="pet")
    assert check(path).rows["identities"] == 18


def test_more_damage_than_anyone_reads_is_counted(path: Path) -> None:
    change(path, "UPDATE cookies SET value = 'other'")
    report = check(path)
    assert len(report.problems) == 100
    assert "more problems are not listed" in report.notes[-1]


def test_a_file_that_is_no_profile_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    with pytest.raises(ProfileError, match="does not exist"):
        check(other)
    other.write_text("not a database")
    with pytest.raises(NotAProfile):
        check(other)
    assert other.read_text() == "not a database"
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_newer_profile_is_refused(path: Path) -> None:
    change(path, "PRAGMA user_version = 999")
    with pytest.raises(ProfileTooNew):
        check(path)


@pytest.mark.parametrize("version", range(1, 5))
def test_a_profile_of_an_earlier_format_is_checked_and_not_upgraded(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript((PROFILES / f"v{version}.sql").read_text("utf-8"))
        connection.execute("PRAGMA journal_mode = WAL")
    before = files(path)
    report = check(path)
    assert report.is_sound, report
    assert report.format == version
    assert "no checksums" in report.notes[0]
    assert files(path) == before
