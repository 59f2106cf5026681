"""The loop's side of the SQLite store: reads at once, hands writes to the writer, answers and tells in commit order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from hatbox.errors import ProfileClosed, ProfileCorrupt, ProfileError
from hatbox.store.base import RESYNC, ChangeRecord, ChangeSubscriber, Store, TransactionFunction
from hatbox.store.sqlite.background_check import BackgroundCheck
from hatbox.store.sqlite.failures import explained
from hatbox.store.sqlite.profile_file import connect, real_path
from hatbox.store.sqlite.tables import SqliteTransaction
from hatbox.store.sqlite.writer import Call, Writer

__all__ = ["SqliteStore"]

T = TypeVar("T")

logger = logging.getLogger("hatbox.store")

_POLL_SECONDS: Final = 0.02  # how soon other processes' changes are noticed; one look costs some microseconds


class SqliteStore(Store):
    """A store in one SQLite file in WAL mode, which many processes may use at once."""

    def __init__(self, path: Path) -> None:
        self._given_path = self._path = path
        self._is_open = False
        self._closing = asyncio.Lock()
        self._calls = 0
        self._unanswered = 0
        self._finished: deque[Call] = deque()
        self._followers: dict[ChangeSubscriber, int] = {}  # and the number of calls made before each began to follow
        self._last_sequence = 0  # the last row of the log of changes that followers were told of
        self._poll: asyncio.TimerHandle | None = None
        self._all_answered: asyncio.Future[None] | None = None
        self._last_logged_error = ""
        self._answering = False  # whether a call has the turn of the loop to itself
        self._together = False  # whether reads share one transaction, and whether it has begun
        self._in_shared_read = False
        self._writer: Writer | None = None
        self._check: BackgroundCheck | None = None

    async def open(self) -> None:
        if self._is_open:
            raise ProfileError(
                self._path, "it is already open here", "Use it as it is, or make another profile object."
            )
        self._path = real_path(self._given_path)
        self._is_open = True
        try:
            await self._open()
        except BaseException:
            self._is_open = False
            raise

    async def _open(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Lock()
        self._process, self._thread = os.getpid(), threading.get_ident()
        self._ended = self._loop.create_future()
        opened = self._loop.create_future()
        writer = Writer(
            self._path,
            known=lambda: self._last_sequence if self._followers else None,
            opened=lambda error: self._from_writer(_settle, opened, None, error),
            finished=lambda batch: self._from_writer(self._take, batch),
            ended=lambda: self._from_writer(_settle, self._ended, None, None),
        )
        try:
            await opened
            with self._sqlite_errors():
                self._connection = connect(self._path, read_only=True)
        except BaseException:
            writer.stop()
            raise
        self._reader = SqliteTransaction(self._connection)
        self._ask = self._connection.cursor().execute
        self._writer = writer
        if not writer.file.read_only:
            self._check = BackgroundCheck(self._path, unclean=writer.file.unclean)
        if self._followers:
            self._start_polling()

    async def close(self) -> None:
        if not self._is_open or self._process != os.getpid():
            return  # after a fork the writer's thread is not in this process, and the profile not ours to close
        async with self._closing:  # who closes it a second time waits until it is closed
            if self._writer is not None:
                await self._close(self._writer)

    async def _close(self, writer: Writer) -> None:
        self._writer = None
        if self._poll:
            self._poll.cancel()
        if writer.damaged is None:
            self._connection.close()  # before the writer's: the last connection checkpoints the WAL
        if self._check is not None:
            self._check.stop()
            writer.stop(self._check.join)
        else:
            writer.stop()
        try:
            await asyncio.shield(self._ended)
            if self._unanswered:  # the writer is done; its last answers are on their way
                self._all_answered = self._loop.create_future()
                await asyncio.shield(self._all_answered)
        finally:
            self._all_answered = None
            self._is_open = False
            self._connection.close()

    def read(self, work: TransactionFunction[T], *, asks_once: bool = False) -> asyncio.Future[T]:
        writer = self._require_open()
        if self._unanswered:
            return self._put(writer, work, writes=False)
        reply: asyncio.Future[T] = self._loop.create_future()
        try:
            if self._together:
                self._begin()
                reply.set_result(work(self._reader))
            elif asks_once:
                reply.set_result(work(self._reader))
            else:
                self._begin()  # a work that asks twice sees one state of the profile
                try:
                    reply.set_result(work(self._reader))
                finally:
                    self._end()
        except sqlite3.Error as error:
            _settle(reply, None, self._noted(error))
        except Exception as error:  # noqa: BLE001 - whoever awaits the answer gets it
            reply.set_exception(error)
        return reply

    @contextlib.contextmanager
    def shared_snapshot(self) -> Iterator[None]:
        if self._together:
            yield
            return
        self._together = True
        try:
            yield
        finally:
            self._together = False
            self._end()

    def _begin(self) -> None:
        if not self._in_shared_read:
            self._ask("BEGIN")
            self._in_shared_read = True

    def _end(self) -> None:
        """End the transaction that reads share, so that the next one sees what has been committed since."""
        if self._in_shared_read:
            self._in_shared_read = False
            if self._connection.in_transaction:  # SQLite itself ends one in which the disk fails
                self._ask("COMMIT")

    def write(self, work: TransactionFunction[T]) -> asyncio.Future[T]:
        return self._put(self._require_open(), work, writes=True)

    @property
    def last_call_id(self) -> int:
        return self._calls

    def deliver_pending_changes(self) -> asyncio.Future[None]:
        writer = self._require_open()
        if self._unanswered:
            return self._put(writer, lambda _: None, writes=False)
        reply: asyncio.Future[None] = self._loop.create_future()
        try:
            self._notify_external(self._external_changes())
            reply.set_result(None)
        except ProfileError as error:
            reply.set_exception(error)
        return reply

    def subscribe(self, follower: ChangeSubscriber) -> None:
        if self._writer:
            self._require_open()
        first = not self._followers
        self._followers[follower] = self._calls
        if first and self._writer:
            self._start_polling()

    def unsubscribe(self, follower: ChangeSubscriber) -> None:
        self._followers.pop(follower, None)
        if not self._followers and self._poll:
            self._poll.cancel()

    def _start_polling(self) -> None:
        # Only after the writer could see that somebody follows: from here on it brings along what others commit.
        with self._sqlite_errors():
            self._end()
            self._last_sequence = self._reader.changes.latest()
        self._poll = self._loop.call_later(_POLL_SECONDS, self._poll_changes)

    def _require_open(self) -> Writer:
        if self._writer is None:
            raise ProfileClosed(self._path, "it is not open", "Open it with hatbox.open() first.")
        if self._process != os.getpid():
            raise ProfileClosed(self._path, "another process has opened it", "Close it before the fork.")
        running = asyncio._get_running_loop()
        # No loop at all is fine in the thread that opened it: loop.run_until_complete(profile.identities.query())
        if running is not self._loop and (running or self._thread != threading.get_ident()):
            raise ProfileClosed(
                self._path,
                "it is used outside of the event loop that has opened it",
                "Open it where it is used, or use hatbox.open_sync() for threads and for code without a loop.",
            )
        return self._writer

    @contextlib.contextmanager
    def _sqlite_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._noted(error) from error

    def _noted(self, error: sqlite3.Error) -> ProfileError:
        """The error for the caller. After damage nothing more is written."""
        failure = explained(self._path, error)
        if isinstance(failure, ProfileCorrupt) and self._writer and not self._writer.damaged:
            self._writer.damaged = failure
        return failure

    def _put(self, writer: Writer, work: TransactionFunction[T], *, writes: bool) -> asyncio.Future[T]:
        reply: asyncio.Future[T] = self._loop.create_future()
        self._calls += 1
        self._unanswered += 1
        writer.put(Call(self._calls, work, reply, writes=writes))
        return reply

    def _from_writer(self, function: Callable[..., None], *arguments: Any) -> None:
        """Called in the writer's thread: run `function` in the loop's. A loop that is gone has nobody who waits."""
        try:  # noqa: SIM105 - contextlib.suppress() would be a measurable part of a call
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            pass

    def _take(self, calls: list[Call]) -> None:
        self._finished.extend(calls)
        if not self._answering:
            self._answer()

    def _answer(self) -> None:
        """Tell and answer, call by call. While anyone listens, each call has a turn of the loop to itself, so that
        a caller goes on before the next caller's event is told."""
        self._answering = False
        while self._finished and not self._followers:
            self._settle(self._finished.popleft())
        if self._finished:
            call = self._finished.popleft()
            try:
                self._notify_before_reply(call)
            finally:  # a listener may end the program, and then too every call gets its answer
                self._settle(call)
                self._answering = True
                self._loop.call_soon(self._answer)

    def _settle(self, call: Call) -> None:
        self._last_sequence = max(self._last_sequence, call.sequence)
        if call.reply is None:  # it only brought news of others
            return
        self._unanswered -= 1
        _settle(call.reply, call.value, call.error)
        if not self._unanswered and self._all_answered:
            self._all_answered.set_result(None)

    def _notify_before_reply(self, call: Call) -> None:
        self._notify_external(call.others)
        for topic, payload in call.changes:
            self._notify(ChangeRecord(topic, bytes(payload), call.number))

    def _poll_changes(self) -> None:
        """See whether other processes have committed. While calls of our own are under way, those bring it along."""
        self._poll = self._loop.call_later(_POLL_SECONDS, self._poll_changes)
        if not self._unanswered:
            try:
                self._notify_external(self._external_changes())
            except ProfileError as error:
                if str(error) != self._last_logged_error:  # once, and not fifty times a second
                    self._last_logged_error = str(error)
                    logger.error("%s", error)

    def _external_changes(self) -> list[tuple[int, list[ChangeRecord]]]:
        """What has been committed since followers were last told. Right only while no call of our own is under way."""
        with self._sqlite_errors():
            self._end()
            return self._reader.changes.after(self._last_sequence)

    def _notify_external(self, rows: Iterable[tuple[int, list[ChangeRecord]]]) -> None:
        for sequence, changes in rows:
            if sequence <= self._last_sequence:
                continue
            if sequence > self._last_sequence + 1:
                logger.warning("%s: changes %d to %d were missed", self._path, self._last_sequence + 1, sequence - 1)
                self._notify(ChangeRecord(RESYNC, b"", None))
            self._last_sequence = sequence
            for change in changes:
                self._notify(change)

    def _notify(self, change: ChangeRecord) -> None:
        for follower, calls_before in list(self._followers.items()):
            if change.call is None or change.call > calls_before:
                try:
                    follower(change)
                except Exception:
                    logger.exception("%s: a follower of its changes raised", self._path)


def _settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():  # cancelled: the work is done all the same
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
