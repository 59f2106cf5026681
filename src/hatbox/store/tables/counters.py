"""The table `head`: one row of counters, such as the highest id ever used in each table.

Read once and written once in each transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hatbox.store.tables.schema import HEAD

__all__ = ["Counters"]


class Counters:
    """The counters of a profile. A write transaction resets them at its start and writes them at its end."""

    def __init__(self, read: Callable[[], Sequence[int]]) -> None:
        """`read` reads the row, in the order of the columns."""
        self._read_row = read
        self._values: dict[str, int] | None = None
        self.changed = False
        """Whether a counter was incremented since the last reset."""

    def reset(self) -> None:
        """Discard the cached row: a new transaction starts."""
        self._values, self.changed = None, False

    def get(self, name: str) -> int:
        """The value of a counter."""
        return self._read()[name]

    def increment(self, name: str, amount: int = 1) -> int:
        """Increment a counter; returns its new value."""
        values = self._read()
        values[name] += amount
        self.changed = True
        return values[name]

    def raise_to(self, name: str, value: int) -> None:
        """Set a counter to `value` unless it is higher."""
        if value > self.get(name):
            self.increment(name, value - self.get(name))

    def row(self) -> tuple[int, ...]:
        """The row with the current values."""
        return tuple(self._read().values())

    def _read(self) -> dict[str, int]:
        if self._values is None:
            self._values = dict(zip(HEAD.columns, self._read_row(), strict=True))
        return self._values
