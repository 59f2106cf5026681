"""The SQL of the high-water time of cookies: one row. Runs inside a transaction of the caller."""

from __future__ import annotations

import sqlite3

from hatbox.store.base import CookieTimeRow
from hatbox.store.sqlite.rows import Rows
from hatbox.store.sqlite.schema import COOKIE_TIME

__all__ = ["SqliteCookieTimeTable"]


class SqliteCookieTimeTable:
    """CookieTimeTable on SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._rows = Rows(connection, COOKIE_TIME)

    def get(self) -> CookieTimeRow | None:
        row = self._rows.get(1)
        return None if row is None else row[:3]

    def put(self, reached: float, before: float | None, landed: float | None) -> None:
        self._rows.put([(float(reached), _float(before), _float(landed), 1)])


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)
