"""The table of site rules. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection

from hatbox.store.tables.counters import Counters
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.rows_by_id import among, id_parts

__all__ = ["SqlRuleTable"]


class SqlRuleTable:
    """RuleTable in SQL."""

    def __init__(self, rows: Rows, counters: Counters) -> None:
        self._rows = rows
        self._counters = counters

    def find(self, numbers: Collection[int] | None = None) -> list[tuple[int, bytes]]:
        if numbers is None:
            return [(number, rule) for number, rule in self._rows.find("ORDER BY id")]
        found = {number: rule for part in id_parts(numbers) for number, rule in self._rows.find(among(part), part)}
        return sorted(found.items())

    def insert(self, rule: bytes) -> int:
        number = self._counters.increment("rules")
        self._rows.insert((number, rule))
        return number

    def put(self, number: int, rule: bytes) -> None:
        self._counters.raise_to("rules", number)
        self._rows.put([(number, rule)])

    def delete(self, number: int) -> None:
        self._rows.delete("id = ?", (number,))
