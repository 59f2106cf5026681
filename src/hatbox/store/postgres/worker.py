"""The one thread that talks to the server. Calls that are queued together share their trips and one commit.

Never touches the event loop: it takes calls from a queue and hands finished batches to a function.
"""

from __future__ import annotations

import queue
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from hatbox.errors import HatboxError, ProfileError, ProfileUnavailable
from hatbox.store.base import Processes, Transaction
from hatbox.store.calls import Call, LoggedChange
from hatbox.store.encryption import Cipher
from hatbox.store.keys import Key
from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.connection import PostgresConnection, Result, Statement
from hatbox.store.postgres.failures import (
    CONFLICTS,
    ConnectionLost,
    ServerError,
    to_profile_error,
    unavailable,
    unknown_outcome,
)
from hatbox.store.postgres.following import LogFollower
from hatbox.store.postgres.listener import channel_of
from hatbox.store.postgres.local_reader import LocalReader
from hatbox.store.postgres.profile_key import ProfileKey
from hatbox.store.postgres.reading import read_together
from hatbox.store.postgres.rows import SqlSession
from hatbox.store.postgres.schema import prepare_schema
from hatbox.store.postgres.setup import connect
from hatbox.store.postgres.sql import quoted
from hatbox.store.postgres.transaction import Head, PostgresTransaction, WriteSession, sequence_of
from hatbox.store.server_clock import ServerClock
from hatbox.store.tables.row_cipher import LogCipher

__all__ = ["PostgresWorker", "ReconnectLimit", "follow", "poll"]

_MAX_BATCH_SIZE: Final = 1024
_ANSWER_SECONDS: Final = 120.0  # longer than the limits of setup.py; a server that does not answer for so long is lost
_STARTING_SECONDS: Final = 0.2  # between attempts
_CLOCK_SECONDS: Final = 60.0  # between two readings of the server's clock, with the polls
_MAX_CONFLICTS: Final = 20  # far more than can happen: from the second attempt on, only a deadlock can be in the way
_FIRST_PAUSE: Final = 0.05  # seconds between attempts; doubled each time
_LONGEST_PAUSE: Final = 2.0


def follow(_: Transaction) -> None:
    """The function of a call that only carries the changes of other processes."""


def poll(_: Transaction) -> None:
    """As `follow`, but it does not wait for a lost connection: the next poll tries again."""


_FOLLOWING: Final = (follow, poll)


class _Mark:
    """A request to follow the change log, or to stop. The answer is the number of the last commit."""

    def __init__(self, *, start: bool) -> None:
        self.start = start
        self._answered = threading.Event()
        self._lock = threading.Lock()
        self._sequence: int | None = None
        self._is_late = False

    def wait(self, timeout: float) -> int | None:
        """The answer; None after `timeout` seconds."""
        self._answered.wait(timeout)
        with self._lock:
            self._is_late = not self._answered.is_set()
            return self._sequence

    def answer(self, sequence: int | None) -> bool:
        """Answer the caller. Returns whether it has waited for it."""
        with self._lock:
            self._sequence = sequence
            self._answered.set()
            return not self._is_late


class _Outcome(NamedTuple):
    """The results of calls whose commit was sent, before its answer is known."""

    sequence: int
    """The number that the commit gets."""
    results: list[tuple[Any, Exception | None, Sequence[LoggedChange]]]

    @classmethod
    def of(cls, sequence: int, calls: Sequence[Call]) -> _Outcome:
        return cls(sequence, [(call.value, call.error, call.changes) for call in calls])

    def restore(self, calls: Sequence[Call]) -> None:
        for call, (value, error, changes) in zip(calls, self.results, strict=True):
            call.value, call.error, call.changes = value, error, changes


