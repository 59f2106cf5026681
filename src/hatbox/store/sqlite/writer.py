"""The one thread that writes. Calls that wait together are committed together, with one fsync for all of them.

Knows nothing of the event loop: it takes calls from a queue and hands finished batches to a function.
"""

from __future__ import annotations

import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hatbox.errors import HatboxError
from hatbox.store.base import Change, Work
from hatbox.store.sqlite.files import explained, open_profile, refuse_newer
from hatbox.store.sqlite.tables import SqliteTransaction

__all__ = ["Call", "Writer"]

_BATCH: Final = 1024


class Call:
    """A piece of work on its way through the writer, and what became of it."""

    __slots__ = ("changes", "error", "number", "reply", "value", "work")

    def __init__(self, number: int, work: Work[Any], reply: Any) -> None:
        self.number = number
        self.work = work
        self.reply = reply
        self.value: Any = None
        self.error: BaseException | None = None
        self.changes: list[Change] = []
        """What followers hear of before this call is answered: others' changes since the last call, then its own."""


class Writer:
    """Runs calls in the order in which they were put, in as few transactions as they allow."""

    def __init__(
        self,
        path: Path,
        known: Callable[[], int | None],
        opened: Callable[[BaseException | None], None],
        finished: Callable[[list[Call]], None],
        ended: Callable[[], None],
    ) -> None:
        self._path = path
        self._known = known  # the last change that followers were told of; None while nobody follows
        self._opened = opened
        self._finished = finished
        self._ended = ended
        self._queue: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self.put = self._queue.put
        self._handed_on = 0  # the last change that has gone out with a call
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
        while batch := self._next_batch():
            self._perform(batch)
            self._finished(batch)
        self._connection.close()
        self._ended()

    def _next_batch(self) -> list[Call]:
        """All calls that wait, at least one; nothing when it is time to stop."""
        batch: list[Call] = []
        call = self._queue.get()
        while call is not None:
            batch.append(call)
            if len(batch) == _BATCH or self._queue.empty():
                return batch
            call = self._queue.get()
        if batch:
            self._queue.put(None)
        return batch

    def _perform(self, batch: list[Call]) -> None:
        """Run a batch in one transaction; if that fails, each call in its own: none fails for another's fault."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            refuse_newer(self._path, self._connection)
        except Exception as error:  # noqa: BLE001 - whoever made the calls gets it
            self._give_up(batch, error)
            return
        try:
            self._commit(batch)
        except Exception as error:  # noqa: BLE001 - as above
            if len(batch) == 1:
                self._give_up(batch, error)
                return
            self._roll_back()
            for call in batch:
                self._perform([call])

    def _commit(self, batch: list[Call]) -> None:
        connection, transaction, log = self._connection, self._transaction, self._transaction.changes
        # Nobody else can commit from here on, so these are all that have to be told before our own.
        known = self._known()
        others = [] if known is None else log.after(max(known, self._handed_on))
        for call in batch:
            log.call, log.appended = call.number, others
            others = []
            before = connection.total_changes
            call.error = None
            try:
                call.value = call.work(transaction)
            except HatboxError as error:
                if connection.total_changes != before:
                    raise
                call.error = error
            call.changes = log.appended
        connection.execute("COMMIT")
        self._handed_on = next((call.changes[-1].sequence for call in reversed(batch) if call.changes), self._handed_on)

    def _give_up(self, batch: list[Call], error: Exception) -> None:
        self._roll_back()
        if isinstance(error, sqlite3.Error):
            error = explained(self._path, error)
        for call in batch:
            call.error, call.changes = error, []

    def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error):  # a transaction that SQLite has ended itself is as good
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
