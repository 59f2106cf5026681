"""The event loop's side of the PostgreSQL store: queues calls for the worker, and replies in commit order."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, TypeVar

from hatbox.errors import ProfileError
from hatbox.store.base import ChangeSubscriber, Store, TransactionFunction, not_open
from hatbox.store.calls import Call, Calls, settle
from hatbox.store.change_poller import ChangePoller
from hatbox.store.keys import configured_key
from hatbox.store.lease import Lease
from hatbox.store.loop_binding import LoopBinding
from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.failures import ConnectionLost, ServerError
from hatbox.store.postgres.leases import LeaseSession, PostgresLease, PostgresProcesses
from hatbox.store.postgres.listener import NotificationListener
from hatbox.store.postgres.local_reader import LocalReader, TooManyTrips
from hatbox.store.postgres.worker import PostgresWorker, follow, poll
from hatbox.store.processes import current_process
from hatbox.store.server_clock import ServerClock
from hatbox.store.subscribers import Subscribers
from hatbox.tasks import Reply

__all__ = ["PostgresStore"]

T = TypeVar("T")

_POLL_SECONDS: Final = 1.0  # in case a notification is lost
_REGISTER_SECONDS: Final = 1.0  # between attempts to register the process again
_READS_AFTER_DROP: Final = 1000  # reads by the worker before the next attempt, after the server was slow
_SUBSCRIBE_SECONDS: Final = 0.5  # how long the event loop may wait for the server


async def _stay_registered(lease: PostgresLease, lost: asyncio.Event) -> None:
    """Acquire the lease of a registered process again whenever the connection was lost."""
    while True:
        await lost.wait()
        with contextlib.suppress(ProfileError):
            if await lease.acquire("process") is None:
                lost.clear()
                continue
        await asyncio.sleep(_REGISTER_SECONDS)


class PostgresStore(Store):
    """A store in a schema of a PostgreSQL database, which processes on many machines may use at once."""

    reads_before_local = 20
    """After how many reads a connection for reads on the event loop's thread is made, if the server is local."""

    def __init__(self, address: str) -> None:
        self._address = PostgresAddress.parse(address)
        self._is_open = False
        self._closing = asyncio.Lock()
        self._subscribers = Subscribers(self._address.label)
        self._calls = Calls(self._subscribers)
        self._poller = ChangePoller(self._poll, _POLL_SECONDS)
        self._leases = LeaseSession(self._address)
        self._clock = ServerClock(self._address.label)
        self._registering: asyncio.Future[None] | None = None
        self._worker: PostgresWorker | None = None
        self._listener: NotificationListener | None = None
        self._held_back: list[Call] | None = None
        self._is_polling = self._poll_again = False
        self._reader: LocalReader | None = None
        self._connecting: threading.Thread | None = None  # makes the connection of the reader
        self._reads_by_worker = 0

    # ── The profile ──

    @property
    def address(self) -> str:
        return self._address.url

    @property
    def label(self) -> str:
        return self._address.label

    @property
    def side_folder(self) -> Path | None:
        return None

    def side_file(self, name: str) -> Path | None:
        del name
        return None

    def owns_file(self, path: Path) -> bool:
        del path
        return False

    @property
    def is_encrypted(self) -> bool:
        return self._require_open().is_encrypted

    def lease(self, name: str) -> Lease:
        return PostgresLease(self._leases, name)

    def time(self) -> float:
        return self._clock.time()

    async def register_process(self) -> None:
        self._require_open()
        if self._registering is None:
            lease = PostgresLease(self._leases, PostgresProcesses.lease_name(current_process()))
            lost = asyncio.Event()
            lease.on_lost(lambda _: lost.set())
            if await lease.acquire("process") is not None:
                lost.set()  # an earlier connection of this process, which the server believes to be alive
            self._registering = asyncio.ensure_future(_stay_registered(lease, lost))

    # ── Opening and closing ──

    async def open(self) -> None:
        if self._is_open:
            raise ProfileError(self.label, "it is already open here", "Use it as it is, or create another Profile.")
        self._is_open = True
        try:
            await self._open()
        except BaseException:
            self._is_open = False
            raise

    async def _open(self) -> None:
        self._binding = LoopBinding()
        self._loop = self._binding.loop
        self._closing = asyncio.Lock()
        self._ended = ended = self._loop.create_future()
        self._is_polling = self._poll_again = False
        opened = self._loop.create_future()
        worker = PostgresWorker(
            self._address,
            functools.partial(PostgresProcesses, self._address.schema),
            self._clock,
            self.key or configured_key(),
            create=self.create,
            opened=lambda error: self._binding.call(settle, opened, None, error),
            finished=lambda batch: self._binding.call(self._calls.on_finished, self._loop, batch),
            ended=lambda: self._binding.call(settle, ended, None, None),
            lost=lambda: self._binding.call(self._drop_reader),
        )
        try:
            await opened
        except BaseException:
            worker.stop()
            raise
        self._worker = worker
        self._reads_by_worker = 0
        if self._subscribers:
            self._start_following(worker)

    async def close(self) -> None:
        if not self._is_open or self._binding.is_forked:
            return  # after a fork the connection belongs to the parent
        async with self._closing:  # a second call waits until the first has closed the profile
            if self._worker is not None:
                worker, self._worker = self._worker, None
                self._stop_listening()
                self._drop_reader()
                worker.stop()
                try:
                    await asyncio.shield(self._ended)
                    await self._calls.drain()
                finally:
                    if self._registering is not None:
                        self._registering.cancel()
                        self._registering = None
                    await self._leases.close()
                    if self._connecting is not None:  # its connection has a lock of the profile
                        await asyncio.to_thread(self._connecting.join, _SUBSCRIBE_SECONDS)
                        self._connecting = None
                    self._is_open = False

    def _require_open(self) -> PostgresWorker:
        if self._worker is None:
            raise not_open(self.label)
        self._binding.check(self.label)
        return self._worker

    # ── Calls ──

    def read(self, work: TransactionFunction[T], *, single_statement: bool = False) -> asyncio.Future[T]:
        del single_statement
        worker = self._require_open()
        if self._calls.pending or self._held_back is not None:
            return self._put(work, writes=False)
        if self._reader is None:
            self._want_reader(worker)
            return self._put(work, writes=False)
        return self._read_here(self._reader, work)

    def _read_here(self, reader: LocalReader, work: TransactionFunction[T]) -> asyncio.Future[T]:
        reply: Reply[T] = Reply(loop=self._loop)
        try:
            reply.set_result(reader.read(work))
        except TooManyTrips:
            return self._put(work, writes=False)
        except (ConnectionLost, ServerError):  # also a transaction that has failed; the worker reports it
            self._drop_reader()
            return self._put(work, writes=False)
        except Exception as error:  # noqa: BLE001 - raised where the reply is awaited
            reply.set_exception(error)
        return reply

    def _want_reader(self, worker: PostgresWorker) -> None:
        """Make a connection for local reads, once it has paid for itself."""
        self._reads_by_worker += 1
        if self._address.is_local and self._reads_by_worker == self.reads_before_local:
            thread = threading.Thread(target=self._make_reader, args=(worker,), name="hatbox-connect", daemon=True)
            self._connecting = thread
            thread.start()

    def _make_reader(self, worker: PostgresWorker) -> None:
        with contextlib.suppress(ConnectionLost, ServerError, ProfileError):
            reader = worker.new_reader()
            try:
                self._loop.call_soon_threadsafe(self._use_reader, worker, reader)
            except RuntimeError:  # the loop is closed
                reader.close()

    def _use_reader(self, worker: PostgresWorker, reader: LocalReader) -> None:
        if self._worker is worker and self._reader is None:
            self._reader = reader
        else:
            reader.close()

    def _drop_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
            self._reads_by_worker = -_READS_AFTER_DROP

    @contextlib.contextmanager
    def _hold_back(self) -> Iterator[None]:
        self._held_back = []
        self._loop.call_soon(self._send_held_back)  # the body must not await, but a mistake must not block it
        try:
            yield
        finally:
            self._send_held_back()

    def _send_held_back(self) -> None:
        held, self._held_back = self._held_back, None
        if held and self._worker is not None:
            self._worker.put(*held)

    def shared_snapshot(self) -> AbstractContextManager[None]:
        """The calls in the body share their trips. Each sees a state of its own."""
        return contextlib.nullcontext() if self._worker is None or self._held_back is not None else self._hold_back()

    def write(self, work: TransactionFunction[T]) -> asyncio.Future[T]:
        return self._put(work, writes=True)

    def _put(self, work: TransactionFunction[T], *, writes: bool) -> asyncio.Future[T]:
        worker = self._require_open()
        queue = worker.put if self._held_back is None else self._held_back.append
        return self._calls.put(self._loop, queue, work, writes=writes)

    @property
    def last_call_id(self) -> int:
        return self._calls.last_id

    # ── Changes of other processes ──

    def deliver_pending_changes(self) -> asyncio.Future[None]:
        return self._put(follow, writes=False)

    def subscribe(self, subscriber: ChangeSubscriber) -> None:
        worker = self._require_open() if self._worker else None
        first = not self._subscribers
        self._subscribers.add(subscriber, self._calls.last_id)
        if first and worker:
            self._start_following(worker)

    def unsubscribe(self, subscriber: ChangeSubscriber) -> None:
        self._subscribers.remove(subscriber)
        if not self._subscribers:
            self._stop_listening()
            if self._worker:
                self._worker.stop_following()

    def _start_following(self, worker: PostgresWorker) -> None:
        sequence = worker.start_following(_SUBSCRIBE_SECONDS)
        if sequence is not None:  # otherwise the server cannot be reached, and a resync is delivered when it can
            self._subscribers.last_sequence = sequence
        self._listener = NotificationListener(
            self._address, lambda: self._binding.call(self._poll), ignored=lambda: worker.backend_pid
        )
        self._poller.start(self._loop)

    def _stop_listening(self) -> None:
        self._poller.stop()
        if self._listener is not None:
            self._listener.stop()
            self._listener = None

    def _poll(self) -> None:
        """Look for commits by other processes. Once at a time."""
        if self._worker is None or not self._subscribers:
            return
        self._poll_again = self._is_polling
        if not self._is_polling:
            self._is_polling = True
            self._put(poll, writes=False).add_done_callback(self._polled)

    def _polled(self, done: asyncio.Future[None]) -> None:
        self._is_polling = False
        error = None if done.cancelled() else done.exception()
        if isinstance(error, ProfileError):
            self._poller.log_once(error)
        if self._poll_again:  # a notification came meanwhile
            self._poll()
