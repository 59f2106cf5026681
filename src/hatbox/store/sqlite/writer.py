"""The one thread that writes. Calls that wait together are committed together, with one fsync for all of them.

Never touches the event loop: it takes calls from a queue and hands finished batches to a function.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.errors import HatboxError
from hatbox.store.base import Change, Work
from hatbox.store.sqlite.files import explained, open_profile, refuse_newer
from hatbox.store.sqlite.tables import SqliteTransaction

__all__ = ["Batch", "Call", "Writer"]

_AT_ONCE: Final = 1024


class Call:
    """A piece of work on its way through the writer, and what became of it."""

    __slots__ = ("changes", "error", "number", "reply", "value", "work")

    def __init__(self, number: int, work: Work[Any], reply: asyncio.Future[Any]) -> None:
        self.number = number
        self.work = work
        self.reply = reply
        self.value: Any = None
        self.error: Exception | None
        self.changes: list[tuple[str, msgspec.Raw]]


class Batch(NamedTuple):
    """Calls that were committed together."""

    calls: Sequence[Call]
    sequence: int | None
    """The number of their row in the log of changes, if they have changed anything."""
    others: Sequence[tuple[int, list[Change]]]
    """What others have committed since the batch before, for those who follow the profile."""


class Writer:
    """Runs calls in the order in which they were put, in as few transactions as they allow."""

    def __init__(
        self,
        path: Path,
        known: Callable[[], int | None],
        opened: Callable[[BaseException | None], None],
        finished: Callable[[Batch], None],
        ended: Callable[[], None],
    ) -> None:
        self._path = path
        self._known = known  # the last row of the log that followers know; None while nobody follows
        self._opened = opened
        self._finished = finished
        self._ended = ended
        self._queue: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self.put = self._queue.put
        self._handed_on = 0  # the last row of the log that has gone out with a batch
        threading.Thread(target=self._run, name="hatbox-writer", daemon=True).start()

    def stop(self) -> None:
        """End the thread once all that was put before has been done."""
        self._queue.put(None)

    def _run(self) -> None:
        try:
            self._connection = open_profile(self._path)
        except BaseException as error:  # noqa: BLE001 - it is raised where open() is awaited
            self._opened(error)
            return
        self._transaction = SqliteTransaction(self._connection)
        self._opened(None)
        while calls := self._next_calls():
            self._perform(calls)
        self._connection.close()
        self._ended()

    def _next_calls(self) -> list[Call]:
        """All calls that wait, at least one; nothing when it is time to stop."""
        calls: list[Call] = []
        call = self._queue.get()
        while call is not None:
            calls.append(call)
            if len(calls) == _AT_ONCE or self._queue.empty():
                return calls
            call = self._queue.get()
        if calls:
            self._queue.put(None)
        return calls

    def _perform(self, calls: list[Call]) -> None:
        """Run calls in one transaction; if that fails, each in its own: none fails for another's fault."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            refuse_newer(self._path, self._connection)
        except Exception as error:  # noqa: BLE001 - whoever made the calls gets it
            self._give_up(calls, error)
            return
        try:
            batch = self._commit(calls)
        except Exception as error:  # noqa: BLE001 - as above
            if len(calls) == 1:
                self._give_up(calls, error)
                return
            self._roll_back()
            for call in calls:
                self._perform([call])
            return
        if batch.sequence:
            self._handed_on = batch.sequence
        self._finished(batch)

    def _commit(self, calls: list[Call]) -> Batch:
        connection, transaction, log = self._connection, self._transaction, self._transaction.changes
        # Nobody else can commit from here on, so these are all that have to be told before our own.
        known = self._known()
        others = () if known is None else log.after(max(known, self._handed_on))
        noted: list[tuple[str, msgspec.Raw]] = []
        for call in calls:
            log.appended = call.changes = []
            call.error = None
            before = connection.total_changes
            try:
                call.value = call.work(transaction)
            except HatboxError as error:
                if connection.total_changes != before:
                    raise
                call.error, call.changes = error, []
            noted += call.changes
        log.appended = noted
        sequence = log.write() if noted else None
        connection.execute("COMMIT")
        return Batch(calls, sequence, others)

    def _give_up(self, calls: list[Call], error: Exception) -> None:
        self._roll_back()
        if isinstance(error, sqlite3.Error):
            error = explained(self._path, error)
        for call in calls:
            call.error, call.changes = error, []
        self._finished(Batch(calls, None, ()))

    def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error):  # a transaction that SQLite has ended itself is as good
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
