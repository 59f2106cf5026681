"""The one thread that writes. Calls that are queued together share one transaction and one fsync.

Never touches the event loop: it takes calls from a queue and hands finished batches to a function.
"""

from __future__ import annotations

import contextlib
import math
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from hatbox.errors import HatboxError, ProfileCorrupt
from hatbox.store.base import ChangeRecord, Processes, Transaction
from hatbox.store.calls import Call, LoggedChange
from hatbox.store.keys import Key
from hatbox.store.sqlite import failures
from hatbox.store.sqlite.failures import may_be_read_error, to_profile_error
from hatbox.store.sqlite.profile_file import ProfileFile, free_pages, open_profile
from hatbox.store.sqlite.transaction import SqliteTransaction
from hatbox.store.tables.change_log import RETENTION_SECONDS

__all__ = ["Writer"]

_MAX_BATCH_SIZE: Final = 1024
_BUSY_TIMEOUT_MS: Final = 8
_CHECK_SECONDS: Final = 0.01  # a stat() of the file costs as much as a row: not at every commit of a burst
_IDLE_SECONDS: Final = 1.0  # without calls, before the WAL is truncated
_BUSY_SECONDS: Final = 30.0  # the maximum delay of that, if calls never pause
_BLOCKED_SECONDS: Final = 5.0  # before a retry, while a reader of another connection blocks it


def _nothing(_: Transaction) -> None:
    """The function of a call that only carries the changes of other processes."""


