"""Change records of one restore. Bounded: a large restore makes subscribers reload their state instead."""

from __future__ import annotations

from typing import Final

from hatbox.store.base import RESYNC, Transaction

__all__ = ["RestoreLog"]

_MAX_RECORDS: Final = 5_000  # a transaction has its records in memory until it is committed


class RestoreLog:
    """Counts the records that a restore appends to the change log. `finish` must be called at its end."""

    def __init__(self, transaction: Transaction, max_records: int = _MAX_RECORDS) -> None:
        self._transaction = transaction
        self._left = max_records
        self._is_resync = False

    def take(self, count: int = 1) -> bool:
        """Whether `count` more records may be appended. If not, subscribers will reload their state."""
        if count > self._left:
            self._is_resync = True
            return False
        self._left -= count
        return True

    def require_resync(self) -> None:
        """Make subscribers reload their state: a change without a record of its own was made."""
        self._is_resync = True

    def finish(self) -> None:
        """Append the record that makes subscribers reload their state, if one is needed."""
        if self._is_resync:
            self._transaction.changes.append(RESYNC, b"null")
            self._is_resync = False
