"""The table of removed identities. Runs inside a transaction of the caller."""

from __future__ import annotations

from typing import Final

from hatbox.store.base import TrashRow
from hatbox.store.tables.rows import Rows

__all__ = ["SqlTrashTable"]

_COLUMNS: Final = ", ".join(TrashRow._fields)


class SqlTrashTable:
    """TrashTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def find(self) -> list[TrashRow]:
        return [TrashRow._make(row) for row in self._rows.select(_COLUMNS, "ORDER BY removed, id")]

    def get(self, user_context_id: int) -> tuple[TrashRow, bytes] | None:
        row = self._rows.get(user_context_id)
        return None if row is None else (TrashRow._make(row[:-1]), row[-1])

    def size(self, user_context_id: int) -> int | None:
        found = self._rows.select("size", "WHERE id = ?", (user_context_id,))
        return int(found[0][0]) if found else None

    def put(self, row: TrashRow, data: bytes) -> None:
        self._rows.put([(*row, data)])

    def delete(self, user_context_id: int) -> None:
        self._rows.delete("id = ?", (user_context_id,))

    def total_bytes(self) -> int:
        ((total,),) = self._rows.select("CAST(coalesce(sum(size), 0) AS BIGINT)")
        return int(total)
