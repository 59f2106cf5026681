"""The table of removed identities. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from hatbox.store.base import TrashRow
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.rows_by_id import among, id_parts

__all__ = ["SqlTrashTable"]

_COLUMNS: Final = ", ".join(TrashRow._fields)


class SqlTrashTable:
    """TrashTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def find(self, user_context_ids: Collection[int] | None = None) -> list[TrashRow]:
        if user_context_ids is None:
            return [TrashRow._make(row) for row in self._rows.select(_COLUMNS, "ORDER BY removed, id")]
        parts = id_parts(user_context_ids)
        rows = [TrashRow._make(row) for part in parts for row in self._rows.select(_COLUMNS, among(part), part)]
        return sorted(rows, key=lambda row: (row.removed, row.id))

    def count(self) -> int:
        ((count,),) = self._rows.select("count(*)")
        return int(count)

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
