"""Changes of cookies that can be undone: values of cookies in the memory of this process, for a minute at most.

Nothing of them is stored. Each record is dropped after its use, on request, after its time, or for newer ones.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from typing import Final, NamedTuple

from hatbox.store.base import CookieRow, CookieRowKey

__all__ = ["CookieUndo", "RowChange", "UndoRecords"]

UNDO_SECONDS: Final = 60.0
_MAX_RECORDS: Final = 50
_MAX_BYTES: Final = 64 * 2**20  # a full store of the longest cookies has 14 MB
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


class UndoRecords:
    """The records that can be undone, by token."""

    def __init__(self, max_records: int = _MAX_RECORDS, max_bytes: int = _MAX_BYTES) -> None:
        self._max_records = max_records
        self._max_bytes = max_bytes
        self._records: dict[str, CookieUndo] = {}  # oldest first
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def add(self, record: CookieUndo) -> str | None:
        """Add a record, in place of the oldest ones if needed. Returns its token; None if it is too large."""
        if record.size > self._max_bytes:
            return None
        token = secrets.token_urlsafe(16)
        self._put(token, record, UNDO_SECONDS)
        while len(self._records) > self._max_records or sum(each.size for each in self._records.values()) > (
            self._max_bytes
        ):
            self.forget(next(iter(self._records)))
        return token

    def take(self, token: str) -> CookieUndo | None:
        """Remove a record and return it; None if it was dropped."""
        record = self._records.get(token)
        self.forget(token)
        return record

    def put_back(self, token: str, record: CookieUndo) -> None:
        """Add a record again that could not be used."""
        self._put(token, record, UNDO_SECONDS)

    def forget(self, token: str) -> None:
        """Drop a record, if it exists."""
        self._records.pop(token, None)
        if (timer := self._timers.pop(token, None)) is not None:
            timer.cancel()

    def _put(self, token: str, record: CookieUndo, seconds: float) -> None:
        self._records[token] = record
        self._timers[token] = asyncio.get_running_loop().call_later(seconds, self.forget, token)
