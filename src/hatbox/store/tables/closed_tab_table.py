"""The table of recently closed tabs. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection

from hatbox.store.record_tables import ClosedTabRow
from hatbox.store.tables.rows import Rows

__all__ = ["SqlClosedTabTable"]


class SqlClosedTabTable:
    """ClosedTabTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def find(self, sessions: Collection[int]) -> list[ClosedTabRow]:
        if not sessions:
            return []
        found = self._rows.find(f"WHERE session IN ({', '.join('?' * len(sessions))}) ORDER BY id", (*sessions,))
        return [ClosedTabRow._make(row) for row in found]

    def sessions(self) -> list[int]:
        return [int(session) for (session,) in self._rows.select("session", "GROUP BY session ORDER BY session")]

    def insert(self, session: int | None, store: int, closed: float, data: bytes) -> int:
        ((last,),) = self._rows.select("coalesce(max(id), 0)")
        number = max(int(last) + 1, int(closed * 1_000_000))  # as in the history: without a counter
        self._rows.insert((number, number if session is None else session, store, closed, data))
        return number if session is None else session

    def delete(self, sessions: Collection[int]) -> None:
        for session in sessions:
            self._rows.delete("session = ?", (session,))

    def clear(self, store: int | None = None) -> None:
        if store is None:
            self._rows.delete("store >= ?", (0,))
        else:
            self._rows.delete("store = ?", (store,))
