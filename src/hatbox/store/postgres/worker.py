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

from hatbox.errors import HatboxError, ProfileError
from hatbox.store.base import Processes, Transaction
from hatbox.store.calls import Call, LoggedChange
from hatbox.store.encryption import Cipher
from hatbox.store.keys import Key
from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.connection import PostgresConnection, Result, Statement
from hatbox.store.postgres.failures import CONFLICTS, ConnectionLost, ServerError, to_profile_error, unavailable
from hatbox.store.postgres.following import LogFollower
from hatbox.store.postgres.listener import channel_of
from hatbox.store.postgres.profile_key import ProfileKey
from hatbox.store.postgres.reading import read_together
from hatbox.store.postgres.rows import SqlSession
from hatbox.store.postgres.schema import prepare_schema
from hatbox.store.postgres.setup import configure
from hatbox.store.postgres.sql import quoted
from hatbox.store.postgres.transaction import Head, PostgresTransaction, WriteSession, sequence_of
from hatbox.store.server_clock import ServerClock
from hatbox.store.tables.row_cipher import LogCipher

__all__ = ["PostgresWorker", "follow"]

_MAX_BATCH_SIZE: Final = 1024
_FIRST_PAUSE: Final = 0.05  # seconds between attempts to connect; doubled each time
_LONGEST_PAUSE: Final = 2.0


def follow(_: Transaction) -> None:
    """The function of a call that only carries the changes of other processes."""


class _Mark:
    """A subscriber that waits for the number of the last commit."""

    def __init__(self, done: threading.Event) -> None:
        self.done = done
        self.sequence: int | None = None


