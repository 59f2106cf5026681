"""Runs transaction functions that only read. All functions of a batch share their trips.

A function is run again with each answer: it has no effect, and its statements are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hatbox.store.calls import Call
from hatbox.store.postgres.connection import PostgresConnection, Statement
from hatbox.store.postgres.failures import ServerError, to_profile_error
from hatbox.store.postgres.transaction import (
    BEGIN_READ,
    COMMIT,
    PostgresTransaction,
    ReadSession,
    UnknownAnswer,
    key_of,
)

__all__ = ["read_together"]


class _Waiting(NamedTuple):
    """A call that needs answers to go on."""

    call: Call
    session: ReadSession
    statements: Sequence[Statement]


def read_together(connection: PostgresConnection, transaction: PostgresTransaction, calls: Sequence[Call]) -> None:
    """Run the functions of these calls, and set their results. Raises ConnectionLost."""
    batch = _Batch(connection, transaction)
    waiting = batch.resume([_Waiting(call, ReadSession(connection.label), ()) for call in calls])
    if not waiting:
        return
    if all(len(each.statements) == 1 for each in waiting):
        # Most functions have one statement, which needs no transaction to see one state.
        batch.answer(waiting)
        waiting = [
            _Waiting(each.call, ReadSession(connection.label), (*each.session.asked, *each.statements))
            for each in batch.resume(waiting)
        ]
        if not waiting:
            return
    try:
        batch.answer(waiting, BEGIN_READ)
        while waiting := batch.resume(waiting):
            batch.answer(waiting)
    finally:
        connection.send(COMMIT)


class _Batch:
    def __init__(self, connection: PostgresConnection, transaction: PostgresTransaction) -> None:
        self._connection = connection
        self._transaction = transaction

    def answer(self, waiting: Sequence[_Waiting], *opening: Statement) -> None:
        """Get the answers to all statements, in one trip."""
        wanted = {key_of(statement): statement for each in waiting for statement in each.statements}
        results = self._connection.run([*opening, *wanted.values()])
        answers = dict(zip(wanted, results[len(opening) :], strict=True))
        for each in waiting:
            for statement in each.statements:
                each.session.add_answer(statement, answers[key_of(statement)])

    def resume(self, waiting: Sequence[_Waiting]) -> list[_Waiting]:
        """Run functions with the answers so far; returns those that need more."""
        unfinished = []
        for each in waiting:
            self._transaction.begin(each.session)
            call = each.call
            try:
                call.value, call.error = call.work(self._transaction), None
            except UnknownAnswer as unknown:
                unfinished.append(each._replace(statements=unknown.statements))
            except Exception as error:  # noqa: BLE001 - the caller gets it
                call.error = _as_profile_error(self._connection.label, error)
        return unfinished


def _as_profile_error(label: str, error: Exception) -> Exception:
    return to_profile_error(label, error) if isinstance(error, ServerError) else error
