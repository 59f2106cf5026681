"""A change of cookies that can be undone: the rows before and after it, with their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hatbox.store.base import CookieRow, CookieRowKey

__all__ = ["CookieUndo", "RowChange"]

_ROW_OVERHEAD: Final = 400  # bytes of the tuple and its numbers


class RowChange(NamedTuple):
    """The row of a cookie before and after a change; None if it did not exist."""

    key: CookieRowKey
    before: CookieRow | None
    after: CookieRow | None


class CookieUndo(NamedTuple):
    """The changes of one call in a cookie store."""

    user_context_id: int
    changes: Sequence[RowChange]

    @property
    def size(self) -> int:
        """An estimate of the memory that it takes, in bytes."""
        rows = [row for each in self.changes for row in (each.before, each.after) if row is not None]
        return sum(_ROW_OVERHEAD + sum(len(text) for text in row if isinstance(text, str)) for row in rows)
