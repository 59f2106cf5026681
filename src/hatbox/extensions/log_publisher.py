"""Stores console lines of the extensions of this process in the profile, while a program watches them.

At most five times a second for each extension, so that one that floods its console delays no other program.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

import msgspec

from hatbox.extension_data.log_watching import LOG_WATCHED, store_log, watched_until
from hatbox.extensions.log_ring import LogRing
from hatbox.extensions.runtime import LogEntry
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.tasks import Tasks

__all__ = ["LogPublisher"]

logger = logging.getLogger("hatbox.extensions")

_FIRST_DELAY: Final = 0.02  # seconds, in which the lines of one moment arrive
_INTERVAL: Final = 0.2  # seconds between two writes of an extension


class LogPublisher:
    """The console lines of the extensions that run in this process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._logs: dict[str, _PublishedLog] = {}
        self._tasks = Tasks(_log_error)

    def start(self, area: str) -> None:
        """Collect the lines of an extension from now on."""
        if not self._logs:
            self._store.subscribe(self._on_change)
        self._logs[area] = log = _PublishedLog(self._store, area, self._tasks)
        self._tasks.spawn(log.check())

    async def stop(self, area: str) -> None:
        """Store the last lines of an extension that has ended, if they are watched. The program that watches deletes
        them."""
        log = self._logs.pop(area, None)
        if not self._logs:
            self._store.unsubscribe(self._on_change)
        if log is not None:
            await log.end()

    def add(self, area: str, entry: LogEntry) -> None:
        """Add a line. Cheap while it is not watched."""
        if (log := self._logs.get(area)) is not None:
            log.add(entry)

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic == LOG_WATCHED:
            log = self._logs.get(msgspec.json.decode(change.payload, type=str))
            if log is not None:
                self._tasks.spawn(log.check())
        elif change.topic == RESYNC:
            for log in self._logs.values():
                self._tasks.spawn(log.check())


class _PublishedLog:
    def __init__(self, store: Store, area: str, tasks: Tasks) -> None:
        self._store = store
        self._area = area
        self._tasks = tasks
        self._ring = LogRing()
        self._until: float | None = None  # when the last watch ends
        self._written = -_INTERVAL  # by the clock of the event loop
        self._timer: asyncio.TimerHandle | None = None
        self._is_due = False  # whether the timer is for lines, and not for the end of the watch
        self._writing = asyncio.Lock()
        self._has_ended = False

    def add(self, entry: LogEntry) -> None:
        self._ring.add(entry, self._store.time())
        if self._until is not None and not self._is_due:
            self._is_due = True
            loop = asyncio.get_running_loop()
            self._write_at(max(loop.time() + _FIRST_DELAY, self._written + _INTERVAL))

    async def check(self) -> None:
        """Write the lines if they are watched."""
        until = await self._store.read(lambda transaction: watched_until(transaction, self._area))
        if until is not None:
            await self._write()

    async def end(self) -> None:
        self._has_ended = True
        async with self._writing:
            self._cancel()
            if self._until is not None:
                record = self._ring.record()
                await self._store.write(lambda transaction: store_log(transaction, self._area, record))

    def _write_at(self, when: float) -> None:
        self._cancel()
        self._timer = asyncio.get_running_loop().call_at(when, self._on_time)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_time(self) -> None:
        self._timer = None
        self._tasks.spawn(self._write())

    async def _write(self) -> None:
        async with self._writing:
            if self._has_ended:
                return
            loop = asyncio.get_running_loop()
            self._cancel()
            self._written = loop.time()
            record = self._ring.record()
            self._until = await self._store.write(lambda transaction: store_log(transaction, self._area, record))
            self._is_due = self._ring.has_new
            if self._until is None:
                return
            if self._is_due:
                self._write_at(self._written + _INTERVAL)
            else:  # to delete the lines, if the watch was not renewed
                self._write_at(loop.time() + max(_INTERVAL, self._until - self._store.time()))


def _log_error(error: BaseException) -> None:
    logger.debug("storing console lines failed", exc_info=error)
