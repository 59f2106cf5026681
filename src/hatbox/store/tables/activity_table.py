"""The table of the activity log. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hatbox.store.grant_tables import ActivityRow
from hatbox.store.tables.rows import Rows, Value

__all__ = ["SqlActivityTable"]

_GROUPED: Final = "GROUP BY grant_id, store ORDER BY grant_id, store"


class SqlActivityTable:
    """ActivityTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def latest(
        self,
        limit: int,
        *,
        store: int | None = None,
        grant: str | None = None,
        since: float | None = None,
        before: int | None = None,
    ) -> list[ActivityRow]:
        given: dict[str, Value] = {"store = ?": store, "grant_id = ?": grant, "id < ?": before}
        given["at >= ?"] = None if since is None else float(since)
        chosen = {condition: value for condition, value in given.items() if value is not None}
        where = f"WHERE {' AND '.join(chosen)} " if chosen else ""
        found = self._rows.find(f"{where}ORDER BY id DESC LIMIT ?", (*chosen.values(), limit))
        return [ActivityRow._make(row) for row in found]

    def insert(self, rows: Iterable[ActivityRow]) -> None:
        ((last,),) = self._rows.select("coalesce(max(id), 0)")
        number = int(last)
        for row in rows:
            number = max(number + 1, int(row.at * 1_000_000))  # as in the history: without a counter
            self._rows.insert(row._replace(id=number, at=float(row.at)))

    def count(self) -> int:
        ((count,),) = self._rows.select("count(*)")
        return int(count)

    def sizes(self) -> list[tuple[str, int | None, int]]:
        found = self._rows.select("grant_id, store, count(*)", _GROUPED)
        return [(grant, store, int(count)) for grant, store, count in found]

    def delete_oldest(self, grant: str, store: int | None, number: int) -> None:
        of_store, values = ("store IS NULL", (grant,)) if store is None else ("store = ?", (grant, store))
        where = f"grant_id = ? AND {of_store}"
        first = self._rows.select("id", f"WHERE {where} ORDER BY id LIMIT 1 OFFSET ?", (*values, number))
        if first:
            self._rows.delete(f"{where} AND id < ?", (*values, int(first[0][0])))
        else:
            self._rows.delete(where, values)

    def has_older(self, time: float) -> bool:
        return bool(self._rows.select("1", "WHERE at < ? LIMIT 1", (float(time),)))

    def delete_older(self, time: float) -> None:
        self._rows.delete("at < ?", (float(time),))

    def clear(self, store: int) -> None:
        self._rows.delete("store = ?", (store,))
