"""The event loop's side of the SQLite store: reads at once, queues writes for the writer, replies in commit order."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from hatbox.errors import ProfileCorrupt, ProfileError
from hatbox.store.base import ChangeSubscriber, Store, TransactionFunction, not_open
from hatbox.store.calls import Calls, settle
from hatbox.store.change_poller import ChangePoller
from hatbox.store.keys import configured_key
from hatbox.store.lease import Lease
from hatbox.store.loop_binding import LoopBinding
from hatbox.store.sqlite.background_check import BackgroundCheck
from hatbox.store.sqlite.failures import may_be_read_error, read_again, to_profile_error
from hatbox.store.sqlite.file_lease import FileLease
from hatbox.store.sqlite.processes import PROCESS_SUFFIX, SqliteProcesses
from hatbox.store.sqlite.profile_file import real_path
from hatbox.store.sqlite.reader import Reader
from hatbox.store.sqlite.writer import Writer
from hatbox.store.subscribers import Subscribers
from hatbox.tasks import Reply

__all__ = ["SqliteStore"]

T = TypeVar("T")

_POLL_SECONDS: Final = 0.02  # one poll takes some microseconds
_SUFFIXES: Final = ("", "-wal", "-shm", "-journal", "-lock", "-engine", "-engine.log")
"""The files of a profile, beside those of its processes and engines."""
_ENGINE_PREFIX: Final = "-engine-"  # the leases of engines for some identities
_PAGE_PREFIX: Final = "-ui-"  # the files of the servers of the manager page


class SqliteStore(Store):
    """A store in one SQLite file in WAL mode, which many processes may use at once."""

    def __init__(self, path: Path) -> None:
        self._given_path = self._path = path
        self._is_open = False
        self._closing = asyncio.Lock()
        self._subscribers = Subscribers(str(path))
        self._calls = Calls(self._subscribers)
        self._poller = ChangePoller(self._poll, _POLL_SECONDS)
        self._processes = SqliteProcesses(path)
        self._writer: Writer | None = None
        self._check: BackgroundCheck | None = None

    # ── The profile ──

    @property
    def address(self) -> str:
        return str(self._given_path)

    @property
    def label(self) -> str:
        return str(self._path)

    @property
    def side_folder(self) -> Path | None:
        return self._given_path.parent

    def side_file(self, name: str) -> Path:
        profile = self._given_path.resolve()  # beside the profile itself, not beside a link to it
        return profile.with_name(f"{profile.name}-{name}")

    def owns_file(self, path: Path) -> bool:
        profile, file = self._given_path.resolve(), path.resolve()
        suffix = file.name.removeprefix(profile.name)
        is_beside = file.parent == profile.parent and file.name.startswith(profile.name)
        return is_beside and (suffix in _SUFFIXES or suffix.startswith((PROCESS_SUFFIX, _ENGINE_PREFIX, _PAGE_PREFIX)))

    @property
    def is_encrypted(self) -> bool:
        return self._require_open().file.cipher is not None

    def lease(self, name: str) -> Lease:
        return FileLease(self.side_file(name))

    def time(self) -> float:
        return time.time()

    async def register_process(self) -> None:
        self._require_open()
        await self._processes.register()

    # ── Opening and closing ──

    async def open(self) -> None:
        if self._is_open:
            raise ProfileError(self._path, "it is already open here", "Use it as it is, or create another Profile.")
        self._path = real_path(self._given_path)
        self._subscribers.label = self.label
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
        self._ended = self._loop.create_future()
        self._processes = SqliteProcesses(self._path)
        opened = self._loop.create_future()
        writer = Writer(
            self._path,
            self._processes,
            self.time,
            self.key or configured_key(),
            create=self.create,
            last_sequence=lambda: self._subscribers.last_sequence if self._subscribers else None,
            opened=lambda error: self._binding.call(settle, opened, None, error),
            finished=lambda batch: self._binding.call(self._calls.on_finished, self._loop, batch),
            ended=lambda: self._binding.call(settle, self._ended, None, None),
        )
        try:
            await opened
            with self._sqlite_errors():
                cipher = writer.file.cipher
                self._reader = read_again(partial(Reader, self._path, self._processes, self.time, cipher))
        except BaseException:
            writer.stop()
            raise
        self._writer = writer
        if not writer.file.read_only:
            self._check = BackgroundCheck(self._path, unclean=writer.file.unclean)
        if self._subscribers:
            self._start_polling()

    async def close(self) -> None:
        if not self._is_open or self._binding.is_forked:
            return  # after a fork the writer's thread, and the profile, belong to the parent
        async with self._closing:  # a second call waits until the first has closed the profile
            if self._writer is not None:
                await self._close(self._writer)

    async def _close(self, writer: Writer) -> None:
        self._writer = None
        self._poller.stop()
        if writer.damaged is None:
            self._reader.close()  # before the writer's connection: the last one checkpoints the WAL
        if self._check is not None:
            self._check.stop()
            writer.stop(self._check.join)
        else:
            writer.stop()
        try:
            await asyncio.shield(self._ended)
            await self._calls.drain()
        finally:
            await self._processes.unregister()
            self._is_open = False
            self._reader.close()
            self._processes.remove_stale_leases()

    def _require_open(self) -> Writer:
        if self._writer is None:
            raise not_open(self.label)
        self._binding.check(self.label)
        return self._writer

    # ── Calls ──

    def read(self, work: TransactionFunction[T], *, single_statement: bool = False) -> asyncio.Future[T]:
        writer = self._require_open()
        if self._calls.pending:
            return self._calls.put(self._loop, writer.put, work, writes=False)
        reply: Reply[T] = Reply(loop=self._loop)
        try:
            try:
                reply.set_result(self._reader.run(work, single_statement=single_statement))
            except sqlite3.Error as error:
                if not may_be_read_error(error):
                    raise
                reply.set_result(self._reader.run(work, single_statement=single_statement))
        except sqlite3.Error as error:
            settle(reply, None, self._to_profile_error(error))
        except Exception as error:  # noqa: BLE001 - raised where the reply is awaited
            reply.set_exception(error)
        return reply

    def shared_snapshot(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext() if self._writer is None else self._reader.shared_snapshot()

    def write(self, work: TransactionFunction[T]) -> asyncio.Future[T]:
        writer = self._require_open()
        return self._calls.put(self._loop, writer.put, work, writes=True)

    @property
    def last_call_id(self) -> int:
        return self._calls.last_id

    # ── Changes of other processes ──

    def deliver_pending_changes(self) -> asyncio.Future[None]:
        writer = self._require_open()
        if self._calls.pending:
            return self._calls.put(self._loop, writer.put, lambda _: None, writes=False)
        reply: asyncio.Future[None] = self._loop.create_future()
        try:
            self._poll()
            reply.set_result(None)
        except ProfileError as error:
            reply.set_exception(error)
        return reply

    def subscribe(self, subscriber: ChangeSubscriber) -> None:
        if self._writer:
            self._require_open()
        first = not self._subscribers
        self._subscribers.add(subscriber, self._calls.last_id)
        if first and self._writer:
            self._start_polling()

    def unsubscribe(self, subscriber: ChangeSubscriber) -> None:
        self._subscribers.remove(subscriber)
        if not self._subscribers:
            self._poller.stop()

    def _start_polling(self) -> None:
        # After the subscriber was added: from then on the writer reads the commits of other processes too.
        with self._sqlite_errors():
            self._subscribers.last_sequence = self._reader.last_sequence()
        self._poller.start(self._loop)

    def _poll(self) -> None:
        """Deliver commits by other processes. Not while calls are pending: then the writer reads those commits."""
        if not self._calls.pending:
            with self._sqlite_errors():
                rows = self._reader.changes_after(self._subscribers.last_sequence)
            self._subscribers.deliver_external(rows)

    # ── Errors ──

    @contextlib.contextmanager
    def _sqlite_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._to_profile_error(error) from error

    def _to_profile_error(self, error: sqlite3.Error) -> ProfileError:
        """The error for the caller. After damage nothing more is written."""
        failure = to_profile_error(self._path, error)
        if isinstance(failure, ProfileCorrupt) and self._writer and not self._writer.damaged:
            self._writer.damaged = failure
        return failure
