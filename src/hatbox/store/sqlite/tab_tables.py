"""The SQL of the tables of tabs, windows and what sites keep. Runs inside the transaction that somebody else began."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

from hatbox.store.base import TabRow, WindowRow

__all__ = ["SqliteSiteDataTable", "SqliteTabTable", "SqliteWindowTable"]


def _columns(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)  # quoted: "left" is a word of SQL


def _assignments(changed: Mapping[str, object]) -> str:
    return ", ".join(f'"{name}" = ?' for name in changed)


class SqliteTabTable:
    """TabTable on SQLite."""

    _SELECT: Final = f"SELECT {_columns(TabRow._fields)} FROM tabs"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self._executemany = connection.executemany

    def get(self, tab: int) -> TabRow | None:
        row = self._execute(f"{self._SELECT} WHERE id = ?", (tab,)).fetchone()
        return TabRow._make(row) if row else None

    def find(self, *, window: int | None = None, store: int | None = None) -> list[TabRow]:
        wanted = {name: value for name, value in (("window", window), ("store", store)) if value is not None}
        conditions = " AND ".join(f"{name} = ?" for name in wanted) or "true"
        rows = self._execute(f"{self._SELECT} WHERE {conditions} ORDER BY window, position", tuple(wanted.values()))
        return list(map(TabRow._make, rows))

    def insert(self, window: int, position: int, store: int, **fields: str | int | float | None) -> int:
        values = {"window": window, "position": position, "store": store, **fields}
        marks = ", ".join("?" * len(values))
        cursor = self._execute(f"INSERT INTO tabs ({_columns(values)}) VALUES ({marks})", tuple(values.values()))
        return cursor.lastrowid  # type: ignore[return-value]  # never None after an INSERT

    def update(self, tab: int, **changed: str | int | float | None) -> None:
        self._execute(f"UPDATE tabs SET {_assignments(changed)} WHERE id = ?", (*changed.values(), tab))

    def delete(self, tab: int) -> None:
        self._execute("DELETE FROM tabs WHERE id = ?", (tab,))

    def place(self, order: Iterable[tuple[int, int]]) -> None:
        self._executemany("UPDATE tabs SET position = ? WHERE id = ?", ((position, tab) for tab, position in order))

    def page(self, tab: int) -> bytes | None:
        row = self._execute("SELECT page FROM tabs WHERE id = ?", (tab,)).fetchone()
        return row[0] if row else None

    def keep_page(self, tab: int, page: bytes) -> None:
        self._execute("UPDATE tabs SET page = ? WHERE id = ?", (page, tab))


class SqliteWindowTable:
    """WindowTable on SQLite. Each time a window gets the focus, its `focused` becomes the highest of all."""

    _SELECT: Final = f"SELECT {_columns(WindowRow._fields)} FROM windows"
    _NEXT: Final = "(SELECT coalesce(max(focused), 0) + 1 FROM windows)"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def get(self, window: int) -> WindowRow | None:
        row = self._execute(f"{self._SELECT} WHERE id = ?", (window,)).fetchone()
        return WindowRow._make(row) if row else None

    def find(self) -> list[WindowRow]:
        return list(map(WindowRow._make, self._execute(f"{self._SELECT} ORDER BY id")))

    def last_focused(self) -> WindowRow | None:
        row = self._execute(f"{self._SELECT} ORDER BY focused DESC, id LIMIT 1").fetchone()
        return WindowRow._make(row) if row else None

    def insert(self, **fields: str | int | None) -> int:
        names, marks = _columns(fields), ", ".join("?" * len(fields))
        values = f"({names}) VALUES ({marks})" if fields else "DEFAULT VALUES"
        cursor = self._execute(f"INSERT INTO windows {values}", tuple(fields.values()))
        return cursor.lastrowid  # type: ignore[return-value]  # never None after an INSERT

    def update(self, window: int, **changed: str | int | None) -> None:
        self._execute(f"UPDATE windows SET {_assignments(changed)} WHERE id = ?", (*changed.values(), window))

    def delete(self, window: int) -> None:
        self._execute("DELETE FROM windows WHERE id = ?", (window,))

    def focus(self, window: int) -> None:
        self._execute(f"UPDATE windows SET focused = {self._NEXT} WHERE id = ?", (window,))


class SqliteSiteDataTable:
    """SiteDataTable on SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def load(self, store: int) -> list[tuple[str, bytes]]:
        return self._execute("SELECT origin, data FROM site_data WHERE store = ? ORDER BY origin", (store,)).fetchall()

    def put(self, store: int, origin: str, data: bytes) -> None:
        self._execute("INSERT OR REPLACE INTO site_data (store, origin, data) VALUES (?, ?, ?)", (store, origin, data))

    def delete(self, store: int, origin: str) -> None:
        self._execute("DELETE FROM site_data WHERE store = ? AND origin = ?", (store, origin))

    def clear(self, store: int) -> None:
        self._execute("DELETE FROM site_data WHERE store = ?", (store,))
