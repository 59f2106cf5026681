"""The SQL of identities and cookies, and the transaction with all tables. Runs inside a transaction of the caller."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from hatbox.store.base import CookieRow, CookieRowKey, IdentityRow, Processes
from hatbox.store.sqlite.change_log import SqliteChangeLog
from hatbox.store.sqlite.cookie_time_table import SqliteCookieTimeTable
from hatbox.store.sqlite.counters import Counters
from hatbox.store.sqlite.extension_table import SqliteExtensionTable
from hatbox.store.sqlite.package_table import SqlitePackageTable
from hatbox.store.sqlite.rows import Rows
from hatbox.store.sqlite.schema import COOKIES, IDENTITIES
from hatbox.store.sqlite.tab_tables import SqliteSiteDataTable, SqliteTabTable, SqliteWindowTable

__all__ = ["SqliteCookieTable", "SqliteIdentityTable", "SqliteTransaction"]

_GAP: Final = 2**20  # between the positions of neighbours, so that a move seldom renumbers the others
_ORDER: Final = "ORDER BY position, id"


class SqliteIdentityTable:
    """IdentityTable on SQLite. The user's order is that of `position`, whose values have gaps for moved rows."""

    def __init__(self, connection: sqlite3.Connection, counters: Counters) -> None:
        self._rows = Rows(connection, IDENTITIES)
        self._counters = counters

    def get(self, user_context_id: int) -> IdentityRow | None:
        row = self._rows.get(user_context_id)
        return None if row is None else row[:5]

    def find(self, name: str | None = None) -> list[IdentityRow]:
        found = self._rows.find(f"WHERE name = ? {_ORDER}", (name,)) if name is not None else self._rows.find(_ORDER)
        return [row[:5] for row in found]

    def names(self, limit: int) -> list[str]:
        return [name for (name,) in self._rows.execute("SELECT DISTINCT name FROM identities LIMIT ?", (limit,))]

    def count(self) -> int:
        (count,) = self._rows.execute("SELECT count(*) FROM identities").fetchone()
        return int(count)

    def insert(self, name: str, icon: str, color: str) -> int:
        (last,) = self._rows.execute("SELECT coalesce(max(position), 0) FROM identities").fetchone()
        user_context_id = self._counters.increment("identities")
        self._rows.insert((user_context_id, name, icon, color, 0, last + _GAP))
        return user_context_id

    def update(self, user_context_id: int, **changed: str | int) -> None:
        self._rows.update((user_context_id,), changed)

    def delete(self, user_context_id: int) -> None:
        self._rows.delete("id = ?", (user_context_id,))

    def move(self, user_context_ids: Sequence[int], position: int) -> None:
        moved = set(user_context_ids)
        order = [(row[0], row[5]) for row in self._rows.find(_ORDER)]
        block = [row[0] for row in order if row[0] in moved]
        others = [row for row in order if row[0] not in moved]
        span = _GAP * (len(block) + 1)
        before = others[position - 1][1] if position else (others[0][1] if others else 0) - span
        after = others[position][1] if position < len(others) else before + span
        step = (after - before) // (len(block) + 1)
        if step == 0:  # no gap is left: renumber the whole list
            ids = [row[0] for row in others]
            block, before, step = [*ids[:position], *block, *ids[position:]], 0, _GAP
        for index, user_context_id in enumerate(block):
            self._rows.update((user_context_id,), {"position": before + step * (index + 1)})


class SqliteCookieTable:
    """CookieTable on SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._rows = Rows(connection, COOKIES)

    def load(self, store: int) -> list[CookieRow]:
        return [row[:13] for row in self._rows.find("WHERE store = ?", (store,))]

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
        return [row[:13] for row in self._rows.find(f"WHERE {conditions}", values)]

    def count(self, store: int, below: str | None = None) -> int:
        conditions, values = self._of_store(store, below)
        (count,) = self._rows.execute(f"SELECT count(*) FROM cookies WHERE {conditions}", values).fetchone()
        return int(count)

    def _of_store(self, store: int, below: str | None) -> tuple[str, list[str | int]]:
        if below is None:
            return "store = ?", [store]
        tail = f".{below}"
        return "store = ? AND (domain = ? OR substr(domain, ?) = ?)", [store, below, -len(tail), tail]

    def put(self, store: int, rows: Iterable[CookieRow]) -> None:
        self._rows.put((*_as_stored(row), store) for row in rows)

    def delete(self, store: int, keys: Iterable[CookieRowKey]) -> None:
        self._rows.delete_keys((store, *key) for key in keys)

    def clear(self, store: int) -> None:
        self._rows.delete("store = ?", (store,))

    def touch(self, store: int, used: Iterable[tuple[float, CookieRowKey]]) -> None:
        for when, key in used:
            self._rows.update((store, *key), {"last_access": float(when)})


def _as_stored(row: CookieRow) -> CookieRow:
    """The row as SQLite returns it: the checksums of 1, 1.0 and True differ."""
    domain, host_only, path, name, partition, value, secure, http_only, same_site, expires, *rest = row
    sequence, created, last_access = rest
    return (
        *(domain, int(host_only), path, name, partition, value, int(secure), int(http_only), same_site),
        None if expires is None else expires + 0.0,  # also turns -0.0, which SQLite does not store, into 0.0
        *(int(sequence), created + 0.0, last_access + 0.0),
    )


class SqliteTransaction:
    """Transaction on one connection."""

    def __init__(self, connection: sqlite3.Connection, processes: Processes) -> None:
        self.counters = Counters(connection)
        self.processes = processes
        self.identities = SqliteIdentityTable(connection, self.counters)
        self.cookies = SqliteCookieTable(connection)
        self.cookie_time = SqliteCookieTimeTable(connection)
        self.tabs = SqliteTabTable(connection, self.counters)
        self.windows = SqliteWindowTable(connection, self.counters)
        self.site_data = SqliteSiteDataTable(connection)
        self.extensions = SqliteExtensionTable(connection)
        self.packages = SqlitePackageTable(connection)
        self.changes = SqliteChangeLog(connection, self.counters)
