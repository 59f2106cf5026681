"""Runs the statements of rows on one connection, for what needs no open profile: copies, and changes of the key."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Final

from hatbox.store.postgres.connection import PostgresConnection, Result, Statement
from hatbox.store.postgres.rows import PostgresRows
from hatbox.store.postgres.transaction import insert_change
from hatbox.store.tables.row_cipher import LogCipher
from hatbox.store.tables.schema import Table

__all__ = ["DirectSession"]

_MAX_QUEUED: Final = 1000  # statements of a pipeline
_MAX_QUEUED_BYTES: Final = 2**20  # of their values


class DirectSession:
    """SqlSession in a transaction that the caller has started. Bounds the statements that wait for a trip."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        self.label = connection.label
        """The name of the profile."""
        self.log_cipher = LogCipher(None, connection.label)
        """Encrypts the rows of the change log."""
        self._queued: list[Statement] = []
        self._bytes = 0

    def rows(self, table: Table) -> PostgresRows:
        """The rows of a table. They remember nothing: a copy reads everything once, and there may be much of it."""
        return PostgresRows(self, table, PostgresRows.clear)

    def ask(self, statement: Statement) -> Result:
        self.flush()
        return self._connection.run([statement])[0]

    def announce(self, statement: Statement, receive: Callable[[Result], None]) -> None:
        receive(self.ask(statement))

    def queue(self, statement: Statement) -> None:
        self._queued.append(statement)
        self._bytes += sum(len(value) for value in statement.values if isinstance(value, (str, bytes)))
        if len(self._queued) >= _MAX_QUEUED or self._bytes > _MAX_QUEUED_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send the statements that were queued."""
        queued, self._queued, self._bytes = self._queued, [], 0
        if queued:
            self._connection.run(queued)

    def log(self, sequence: int, logged: int, changes: bytes) -> None:
        """Write a row of the change log."""
        stored = self.log_cipher.encrypted(sequence, changes)
        self.queue(insert_change(sequence, uuid.uuid4().bytes, logged, stored))
