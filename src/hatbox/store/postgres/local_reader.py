"""Reads on the event loop's thread, while a server on this machine answers at once.

Two thread switches cost more than a trip to such a server. The event loop waits for at most five milliseconds: a server
that is slower, or gone, is left to the worker.
"""

from __future__ import annotations

from typing import Final, TypeVar

from hatbox.store.base import TransactionFunction
from hatbox.store.postgres.connection import PostgresConnection
from hatbox.store.postgres.transaction import BEGIN_READ, COMMIT, PostgresTransaction, ReadSession, UnknownAnswer

__all__ = ["LocalReader", "TooManyTrips"]

T = TypeVar("T")

_MAX_SECONDS: Final = 0.005


class TooManyTrips(Exception):
    """A function needs more than one trip, which the worker makes in one transaction."""


class LocalReader:
    """A connection for reads that take one trip."""

    def __init__(self, connection: PostgresConnection, transaction: PostgresTransaction) -> None:
        connection.answer_seconds = _MAX_SECONDS
        self._connection = connection
        self._transaction = transaction
        self.close = connection.close

    def read(self, work: TransactionFunction[T]) -> T:
        """Run a function that only reads. Raises what it raises, TooManyTrips, ConnectionLost and ServerError."""
        session = ReadSession(self._connection.label)
        try:
            return self._run(work, session)
        except UnknownAnswer as unknown:
            statements = unknown.statements
        if len(statements) == 1:  # it needs no transaction to see one state
            results = self._connection.run(statements)
        else:
            results = self._connection.run([BEGIN_READ, *statements, COMMIT])[1:-1]
        for statement, result in zip(statements, results, strict=True):
            session.add_answer(statement, result)
        try:
            return self._run(work, session)
        except UnknownAnswer:
            raise TooManyTrips from None

    def _run(self, work: TransactionFunction[T], session: ReadSession) -> T:
        self._transaction.begin(session)
        return work(self._transaction)