class Writer:
    """Runs calls in order, in as few transactions as possible."""

    def __init__(
        self,
        path: Path,
        processes: Processes,
        clock: Callable[[], float],
        key: Key | None,
        *,
        create: bool,
        last_sequence: Callable[[], int | None],
        opened: Callable[[BaseException | None], None],
        finished: Callable[[list[Call]], None],
        ended: Callable[[], None],
    ) -> None:
        self._path = path
        self._processes = processes
        self._clock = clock
        self._key = key
        self._create = create
        self._last_sequence = last_sequence  # of the change log, as delivered; None without subscribers
        self._opened = opened
        self._finished = finished
        self._ended = ended
        self._queue: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self.put = self._queue.put
        self.damaged: ProfileCorrupt | None = None
        """Set when damage was found, also by the reader: then nothing is written, and the WAL is not checkpointed."""
        self._wait_for_others: Callable[[], None] = lambda: None
        self._checked = 0.0  # when the files were last checked
        self._has_failed = False  # whether the last maintenance has
        self._due = self._deadline = math.inf  # when maintenance starts: after a pause, but not later than this
        threading.Thread(target=self._run, name="hatbox-writer", daemon=True).start()

    def stop(self, wait_for_others: Callable[[], None] = lambda: None) -> None:
        """End the thread after all queued calls.

        `wait_for_others` returns when no other thread uses the file. The writer's thread then closes the file, so that
        a cancelled caller leaves nothing open.
        """
        self._wait_for_others = wait_for_others
        self._queue.put(None)

    def _run(self) -> None:
        try:
            self._file = open_profile(self._path, self._key, create=self._create)
        except BaseException as error:  # noqa: BLE001 - it is raised where open() is awaited
            self._opened(error)
            return
        try:
            self._connection = self._file.connection
            # SQLite backs off between its retries, and subscribers would get no changes meanwhile.
            self._connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
            cipher, label = self._file.cipher, str(self._path)
            self._transaction = SqliteTransaction(self._connection, self._processes, self._clock, cipher, label)
        except BaseException as error:  # noqa: BLE001 - as above
            self._file.close()
            self._opened(error)
            return
        self._opened(None)
        self._due = time.monotonic() + _IDLE_SECONDS  # the log may have expired rows
        try:
            while calls := self._next_calls():
                self._run_batch(calls)
            self._wait_for_others()
            self._file.close(damaged=self.damaged is not None)
        finally:
            self._ended()

    @property
    def file(self) -> ProfileFile:
        """The open file; only after `opened` was called without an error."""
        return self._file

    def _next_calls(self) -> list[Call]:
        """All queued calls, at least one; an empty list to stop."""
        calls: list[Call] = []
        call = self._wait_for_call()
        while call is not None:
            calls.append(call)
            if len(calls) == _MAX_BATCH_SIZE or self._queue.empty():
                return calls
            call = self._queue.get()
        if calls:
            self._queue.put(None)
        return calls

    def _wait_for_call(self) -> Call | None:
        while True:
            if (now := time.monotonic()) >= self._due:
                self._maintain()
            try:
                return self._queue.get(timeout=None if self._due == math.inf else max(0.0, self._due - now))
            except queue.Empty:
                continue

    def _postpone_maintenance(self) -> None:
        now = time.monotonic()
        self._deadline = min(self._deadline, now + _BUSY_SECONDS)
        self._due = min(self._deadline, now + _IDLE_SECONDS)

    def _maintain(self) -> None:
        """Prune the log, return free pages, truncate the WAL: deleted values do not stay in any file.

        If a reader blocks it, it is tried again later; closing the last handle deletes the WAL in any case.
        """
        self._due = self._deadline = math.inf
        if self.damaged or self._file.read_only:
            return
        try:
            self._file.files.check()
            self._file.begin(writes=True)
            self._transaction.reset()
            before = self._connection.total_changes
            rows_remain = self._transaction.changes.prune()
            has_changed = free_pages(self._connection) or self._connection.total_changes != before
            # Without a change, the number of the WAL is not written either.
            self._connection.execute("COMMIT" if has_changed else "ROLLBACK")
            is_empty = self._file.truncate_log()
            self._has_failed = False
            if not is_empty:
                self._due = time.monotonic() + _BLOCKED_SECONDS
            elif rows_remain:
                self._due = time.monotonic() + RETENTION_SECONDS + _IDLE_SECONDS
        except sqlite3.Error as error:
            self._roll_back()
            if self._has_failed or not may_be_read_error(error):
                self._note_damage(to_profile_error(self._path, error))
            self._has_failed = True
            self._due = time.monotonic() + _BLOCKED_SECONDS
        except HatboxError:
            self._roll_back()  # the next call meets the same error, and reports it

    def _note_damage(self, error: HatboxError) -> None:
        if isinstance(error, ProfileCorrupt) and not self.damaged:
            self.damaged = error

    def _run_batch(self, calls: list[Call], *, again: bool = True) -> None:
        """Run calls in one transaction; if that fails, each in its own, so that only the failing call fails.

        A call that the disk did not let read runs `again`.
        """
        has_begun = False
        try:
            self._begin(calls)
            has_begun = True
            self._commit(calls)
        except Exception as error:  # noqa: BLE001 - the callers get it
            if len(calls) > 1 and has_begun:
                self._roll_back()
                for call in calls:
                    self._run_batch([call])
            elif again and may_be_read_error(error):
                self._roll_back()
                self._run_batch(calls, again=False)
            else:
                self._fail_calls(calls, error)
            return
        self._finished(calls)

    def _begin(self, calls: list[Call]) -> None:
        if (now := time.monotonic()) > self._checked + _CHECK_SECONDS:
            self._file.files.check()
            self._checked = now
        writes = any(call.writes for call in calls)
        if writes and self.damaged:
            raise self.damaged
        while True:
            try:
                self._file.begin(writes=writes)
                self._transaction.reset()
                if writes:
                    self._postpone_maintenance()
                return
            except sqlite3.OperationalError as error:
                self._roll_back()
                waited_enough = time.monotonic() > now + failures.BUSY_SECONDS
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or waited_enough:
                    raise
                self._forward_external_changes()

    def _forward_external_changes(self) -> None:
        """Deliver what other processes commit while this one waits to write."""
        if self._last_sequence() is not None:
            carrier = Call(0, _nothing, None, writes=False)
            carrier.external_changes = self._external_changes()
            if carrier.external_changes:
                self._finished([carrier])

    def _external_changes(self) -> Sequence[tuple[int, list[ChangeRecord]]]:
        known = self._last_sequence()
        return () if known is None else self._transaction.changes.after(known)

    def _commit(self, calls: list[Call]) -> None:
        connection, transaction, log = self._connection, self._transaction, self._transaction.changes
        external = self._external_changes()  # complete: no other process can commit before this transaction ends
        appended: list[LoggedChange] = []
        log.earlier = appended
        for call in calls:
            log.appended = call.changes = []
            call.error = None
            before = connection.total_changes
            try:
                call.value = call.work(transaction)
            except HatboxError as error:
                if connection.total_changes != before:
                    raise
                call.error, call.changes = error, ()
            appended += call.changes
        log.appended = appended
        sequence = log.write() if appended else 0
        transaction.flush_counters()
        connection.execute("COMMIT")
        calls[0].external_changes = external
        for call in calls:
            call.sequence = sequence

    def _fail_calls(self, calls: list[Call], error: Exception) -> None:
        self._roll_back()
        if isinstance(error, sqlite3.Error):
            error = to_profile_error(self._path, error)
        if isinstance(error, HatboxError):
            self._note_damage(error)
        for call in calls:
            call.error, call.changes = error, ()
        self._finished(calls)

    def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error):  # a transaction that SQLite has ended itself is as good
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
