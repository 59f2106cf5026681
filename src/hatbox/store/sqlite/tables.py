"""The SQL of each table. Runs inside the transaction that somebody else began."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from hatbox.store.base import Change, CookieKey, CookieRow, IdentityRow
from hatbox.store.sqlite.extension_table import SqliteExtensionTable
from hatbox.store.sqlite.package_table import SqlitePackageTable
from hatbox.store.sqlite.tab_tables import SqliteSiteDataTable, SqliteTabTable, SqliteWindowTable

__all__ = ["SqliteChangeLog", "SqliteCookieTable", "SqliteIdentityTable", "SqliteTransaction"]

_GAP: Final = 2**20  # between the positions of neighbours, so that a move seldom renumbers the others
_ROW: Final = "id, name, icon, color, hidden"
_ORDER: Final = "ORDER BY position, id"
_GET: Final = f"SELECT {_ROW} FROM identities WHERE id = ?"
_DAY: Final = 24 * 60 * 60 * 1000


class SqliteIdentityTable:
    """IdentityTable on SQLite. The user's order is that of `position`, whose values have gaps for others to move in."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self._executemany = connection.executemany
        self._cursor = connection.cursor()

    def get(self, number: int) -> IdentityRow | None:
        # With a cursor that is there already: this is the read that there are the most of.
        row: IdentityRow | None = self._cursor.execute(_GET, (number,)).fetchone()
        return row

    def find(self, name: str | None = None) -> list[IdentityRow]:
        if name is None:
            return self._execute(f"SELECT {_ROW} FROM identities {_ORDER}").fetchall()
        return self._execute(f"SELECT {_ROW} FROM identities WHERE name = ? {_ORDER}", (name,)).fetchall()

    def names(self, limit: int) -> list[str]:
        return [name for (name,) in self._execute("SELECT DISTINCT name FROM identities LIMIT ?", (limit,))]

    def count(self) -> int:
        (count,) = self._execute("SELECT count(*) FROM identities").fetchone()
        return int(count)

    def insert(self, name: str, icon: str, color: str) -> int:
        cursor = self._execute(
            "INSERT INTO identities (name, icon, color, position) VALUES (?, ?, ?, "
            f"(SELECT coalesce(max(position), 0) + {_GAP} FROM identities))",
            (name, icon, color),
        )
        return cursor.lastrowid  # type: ignore[return-value]  # never None after an INSERT

    def update(self, number: int, **changed: str | int) -> None:
        columns = ", ".join(f"{column} = ?" for column in changed)
        self._execute(f"UPDATE identities SET {columns} WHERE id = ?", (*changed.values(), number))

    def delete(self, number: int) -> None:
        self._execute("DELETE FROM identities WHERE id = ?", (number,))

    def move(self, numbers: Sequence[int], position: int) -> None:
        moved = set(numbers)
        order = self._execute(f"SELECT id, position FROM identities {_ORDER}").fetchall()
        block = [number for number, _ in order if number in moved]
        others = [row for row in order if row[0] not in moved]
        span = _GAP * (len(block) + 1)
        before = others[position - 1][1] if position else (others[0][1] if others else 0) - span
        after = others[position][1] if position < len(others) else before + span
        step = (after - before) // (len(block) + 1)
        if step == 0:  # no room is left between these two: number the whole list anew
            ids = [number for number, _ in others]
            block, before, step = [*ids[:position], *block, *ids[position:]], 0, _GAP
        places = ((before + step * (index + 1), number) for index, number in enumerate(block))
        self._executemany("UPDATE identities SET position = ? WHERE id = ?", places)


