"""The table of the high-water time of cookies: one row. Runs inside a transaction of the caller."""

from __future__ import annotations

from hatbox.store.base import CookieTimeRow
from hatbox.store.tables.rows import Rows

__all__ = ["SqlCookieTimeTable"]


class SqlCookieTimeTable:
    """CookieTimeTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def get(self) -> CookieTimeRow | None:
        row = self._rows.get(1)
        return None if row is None else row[:3]

    def put(self, reached: float, before: float | None, landed: float | None) -> None:
        self._rows.put([(float(reached), _float(before), _float(landed), 1)])


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)
