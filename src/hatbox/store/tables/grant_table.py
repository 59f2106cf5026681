"""The table of grants. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from hatbox.store.grant_tables import GrantRow
from hatbox.store.tables.rows import Rows

__all__ = ["SqlGrantTable"]

_ALL: Final = "ORDER BY created, id"
_ENDED: Final = "WHERE coalesce(revoked, expires) < ? ORDER BY coalesce(revoked, expires), id"


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
