"""Leases and registered processes, across machines. Each is an advisory lock of one connection of its holder.

The server releases the lock when the connection ends, also if the machine vanishes (keepalives detect that).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Final
from uuid import uuid4

from hatbox.errors import ProfileError
from hatbox.store.lease import Lease, LeaseHolder
from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.connection import PostgresConnection, Statement
from hatbox.store.postgres.failures import ConnectionLost, ServerError, no_locks, to_profile_error, unavailable
from hatbox.store.postgres.open_lock import is_locked_by_others
from hatbox.store.postgres.rows import SqlSession
from hatbox.store.postgres.setup import connect
from hatbox.store.processes import ProcessId, current_process

__all__ = ["LeaseSession", "PostgresLease", "PostgresProcesses"]

_KEY: Final = "hashtextextended(encode($1, 'hex'), 0)"
_TRY_LOCK: Final = f"SELECT pg_try_advisory_lock({_KEY})"
_UNLOCK: Final = f"SELECT pg_advisory_unlock({_KEY})"
_IS_LOCKED: Final = (
    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    f"AND (classid::int8 << 32 | objid::int8) = {_KEY})"
)
# After a restart of the server all processes lose their locks, and need a moment to acquire them again.
_IS_RUNNING: Final = (
    f"{_IS_LOCKED} OR EXISTS (SELECT FROM leases WHERE name = $2 AND signed_at < pg_postmaster_start_time() "
    "AND clock_timestamp() < pg_postmaster_start_time() + interval '20 seconds')"
)
_SIGN: Final = (
    "INSERT INTO leases (name, purpose, host, process, started_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) "
    "DO UPDATE SET purpose = excluded.purpose, host = excluded.host, process = excluded.process, "
    "started_at = excluded.started_at, signed_at = clock_timestamp()"
)
_HOLDER: Final = "SELECT purpose, host, process, started_at FROM leases WHERE name = $1"
_TEXT: Final = frozenset({"purpose", "host", "started_at"})


def _lock_name(schema: str, name: str) -> str:
    return f"hatbox\0{schema}\0{name}"


def _process_name(process: ProcessId) -> str:
    return f"process\0{process.host}\0{process.pid}\0{process.started_at}"


class LeaseSession:
    """The connection that has the leases of one store. It is made when the first one is needed."""

    def __init__(self, address: PostgresAddress) -> None:
        self._address = address
        self._connection: PostgresConnection | None = None
        self._socket = -1  # of the connection: a lost connection has none
        self._lock = threading.Lock()
        self._held: dict[str, LeaseHolder] = {}
        self._on_lost: dict[str, Callable[[str], None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def label(self) -> str:
        """The name of the profile in messages."""
        return self._address.label

    async def acquire(self, name: str, purpose: str, on_lost: Callable[[str], None]) -> LeaseHolder | None:
        """Acquire a lease; returns None, or the holder that has it already."""
        self._loop = asyncio.get_running_loop()
        if name in self._held:
            return self._held[name]
        return await asyncio.to_thread(self._do, self._acquire, name, purpose, on_lost)

    def has(self, name: str) -> bool:
        """Whether this session has a lease."""
        return name in self._held

    async def holder(self, name: str) -> LeaseHolder | None:
        """The holder of a lease."""
        self._loop = asyncio.get_running_loop()
        return self._held.get(name) or await asyncio.to_thread(self._do, self._find, name)

    async def release(self, name: str) -> None:
        """Release a lease, if this session has it."""
        if name in self._held:
            await asyncio.to_thread(self._do, self._release, name)

    async def close(self) -> None:
        """Release all leases."""
        await asyncio.to_thread(self._close)

    # ── In another thread ──

    def _do(self, operation: Callable[..., LeaseHolder | None], *arguments: object) -> LeaseHolder | None:
        label = self._address.label
        with self._lock:
            try:
                return operation(self._connected(), *arguments)
            except ConnectionLost as error:
                self._lose(str(error))
                raise unavailable(label, error) from error
            except ServerError as error:
                raise to_profile_error(label, error) from error

    def _connected(self) -> PostgresConnection:
        if self._connection is None:
            connection = connect(self._address)
            try:
                self._check_locks(connection)
            except BaseException:
                connection.close()
                raise
            self._connection, self._socket = connection, connection.socket
            self._from_thread(self._watch, connection)
        return self._connection

    def _check_locks(self, connection: PostgresConnection) -> None:
        """Raise ConnectionLost if the server grants a lock to two sessions. This store has that of the profile."""
        if is_locked_by_others(connection, self._address.schema):
            return
        with closing(connect(self._address)) as other:  # or the connection with that lock was lost just now
            probe = Statement(_TRY_LOCK, (f"hatbox\0probe\0{uuid4()}",))
            if connection.run([probe])[0][0][0] and other.run([probe])[0][0][0]:
                raise no_locks("not PostgreSQL")

    def _acquire(
        self, connection: PostgresConnection, name: str, purpose: str, on_lost: Callable[[str], None]
    ) -> LeaseHolder | None:
        if name in self._held:  # another task was first
            return self._held[name]
        lock = _lock_name(self._address.schema, name)
        if not connection.run([Statement(_TRY_LOCK, (lock,))])[0][0][0]:
            return self._find(connection, name) or LeaseHolder("", None)
        process = current_process()
        try:
            connection.run([Statement(_SIGN, (name, purpose, process.host, process.pid, process.started_at))])
        except ServerError:
            connection.send(Statement(_UNLOCK, (lock,)))
            raise
        self._held[name], self._on_lost[name] = LeaseHolder(purpose, process), on_lost
        return None

    def _find(self, connection: PostgresConnection, name: str) -> LeaseHolder | None:
        lock = _lock_name(self._address.schema, name)
        locked, holders = connection.run([Statement(_IS_LOCKED, (lock,)), Statement(_HOLDER, (name,), _TEXT)])
        if not locked[0][0]:
            return None
        if not holders:
            return LeaseHolder("", None)
        purpose, host, process, started_at = holders[0]
        return LeaseHolder(purpose, ProcessId(host, process, started_at))

    def _release(self, connection: PostgresConnection, name: str) -> None:
        self._held.pop(name, None)
        self._on_lost.pop(name, None)
        lock = _lock_name(self._address.schema, name)
        connection.run([Statement("DELETE FROM leases WHERE name = $1", (name,)), Statement(_UNLOCK, (lock,))])

    def _close(self) -> None:
        with self._lock:
            self._on_lost.clear()
            if self._connection is not None:
                connection, self._connection = self._connection, None
                for name in list(self._held):
                    try:
                        self._release(connection, name)
                    except (ConnectionLost, ServerError):
                        break  # the server releases them when the connection ends
                self._end(connection)
            self._held.clear()

    def _lose(self, reason: str) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            self._end(connection)
        lost = [self._on_lost[name] for name in self._held if name in self._on_lost]
        self._held.clear()
        self._on_lost.clear()
        for callback in lost:
            self._from_thread(callback, reason)

    def _end(self, connection: PostgresConnection) -> None:
        """Close a connection, on the event loop that watches it: the number of its socket may be used again at once."""
        if not self._from_thread(self._unwatch, connection, self._socket):
            connection.close()

    def _from_thread(self, function: Callable[..., None], *arguments: object) -> bool:
        """Call a function on the event loop. False if that is closed."""
        if self._loop is None:
            return False
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            return False
        return True

    # ── On the event loop ──

    def _watch(self, connection: PostgresConnection) -> None:
        if self._loop is not None and self._connection is connection:
            self._loop.add_reader(self._socket, self._on_input, connection)

    def _unwatch(self, connection: PostgresConnection, socket: int) -> None:
        if self._loop is not None:
            self._loop.remove_reader(socket)
        connection.close()

    def _on_input(self, connection: PostgresConnection) -> None:
        """The server sends nothing here. Input means that the connection has ended."""
        if not self._lock.acquire(blocking=False):
            return  # a statement is running, and reads its own answer
        try:
            if self._connection is connection:
                connection.take_notifications()
        except ConnectionLost as error:
            self._lose(str(error))
        finally:
            self._lock.release()


class PostgresLease(Lease):
    """Lease on PostgreSQL."""

    def __init__(self, session: LeaseSession, name: str) -> None:
        self._session = session
        self._name = name
        self._is_held = False
        self._losses: list[str] = []  # since the last call of acquire()
        self._on_lost: Callable[[str], None] = lambda _: None

    async def acquire(self, purpose: str) -> LeaseHolder | None:
        if self._is_held:
            return await self.holder()
        self._losses.clear()
        holder = await self._session.acquire(self._name, purpose, self._lost)
        # It may be lost before this task continues.
        self._is_held = holder is None and not self._losses and self._session.has(self._name)
        if holder is None and not self._is_held:
            lost = ConnectionLost(" ".join(self._losses) or "the connection was closed")
            raise unavailable(self._session.label, lost)
        return holder

    async def holder(self) -> LeaseHolder | None:
        return await self._session.holder(self._name)

    async def release(self) -> None:
        if self._is_held:
            self._is_held = False
            try:
                await self._session.release(self._name)
            except ProfileError:
                return  # the server releases it when the connection ends

    def on_lost(self, callback: Callable[[str], None]) -> None:
        self._on_lost = callback

    def _lost(self, reason: str) -> None:
        self._losses.append(reason)
        if self._is_held:  # otherwise acquire() reports it
            self._is_held = False
            self._on_lost(reason)


class PostgresProcesses:
    """Processes of all machines. A registered process has a lease of its own."""

    def __init__(self, schema: str, session: SqlSession) -> None:
        self._schema = schema
        self._session = session

    @property
    def current(self) -> ProcessId:
        return current_process()

    def is_running(self, process: ProcessId) -> bool:
        if process.is_local:
            return process.is_running
        name = _process_name(process)
        return bool(self._session.ask(Statement(_IS_RUNNING, (_lock_name(self._schema, name), name)))[0][0])

    @staticmethod
    def lease_name(process: ProcessId) -> str:
        """The name of the lease of a registered process."""
        return _process_name(process)
