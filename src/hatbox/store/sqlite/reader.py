"""The connection that reads in the event loop's thread. Several reads can share one snapshot."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from hatbox.store.base import ChangeRecord, Processes, TransactionFunction
from hatbox.store.encryption import Cipher
from hatbox.store.sqlite.profile_file import connect
from hatbox.store.sqlite.transaction import SqliteTransaction

__all__ = ["Reader"]

T = TypeVar("T")


class Reader:
    """A read-only connection. Its methods raise sqlite3.Error."""

    def __init__(
        self, path: Path, processes: Processes, clock: Callable[[], float], cipher: Cipher | None = None
    ) -> None:
        self._connection = connect(path, read_only=True)
        self._transaction = SqliteTransaction(self._connection, processes, clock, cipher, str(path))
        self._execute = self._connection.cursor().execute
        self._is_sharing = False
        self._in_transaction = False
        self.close = self._connection.close

    def run(self, work: TransactionFunction[T], *, single_statement: bool) -> T:
        """Run a transaction function on one snapshot. A single statement needs no transaction for that."""
        if self._is_sharing:
            self._begin()
            return work(self._transaction)
        if single_statement:
            self._transaction.reset()
            return work(self._transaction)
        self._begin()
        try:
            return work(self._transaction)
        finally:
            self._end()

    @contextlib.contextmanager
    def shared_snapshot(self) -> Iterator[None]:
        """Run the reads in the body on one snapshot."""
        if self._is_sharing:
            yield
            return
        self._is_sharing = True
        try:
            yield
        finally:
            self._is_sharing = False
            self._end()

    def changes_after(self, sequence: int) -> list[tuple[int, list[ChangeRecord]]]:
        """The rows of the change log after this one, as committed now."""
        self._end()
        return self._transaction.changes.after(sequence)

    def last_sequence(self) -> int:
        """The last row of the change log, as committed now."""
        self._end()
        return self._transaction.changes.latest()

    def _begin(self) -> None:
        if not self._in_transaction:
            self._execute("BEGIN")
            self._transaction.reset()
            self._in_transaction = True

    def _end(self) -> None:
        """End the transaction, so that the next read sees what was committed since."""
        if self._in_transaction:
            self._in_transaction = False
            if self._connection.in_transaction:  # SQLite ends a transaction itself when the disk fails
                self._execute("COMMIT")
