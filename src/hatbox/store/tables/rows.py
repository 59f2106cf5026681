"""The rows of one table, as the tables use them. Each store implements them on its database.

SQL is of the common subset of all databases, with ? for parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

__all__ = ["Rows", "Value"]

Value: TypeAlias = str | bytes | int | float | None


class Rows(Protocol):
    """The rows of one table. Values have the order of `table.columns`; a REAL column gets floats."""

    def get(self, *key: Value) -> tuple[Any, ...] | None:
        """The row with this key, or None."""

    def find(self, rest: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        """The rows that `rest`, which starts with WHERE or ORDER BY, selects and orders."""

    def prefetch(self, rest: str, values: Sequence[Value] = ()) -> None:
        """Announce a call of `find` with these arguments. A store on a network sends it along with its next query."""

    def select(self, columns: str, rest: str = "", values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        """Columns or aggregates of the rows that `rest` selects and orders. They are not verified."""

    def total_bytes(self, columns: Sequence[str], rest: str = "", values: Sequence[Value] = ()) -> int:
        """The size of these columns in all rows that `rest` selects."""

    def insert(self, values: Sequence[Value]) -> None:
        """Add a row."""

    def put(self, rows: Iterable[Sequence[Value]]) -> None:
        """Write rows; they replace those with the same key."""

    def update(self, key: Sequence[Value], changed: Mapping[str, Value]) -> None:
        """Change some values of the row with this key, if it exists."""

    def delete(self, where: str, values: Sequence[Value]) -> None:
        """Delete the rows that match a condition."""

    def delete_keys(self, keys: Iterable[Sequence[Value]]) -> None:
        """Delete the rows with these keys."""

    def max_bytes(self) -> int:
        """An upper bound of the size of all values in the table. Cheaper than the exact sum."""

    def damage(self, problem: str) -> Exception:
        """The error for damage that the database itself cannot see."""