class _Outcome(NamedTuple):
    """The results of calls whose commit was sent, before its answer is known."""

    results: list[tuple[Any, Exception | None, Sequence[LoggedChange]]]

    @classmethod
    def of(cls, calls: Sequence[Call]) -> _Outcome:
        return cls([(call.value, call.error, call.changes) for call in calls])

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
        opened: Callable[[BaseException | None], None],
        finished: Callable[[list[Call]], None],
        ended: Callable[[], None],
    ) -> None:
        self._address = address
        self._clock = clock
        self._opened = opened
        self._finished = finished
        self._ended = ended
        self._queue: queue.SimpleQueue[list[Call] | None] = queue.SimpleQueue()
        self._marks: queue.SimpleQueue[_Mark] = queue.SimpleQueue()
        self._processes = processes
        self._key = key
        self._profile_key = ProfileKey(address.schema, key)
        self._notify = Statement(f"NOTIFY {quoted(channel_of(address.schema))}")
        self._connection: PostgresConnection | None = None
        self._head: Head | None = None  # after the last commit that this process knows of
        self._use_cipher(None)
        self.was_created = False
        """Whether opening has created the profile."""
        threading.Thread(target=self._run, name="hatbox-postgres", daemon=True).start()

    def _use_cipher(self, cipher: Cipher | None) -> None:
        label = self._address.label
        self._log = LogCipher(cipher, label)
        self._transaction = PostgresTransaction(self._processes, self._clock.time, cipher, label)
        self._follower = LogFollower(label, self._log)
        self.is_encrypted = cipher is not None

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

        Waits for the running batch and one trip. Returns the number of the last commit; None after `timeout` seconds.
        """
        mark = _Mark(threading.Event())
        self._marks.put(mark)
        self._queue.put([])
        mark.done.wait(timeout)
        return mark.sequence

    def stop_following(self) -> None:
        """Subscribers need no changes any more."""
        self._follower.stop()

    # ── The thread ──

    def _run(self) -> None:
        try:
            self._connection = connection = self._connect_once()
            self.was_created = prepare_schema(connection, self._address.schema, self._key)
            configure(connection, self._address)
            self._use_cipher(self._profile_key.verified(connection))
            self._clock.add_reading(*connection.read_clock())
        except BaseException as error:  # noqa: BLE001 - it is raised where open() is awaited
            self._drop_connection()
            self._opened(self._open_error(error))
            return
        self._opened(None)
        try:
            while (calls := self._next_calls()) is not None:
                self._start_following()
                if calls:
                    self._run_batch(calls)
        finally:
            self._drop_connection()
            self._ended()

    def _open_error(self, error: BaseException) -> BaseException:
        if isinstance(error, ConnectionLost):
            return unavailable(self._address.label, str(error))
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

    def _connect_once(self) -> PostgresConnection:
        connection = PostgresConnection(self._address)
        self._head = None  # after a failover the numbers may have gone back
        return connection

    def _connected(self, *, uncertain: bool = False) -> PostgresConnection:
        """The connection; if it was lost, a new one, as soon as the server can be reached.

        `uncertain`: it was lost while a commit was in progress, which an error has to tell.
        """
        if self._connection is not None:
            return self._connection
        started = time.monotonic()
        deadline = started + self._address.reconnect_seconds
        pause = _FIRST_PAUSE
        while True:
            try:
                connection = self._connect_once()
                configure(connection, self._address)
                self._profile_key.verified(connection)
                self._clock.add_reading(*connection.read_clock())
                self._connection = connection
                break
            except ConnectionLost as error:
                if error.permanent or time.monotonic() + pause > deadline:
                    waited = time.monotonic() - started
                    raise unavailable(self._address.label, str(error), waited=waited, uncertain=uncertain) from error
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        if self._follower.sequence is not None:
            self._follow(connection)  # shows whether the log went back
        return connection

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._head = None

    # ── Calls ──

    def _run_batch(self, calls: list[Call]) -> None:
        """Run calls together; if that fails, each alone, so that only the failing call fails."""
        try:
            if any(call.writes for call in calls):
                self._write(calls)
            else:
                self._read(calls)
        except Exception as error:  # noqa: BLE001 - the callers get it
            if len(calls) == 1 or isinstance(error, ConnectionLost):
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
        while True:
            connection = self._connected()
            try:
                if any(call.work is follow for call in calls):
                    self._follow(connection)
                read_together(connection, self._transaction, [call for call in calls if call.work is not follow])
                return
            except ConnectionLost:
                self._drop_connection()

    def _follow(self, connection: PostgresConnection) -> None:
        """Deliver what other processes have committed."""
        self._head, changes = self._follower.read(connection)
        if changes:
            carrier = Call(0, follow, None, writes=False)
            carrier.external_changes = changes
            self._finished([carrier])

    def _start_following(self) -> None:
        """Answer those who wait in `start_following`."""
        while not self._marks.empty():
            mark = self._marks.get()
            try:
                mark.sequence = self._follower.start(self._connected())
            except (ConnectionLost, ProfileError, ServerError):
                self._drop_connection()
            mark.done.set()

    # ── Writing ──

    def _write(self, calls: list[Call]) -> None:
        """Commit calls exactly once: a token in the log shows whether a commit succeeded before a connection broke."""
        token = uuid.uuid4().bytes
        sent: _Outcome | None = None  # of a commit whose success is not known
        locked = False
        while True:
            connection = self._connected(uncertain=sent is not None)
            session = WriteSession(connection, self._head, self._log, locked=locked or sent is not None)
            try:
                if sent is not None:
                    sequence = session.find_commit(token)
                    if sequence is not None:
                        session.roll_back()
                        sent.restore(calls)
                        self._committed(calls, sequence, token, [])
                        return
                    sent = None
                changes = self._run_functions(session, calls)
                if not session.written and not changes:
                    session.roll_back()
                    return
                sent = _Outcome.of(calls)
                counters = self._transaction.counters.row()
                self._head, rows = session.commit(counters, token, changes, self._notify, self._follower.sequence)
                self._committed(calls, sequence_of(self._head), token, rows)
                return
            except ConnectionLost:
                self._drop_connection()
            except ServerError as error:
                sent = self._head = None
                session.roll_back()
                if error.code not in CONFLICTS or locked:
                    raise
                locked = True
            except BaseException:
                session.roll_back()
                raise

    def _run_functions(self, session: WriteSession, calls: Sequence[Call]) -> list[LoggedChange]:
        """Run the functions of calls in order; returns their changes."""
        transaction = self._transaction
        transaction.begin(session)
        all_changes: list[LoggedChange] = []
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
