"""A copy of a database is what SQLite reads from the files, without a file that a killed process would leave."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
from fnmatch import fnmatch
from pathlib import Path

import pytest

from hatbox import new_files
from hatbox.formats.database_copy import copied_database

Rows = list[tuple[int, int]]


def rows(connection: sqlite3.Connection) -> Rows | str:
    try:
        return [tuple(row) for row in connection.execute("SELECT id, length(value) FROM cookies ORDER BY id")]
    except sqlite3.Error as error:
        return str(error)


def unfinished(path: Path, mode: str) -> Path:
    """A database with a journal, as a killed process leaves it: a commit that is in progress was written in part."""
    chance = random.Random(7)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE cookies (id INTEGER PRIMARY KEY, value TEXT)")
        connection.execute("PRAGMA cache_size = 4")
        for number in range(12):
            connection.execute("BEGIN")
            for _ in range(20):
                value = "v" * chance.randrange(900)
                connection.execute("INSERT OR REPLACE INTO cookies VALUES (?, ?)", (chance.randrange(300), value))
            connection.execute("DELETE FROM cookies WHERE id % 11 = ?", (number,))
            connection.execute("COMMIT")
        connection.execute("BEGIN")
        connection.execute("UPDATE cookies SET value = value || 'new'")
        connection.execute("INSERT INTO cookies SELECT id + 1000, value FROM cookies")
        copy = path.with_name("copy")
        for end in ("", "-wal", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copy(f"{path}{end}", f"{copy}{end}")
    return copy


@pytest.mark.parametrize(("mode", "end"), [("WAL", "-wal"), ("DELETE", "-journal")])
def test_a_journal_that_ends_anywhere_is_read_as_sqlite_reads_it(mode: str, end: str, tmp_path: Path) -> None:
    path = unfinished(tmp_path / "Cookies", mode)
    journal = Path(f"{path}{end}")
    whole = journal.read_bytes()
    step = len(whole) // 9 + 1
    found: set[str] = set()
    for cut in (*range(0, len(whole), step), len(whole)):
        for flipped in (None, cut // 2):
            damaged = bytearray(whole[:cut])
            if flipped:
                damaged[flipped] ^= 1
            journal.write_bytes(damaged)
            with copied_database(path, "Firefox") as connection:
                copied = rows(connection)
            expected = tmp_path / "expected"
            shutil.copy(path, expected)
            Path(f"{expected}{end}").write_bytes(damaged)
            with contextlib.closing(sqlite3.connect(expected)) as connection:
                assert copied == rows(connection), (cut, flipped)
            found.add(str(copied))
            for file in tmp_path.glob("expected*"):
                file.unlink()
    assert len(found) > 3


def test_a_killed_import_leaves_an_empty_folder_in_which_others_can_put_no_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unfinished(tmp_path / "Cookies", "WAL")
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    abandoned = new_files.draft_path(folder)
    abandoned.mkdir()
    os.utime(abandoned, (0, 0))
    with copied_database(path, "Firefox") as connection:
        assert connection.execute("SELECT count(*) FROM cookies").fetchone()[0]
        (private,) = folder.iterdir()
        assert fnmatch(private.name, new_files.DRAFT_PATTERN), "the next one removes it"
        if os.name == "posix":
            assert list(private.iterdir()) == []
            assert private.stat().st_mode & 0o777 == 0o700
        (_, _, name) = connection.execute("PRAGMA database_list").fetchone()
        assert Path(name).parent == private, "where SQLite finds journals"
    assert list(folder.iterdir()) == []
