"""Changes that can be undone, in the memory of this process: bounded in time, number and size. Nothing is stored.

Each record is dropped after its use, on request, after its time, or for newer ones. Tokens are random: one of an
earlier process names nothing.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Final, Generic, Protocol, TypeVar

from hatbox.errors import ApiError

__all__ = ["UndoExpired", "UndoRecords", "Undoable"]

_MAX_RECORDS: Final = 50
_MAX_BYTES: Final = 64 * 2**20


class UndoExpired(ApiError):
    """The record of a change is gone. The page does not offer to try again."""


class Undoable(Protocol):
    """A record of a change."""

    @property
    def size(self) -> int:
        """An estimate of the memory that it takes, in bytes."""


R = TypeVar("R", bound=Undoable)


class UndoRecords(Generic[R]):
    """The records that can be undone within some seconds, by token."""

    def __init__(self, seconds: float, *, max_records: int = _MAX_RECORDS, max_bytes: int = _MAX_BYTES) -> None:
        self._seconds = seconds
        self._max_records = max_records
        self._max_bytes = max_bytes
        self._records: dict[str, R] = {}  # oldest first
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def add(self, record: R) -> str | None:
        """Add a record, in place of the oldest ones if needed. Returns its token; None if it is too large."""
        if record.size > self._max_bytes:
            return None
        token = secrets.token_urlsafe(16)
        self.put_back(token, record)
        while len(self._records) > self._max_records or sum(each.size for each in self._records.values()) > (
            self._max_bytes
        ):
            self.forget(next(iter(self._records)))
        return token

    def take(self, token: str) -> R | None:
        """Remove a record and return it; None if it was dropped."""
        record = self._records.get(token)
        self.forget(token)
        return record

    def put_back(self, token: str, record: R) -> None:
        """Add a record again that could not be used."""
        self.forget(token)
        self._records[token] = record
        self._timers[token] = asyncio.get_running_loop().call_later(self._seconds, self.forget, token)

    def forget(self, token: str) -> None:
        """Drop a record, if it exists."""
        self._records.pop(token, None)
        if (timer := self._timers.pop(token, None)) is not None:
            timer.cancel()
