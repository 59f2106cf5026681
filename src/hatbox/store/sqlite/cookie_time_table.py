"""The SQL of the high-water time of cookies: one row. Runs inside the transaction that somebody else began."""

from __future__ import annotations

import sqlite3

from hatbox.store.base import CookieTimeRow

__all__ = ["SqliteCookieTimeTable"]


class SqliteCookieTimeTable:
    """CookieTimeTable on SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self._cursor = connection.cursor()

    def get(self) -> CookieTimeRow | None:
        # With a cursor that exists already: this is part of every cookie query of a script.
        row: CookieTimeRow | None = self._cursor.execute("SELECT reached, before, landed FROM cookie_time").fetchone()
        return row

    def put(self, reached: float, before: float | None, landed: float | None) -> None:
        self._execute(
            "INSERT OR REPLACE INTO cookie_time (id, reached, before, landed) VALUES (1, ?, ?, ?)",
            (reached, before, landed),
        )