class PostgresWorker:
    """Runs calls in order, in as few trips and transactions as possible."""

    def __init__(
        self,
        address: PostgresAddress,
        processes: Callable[[SqlSession], Processes],
        clock: ServerClock,
        key: Key | None,
        *,
        create: bool,
        opened: Callable[[BaseException | None], None],
        finished: Callable[[list[Call]], None],
        ended: Callable[[], None],
        lost: Callable[[], None],
    ) -> None:
        """`lost` is called when the connection was lost."""
        self._address = address
        self._clock = clock
        self._opened = opened
        self._finished = finished
        self._ended = ended
        self._lost = lost
        self._queue: queue.SimpleQueue[list[Call] | None] = queue.SimpleQueue()
        self._marks: queue.SimpleQueue[_Mark] = queue.SimpleQueue()
        self._processes = processes
        self._key = key
        self._create = create
        self._profile_key = ProfileKey(address.schema, key)
        self._notify = Statement(f"NOTIFY {quoted(channel_of(address.schema))}")
        self._connection: PostgresConnection | None = None
        self._head: Head | None = None  # after the last commit that this process knows of
        self._is_log_checked = True  # whether the log of this connection is known to continue that of the last one
        self._use_cipher(None)
        self._clock_due = time.monotonic() + _CLOCK_SECONDS
        self.was_created = False
        """Whether opening has created the profile."""
        threading.Thread(target=self._run, name="hatbox-postgres", daemon=True).start()

    def _use_cipher(self, cipher: Cipher | None) -> None:
        label = self._address.label
        self._log = LogCipher(cipher, label)
        self._transaction = PostgresTransaction(self._processes, self._clock.time, cipher, label)
        self._follower = LogFollower(label, self._log)
        self.is_encrypted = cipher is not None

    def new_reader(self) -> LocalReader:
        """A connection for reads on another thread. Raises ConnectionLost, ServerError and ProfileError."""
        connection = connect(self._address)
        cipher = self._profile_key.verified(connection)
        transaction = PostgresTransaction(self._processes, self._clock.time, cipher, self._address.label)
        return LocalReader(connection, transaction)

    def put(self, *calls: Call) -> None:
        """Queue calls. Those that are queued together share their trips."""
        self._queue.put(list(calls))

    def stop(self) -> None:
        """Finish the queued calls, then close the connection."""
        self._queue.put(None)

    @property
    def backend_pid(self) -> int:
        """The process id of the server process of this connection; 0 without one."""
        connection = self._connection
        return connection.backend_pid if connection else 0

    @property
    def trips(self) -> int:
        """How many times this connection has waited for the server."""
        connection = self._connection
        return connection.trips if connection else 0

    def start_following(self, timeout: float) -> int | None:
        """Deliver the changes of other processes that are committed after this returns.

        Waits for the running batch and one trip. Returns the number of the last commit; None after `timeout` seconds,
        and then a resync is delivered as soon as the server can be reached.
        """
        mark = _Mark(start=True)
        self._marks.put(mark)
        self._queue.put([])
        return mark.wait(timeout)

    def stop_following(self) -> None:
        """Subscribers need no changes any more."""
        self._marks.put(_Mark(start=False))
        self._queue.put([])

    # ── The thread ──

    def _run(self) -> None:
        try:
            self._connection = connection = self._connect_first()
            self.was_created = prepare_schema(connection, self._address.schema, self._key, create=self._create)
            self._use_cipher(self._profile_key.verified(connection))
            self._clock.read(connection.read_clock)
        except BaseException as error:  # noqa: BLE001 - it is raised where open() is awaited
            self._drop_connection()
            self._opened(self._open_error(error))
            return
        self._opened(None)
        try:
            while (calls := self._next_calls()) is not None:
                self._answer_marks()
                if calls:
                    self._run_batch(calls)
        finally:
            self._drop_connection()
            self._ended()

    def _connect_first(self) -> PostgresConnection:
        """The first connection. A server that is starting is waited for, as later for one that was lost."""
        deadline = time.monotonic() + self._address.reconnect_seconds
        while True:
            try:
                return connect(self._address)
            except ConnectionLost as error:
                if not error.is_starting or time.monotonic() > deadline:
                    raise
                time.sleep(_STARTING_SECONDS)

    def _open_error(self, error: BaseException) -> BaseException:
        if isinstance(error, ConnectionLost):
            return unavailable(self._address.label, error)
        return to_profile_error(self._address.label, error) if isinstance(error, ServerError) else error

    def _next_calls(self) -> list[Call] | None:
        """All queued calls; None to stop."""
        calls = self._queue.get()
        if calls is None:
            return None
        while len(calls) < _MAX_BATCH_SIZE and not self._queue.empty():
            more = self._queue.get()
            if more is None:
                self._queue.put(None)
                break
            calls += more
        return calls

    # ── The connection ──

    def _connected(self) -> PostgresConnection:
        """The connection; if it was lost, a new one. Raises ConnectionLost."""
        if self._connection is None:
            connection = connect(self._address)
            connection.answer_seconds = _ANSWER_SECONDS
            self._profile_key.verified(connection)
            self._connection = connection
            self._is_log_checked = False
            self._clock.read(connection.read_clock)
        return self._connection

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._lost()
        self._connection = self._head = None  # after a failover the numbers may have gone back

    def _roll_back(self, session: WriteSession | None) -> None:
        self._head = None
        if session is not None:
            try:
                session.roll_back()
            except ConnectionLost:
                self._drop_connection()

    # ── Calls ──

    def _run_batch(self, calls: list[Call]) -> None:
        """Run calls together; if that fails, each alone, so that only the failing call fails."""
        try:
            if any(call.writes for call in calls):
                self._write(calls)
            else:
                self._read(calls)
        except Exception as error:  # noqa: BLE001 - the callers get it
            # Not again without a connection, and above all not if these calls may have been committed.
            if len(calls) == 1 or isinstance(error, ProfileUnavailable):
                self._fail(calls, error)
                return
            for call in calls:
                self._run_batch([call])
            return
        self._finished(calls)

    def _fail(self, calls: list[Call], error: Exception) -> None:
        if isinstance(error, ServerError):
            error = to_profile_error(self._address.label, error)
        for call in calls:
            call.error, call.changes = error, ()
        self._finished(calls)

    # ── Reading ──

    def _read(self, calls: list[Call]) -> None:
        waits = any(call.work is not poll for call in calls)
        limit = ReconnectLimit(self._address.label, self._address.reconnect_seconds if waits else 0)
        reads = [call for call in calls if call.work not in _FOLLOWING]
        while True:
            try:
                connection = self._connected()
                if len(reads) < len(calls):
                    self._follow(connection)
                    self._read_clock_again(connection)
                if reads:
                    read_together(connection, self._transaction, reads)
                return
            except ConnectionLost as error:
                self._drop_connection()
                limit.wait(error)

    def _read_clock_again(self, connection: PostgresConnection) -> None:
        now = time.monotonic()
        if now > self._clock_due:
            self._clock_due = now + _CLOCK_SECONDS
            self._clock.read(connection.read_clock)

    def _follow(self, connection: PostgresConnection, before: bytes | None = None) -> None:
        """Deliver what other processes have committed; see LogFollower.read for `before`."""
        self._head, changes = self._follower.read(connection, before)
        self._is_log_checked = True
        if changes:
            carrier = Call(0, follow, None, writes=False)
            carrier.external_changes = changes
            self._finished([carrier])

    def _check_log(self, connection: PostgresConnection) -> None:
        """After a connection was lost: another server may answer, whose log has gone back."""
        if not self._is_log_checked and self._follower.is_following:
            self._follow(connection)

    def _answer_marks(self) -> None:
        """Answer those who wait in `start_following`."""
        while not self._marks.empty():
            mark = self._marks.get()
            if not mark.start:
                self._follower.stop()
                continue
            sequence = None
            try:
                sequence = self._follower.start(self._connected())
                self._is_log_checked = True
            except (ConnectionLost, ProfileError, ServerError):
                self._drop_connection()
                self._follower.is_following = True  # it starts, with a resync, when the server can be reached
            if not mark.answer(sequence):
                self._follower.forget()

    # ── Writing ──

    def _write(self, calls: list[Call]) -> None:
        """Commit calls exactly once: a token in the log shows whether a commit succeeded before a connection broke."""
        label, token = self._address.label, uuid.uuid4().bytes
        limit = ReconnectLimit(label, self._address.reconnect_seconds)
        sent: _Outcome | None = None  # of a commit whose success is not known
        conflicts = 0
        while True:
            session: WriteSession | None = None
            try:
                connection = self._connected()
                if sent is not None:
                    session = WriteSession(connection, None, self._log, locked=True)
                    sequence = session.find_commit(token, sent.sequence)
                    if self._follower.is_following:
                        self._follow(connection, before=token)
                    if sequence is not None:
                        session.confirm()
                        sent.restore(calls)
                        self._committed(calls, sequence, token, [])
                        return
                else:
                    self._check_log(connection)
                    session = WriteSession(connection, self._head, self._log, locked=conflicts > 0)
                changes = self._run_functions(session, calls)
                # With nothing to write, an empty commit still makes sure that the one before fails, if it has not yet.
                if sent is None and not session.written and not changes:
                    session.roll_back()
                    if any(call.work in _FOLLOWING for call in calls):
                        self._follow(connection)
                    return
                before, sent = sent, _Outcome.of(session.next_sequence, calls)
                try:
                    counters = self._transaction.counters.row()
                    self._head, rows = session.commit(counters, token, changes, self._notify, self._follower.sequence)
                except ServerError:  # this one was not committed
                    sent = before
                    raise
                self._committed(calls, sequence_of(self._head), token, rows)
                return
            except ConnectionLost as error:
                self._drop_connection()
                limit.wait(error, uncertain=sent is not None)
            except ServerError as error:
                self._roll_back(session)
                conflicts += 1
                if error.code not in CONFLICTS or conflicts > _MAX_CONFLICTS:
                    raise (error if sent is None else unknown_outcome(label, str(error))) from error
            except BaseException as error:
                self._roll_back(session)
                if sent is not None and isinstance(error, Exception) and not isinstance(error, ProfileUnavailable):
                    raise unknown_outcome(label, str(error)) from error
                raise

    def _run_functions(self, session: WriteSession, calls: Sequence[Call]) -> list[LoggedChange]:
        """Run the functions of calls in order; returns their changes."""
        transaction = self._transaction
        transaction.begin(session)
        all_changes: list[LoggedChange] = []
        transaction.changes.earlier = all_changes
        for call in calls:
            call.error = None
            call.changes = transaction.changes.appended = []
            before = session.written, transaction.counters.changed
            try:
                call.value = call.work(transaction)
            except HatboxError as error:
                if (session.written, transaction.counters.changed) != before:
                    raise
                call.error, call.changes = error, ()
            all_changes += call.changes
        return all_changes

    def _committed(self, calls: list[Call], sequence: int, token: bytes, rows: Result) -> None:
        calls[0].external_changes = self._follower.committed(sequence, token, rows)
        for call in calls:
            call.sequence = sequence


class ReconnectLimit:
    """The limit of the calls that share a transaction. It starts when they first lose the connection."""

    def __init__(self, label: str, seconds: float) -> None:
        self._label = label
        self._seconds = seconds
        self._started: float | None = None
        self._pause = _FIRST_PAUSE

    def wait(self, error: ConnectionLost, *, uncertain: bool = False) -> None:
        """Return when it is time to connect again. Raises ProfileUnavailable at the limit.

        `uncertain`: the connection was lost while a commit was in progress.
        """
        now = time.monotonic()
        if self._started is None and not error.permanent:
            self._started = now
            return
        waited = now - (self._started or now)
        pause = min(self._pause, self._seconds - waited)
        if error.permanent or pause <= 0:
            raise unavailable(self._label, error, waited=waited, uncertain=uncertain) from error
        time.sleep(pause)
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)
