"""The table `head`: one row of counters, such as the highest id ever used in each table.

Read once and written once in each transaction.
"""

from __future__ import annotations

from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import HEAD

__all__ = ["Counters"]


class Counters:
    """The counters of a profile. A write transaction resets them at its start and flushes them at its end."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._values: dict[str, int] | None = None
        self._changed = False

    def reset(self) -> None:
        """Discard the cached row: a new transaction starts."""
        self._values, self._changed = None, False

    def get(self, name: str) -> int:
        """The value of a counter."""
        return self._read()[name]

    def increment(self, name: str, amount: int = 1) -> int:
        """Increment a counter; returns its new value."""
        values = self._read()
        values[name] += amount
        self._changed = True
        return values[name]

    def flush(self) -> None:
        """Write the counters, if one was incremented."""
        if self._changed:
            self._rows.put([tuple(self._read().values())])
            self._changed = False

    def _read(self) -> dict[str, int]:
        if self._values is None:
            row = self._rows.get(1)
            if row is None:
                raise self._rows.damage("the row of the table head is missing")
            self._values = dict(zip(HEAD.columns, row, strict=True))
        return self._values
