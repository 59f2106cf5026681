"""The table of identities. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hatbox.store.base import IdentityRow
from hatbox.store.tables.counters import Counters
from hatbox.store.tables.rows import Rows

__all__ = ["SqlIdentityTable"]

_GAP: Final = 2**20  # between the positions of neighbours, so that a move seldom renumbers the others
_ORDER: Final = "ORDER BY position, id"


class SqlIdentityTable:
    """IdentityTable in SQL. The user's order is that of `position`, whose values have gaps for moved rows."""

    def __init__(self, rows: Rows, counters: Counters) -> None:
        self._rows = rows
        self._counters = counters

    def get(self, user_context_id: int) -> IdentityRow | None:
        row = self._rows.get(user_context_id)
        return None if row is None else row[:5]

    def find(self, name: str | None = None) -> list[IdentityRow]:
        found = self._rows.find(f"WHERE name = ? {_ORDER}", (name,)) if name is not None else self._rows.find(_ORDER)
        return [row[:5] for row in found]

    def names(self, limit: int) -> list[str]:
        return [name for (name,) in self._rows.select("DISTINCT name", "LIMIT ?", (limit,))]

    def count(self) -> int:
        ((count,),) = self._rows.select("count(*)")
        return int(count)

    def insert(self, name: str, icon: str, color: str) -> int:
        ((last,),) = self._rows.select("coalesce(max(position), 0)")
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