class SqliteCookieTable:
    """CookieTable on SQLite."""

    _COLUMNS = (
        "domain, host_only, path, name, partition, "
        "value, secure, http_only, same_site, expires, sequence, created, last_access"
    )
    _KEY = "store = ? AND domain = ? AND host_only = ? AND path = ? AND name = ? AND partition = ?"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self._executemany = connection.executemany

    def load(self, store: int) -> list[CookieRow]:
        return self._execute(f"SELECT {self._COLUMNS} FROM cookies WHERE store = ?", (store,)).fetchall()

    def find(
        self, store: int, *, name: str | None = None, domains: Sequence[str] | None = None, below: str | None = None
    ) -> list[CookieRow]:
        conditions, values = self._of_store(store, below)
        if domains is not None:
            conditions += f" AND domain IN ({', '.join('?' * len(domains))})"
            values += domains
        if name is not None:
            conditions += " AND name = ?"
            values.append(name)
        return self._execute(f"SELECT {self._COLUMNS} FROM cookies WHERE {conditions}", values).fetchall()

    def count(self, store: int, below: str | None = None) -> int:
        conditions, values = self._of_store(store, below)
        (count,) = self._execute(f"SELECT count(*) FROM cookies WHERE {conditions}", values).fetchone()
        return int(count)

    def _of_store(self, store: int, below: str | None) -> tuple[str, list[object]]:
        if below is None:
            return "store = ?", [store]
        tail = f".{below}"
        return "store = ? AND (domain = ? OR substr(domain, ?) = ?)", [store, below, -len(tail), tail]

    def put(self, store: int, rows: Iterable[CookieRow]) -> None:
        marks = ", ".join("?" * 14)
        statement = f"INSERT OR REPLACE INTO cookies (store, {self._COLUMNS}) VALUES ({marks})"
        self._executemany(statement, ((store, *row) for row in rows))

    def delete(self, store: int, keys: Iterable[CookieKey]) -> None:
        self._executemany(f"DELETE FROM cookies WHERE {self._KEY}", ((store, *key) for key in keys))

    def clear(self, store: int) -> None:
        self._execute("DELETE FROM cookies WHERE store = ?", (store,))

    def touch(self, store: int, used: Iterable[tuple[float, CookieKey]]) -> None:
        statement = f"UPDATE cookies SET last_access = ? WHERE {self._KEY}"
        self._executemany(statement, ((when, store, *key) for when, key in used))


class SqliteChangeLog:
    """ChangeLog on SQLite: one row for each commit, with all changes that it brought.

    Rows are kept for a day: whoever follows reads them within a fraction of a second.
    """

    _PRUNE_EVERY = 256
    _PRUNE_AT_MOST = 10_000

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self.appended: list[tuple[str, msgspec.Raw]] = []
        """What has been noted in the transaction that is under way."""

    def append(self, topic: str, payload: bytes) -> None:
        self.appended.append((topic, msgspec.Raw(payload)))

    def write(self) -> int:
        """Write the row of the transaction that is under way; returns its number."""
        now = time.time_ns() // 1_000_000
        cursor = self._execute("INSERT INTO changes (at, changes) VALUES (?, ?)", (now, _encode(self.appended)))
        sequence: int = cursor.lastrowid  # type: ignore[assignment]  # never None after an INSERT
        if sequence % self._PRUNE_EVERY == 0:
            self._prune(now - _DAY)
        return sequence

    def after(self, sequence: int) -> list[tuple[int, list[Change]]]:
        """The rows that followed the one with this number."""
        rows = self._execute("SELECT sequence, changes FROM changes WHERE sequence > ?", (sequence,))
        try:
            return [(number, [Change(topic, bytes(raw), None) for topic, raw in _decode(row)]) for number, row in rows]
        except msgspec.DecodeError as error:
            corrupt = sqlite3.DatabaseError("the log of changes cannot be read")
            corrupt.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise corrupt from error

    def latest(self) -> int:
        """The number of the newest row; 0 when there is none."""
        (sequence,) = self._execute("SELECT coalesce(max(sequence), 0) FROM changes").fetchone()
        return int(sequence)

    def _prune(self, before: int) -> None:
        self._execute(
            "DELETE FROM changes WHERE sequence < min("
            "(SELECT sequence FROM changes WHERE at >= ? ORDER BY sequence LIMIT 1), "
            "(SELECT min(sequence) FROM changes) + ?)",
            (before, self._PRUNE_AT_MOST),
        )


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[tuple[str, msgspec.Raw]]).decode


class SqliteTransaction:
    """Transaction on one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.identities = SqliteIdentityTable(connection)
        self.cookies = SqliteCookieTable(connection)
        self.tabs = SqliteTabTable(connection)
        self.windows = SqliteWindowTable(connection)
        self.site_data = SqliteSiteDataTable(connection)
        self.extensions = SqliteExtensionTable(connection)
        self.packages = SqlitePackageTable(connection)
        self.changes = SqliteChangeLog(connection)
