"""The tables of grants and of the activity log. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from hatbox.store.grant_tables import ActivityRow, GrantRow
from hatbox.store.tables.rows import Rows, Value

__all__ = ["SqlActivityTable", "SqlGrantTable"]

_GROUPED: Final = "GROUP BY grant_id, store ORDER BY grant_id, store"
_ALL: Final = "ORDER BY created, id"
_ENDED: Final = "WHERE coalesce(revoked, expires) < ? ORDER BY coalesce(revoked, expires), id"


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
    ) -> list[ActivityRow]:
        given: dict[str, Value] = {"store = ?": store, "grant_id = ?": grant}
        given["at >= ?"] = None if since is None else float(since)
        chosen = {condition: value for condition, value in given.items() if value is not None}
        where = f"WHERE {' AND '.join(chosen)} " if chosen else ""
        found = self._rows.find(f"{where}ORDER BY at DESC, id DESC LIMIT ?", (*chosen.values(), limit))
        return [ActivityRow._make(row) for row in found]

    def earlier(self, limit: int, before: int | None = None) -> list[ActivityRow]:
        where, values = ("", ()) if before is None else ("WHERE id < ? ", (before,))
        found = self._rows.find(f"{where}ORDER BY id DESC LIMIT ?", (*values, limit))
        return [ActivityRow._make(row) for row in found]

    def insert(self, rows: Iterable[ActivityRow]) -> list[ActivityRow]:
        ((last,),) = self._rows.select("coalesce(max(id), 0)")
        number, added = int(last), []
        for row in rows:
            number = max(number + 1, int(row.at * 1_000_000))  # as in the history: without a counter
            added.append(row._replace(id=number, at=float(row.at)))
            self._rows.insert(added[-1])
        return added

    def put(self, rows: Iterable[ActivityRow]) -> None:
        self._rows.put(row._replace(at=float(row.at)) for row in rows)

    def count(self) -> int:
        ((count,),) = self._rows.select("count(*)")
        return int(count)

    def sizes(self) -> list[tuple[str, int | None, int]]:
        found = self._rows.select("grant_id, store, count(*)", _GROUPED)
        return [(grant, store, int(count)) for grant, store, count in found]

    def oldest(self, grant: str, store: int | None, number: int) -> list[ActivityRow]:
        where, values = _of(grant, store)
        found = self._rows.find(f"WHERE {where} ORDER BY id LIMIT ?", (*values, number))
        return [ActivityRow._make(row) for row in found]

    def delete_oldest(self, grant: str, store: int | None, number: int) -> None:
        where, values = _of(grant, store)
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


def _of(grant: str, store: int | None) -> tuple[str, tuple[Value, ...]]:
    """The condition for the entries of a grant in an identity, and its values."""
    if store is None:
        return "grant_id = ? AND store IS NULL", (grant,)
    return "grant_id = ? AND store = ?", (grant, store)


class SqlGrantTable:
    """GrantTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def prefetch(self) -> None:
        self._rows.prefetch(_ALL)

    def get(self, grant: str) -> GrantRow | None:
        row = self._rows.get(grant)
        return None if row is None else GrantRow._make(row)

    def with_digest(self, digest: bytes) -> GrantRow | None:
        found = self._rows.find("WHERE digest = ?", (digest,))
        return GrantRow._make(found[0]) if found else None

    def find(self) -> list[GrantRow]:
        return [GrantRow._make(row) for row in self._rows.find(_ALL)]

    def count(self) -> int:
        ((count,),) = self._rows.select("count(*)")
        return int(count)

    def ended_before(self, time: float) -> list[str]:
        return [grant for (grant,) in self._rows.select("id", _ENDED, (float(time),))]

    def put(self, row: GrantRow) -> None:
        self._rows.put([row])

    def delete(self, grants: Collection[str]) -> None:
        self._rows.delete_keys((grant,) for grant in grants)
