"""A disk that fails to read for a moment does not damage a profile. SQLite reports such an error as damage."""

from __future__ import annotations

import asyncio
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.store.sqlite.check import check
from tests.store.in_loop import in_loop

_connect = sqlite3.connect


class Disk:
    """Lets one statement fail: that with this number."""

    fails = -1

    def read(self, sql: str) -> None:
        if sql.startswith(("PRAGMA busy_timeout", "COMMIT", "ROLLBACK")):
            return  # these read nothing
        self.fails -= 1
        if self.fails == 0:
            error = sqlite3.DatabaseError("database disk image is malformed")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()

    class Cursor(sqlite3.Cursor):
        def execute(self, sql: str, *values: Any) -> Any:
            disk.read(sql)
            return super().execute(sql, *values)

    class Connection(sqlite3.Connection):
        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

        def execute(self, sql: str, *values: Any) -> Any:
            return self.cursor().execute(sql, *values)

    monkeypatch.setattr(sqlite3, "connect", partial(_connect, factory=Connection))
    return disk


@in_loop
async def test_a_statement_that_fails_once_is_run_again(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path):
        pass
    for number in range(1, 60):
        disk.fails = number
        async with hatbox.open(path) as profile:
            await profile.identities.query()
            await profile.identities.create(f"{number}", color="red", icon="pet")
    assert len(await asyncio.to_thread(_names, path)) == 4 + 59


def test_damage_is_reported_if_it_is_found_twice(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "profile.db"
    with hatbox.open_sync(path):
        pass
    notes: set[str] = set()
    for number in range(1, 60, 5):
        disk.fails = number
        report = check(path)
        assert not report.problems
        notes.update(report.notes)
    assert any("not found again" in note for note in notes)


def _names(path: Path) -> list[str]:
    with hatbox.open_sync(path) as profile:
        return [each.name for each in profile.identities.query()]
