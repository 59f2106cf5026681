"""The event hatbox.extensions.onLog: new lines of watched consoles."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import msgspec

from hatbox.errors import ProfileError
from hatbox.events import Event
from hatbox.extension_data import run_records
from hatbox.extension_data.log_watching import LOGGED, LogLine, end_log, read_log
from hatbox.store.base import ChangeRecord, Store, Transaction
from hatbox.store.change_events import ChangeSubscription

__all__ = ["LogLines", "LoggedLines"]


class LogLines(msgspec.Struct, frozen=True):
    """Payload of onLog, and the result of log()."""

    id: str
    run: str
    lines: tuple[LogLine, ...]


class LoggedLines:
    """The event onLog, for extensions whose logs are watched. Deletes lines that are not watched any more."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.event: Event[LogLines] = Event("extensions.onLog", on_listeners_changed=self._update)
        self._subscription = ChangeSubscription(store, self._on_change)
        self._seen: dict[str, tuple[str, int]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Future[None]] = set()

    def watched(self, area: str, seconds: float) -> None:
        """The log of an extension is watched for some seconds from now on."""
        if (timer := self._timers.pop(area, None)) is not None:
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._timers[area] = loop.call_later(seconds + 1.0, self._on_end, area)

    def _on_end(self, area: str) -> None:
        self._timers.pop(area, None)
        self._seen.pop(area, None)
        self._spawn(self._delete(area))

    async def _delete(self, area: str) -> None:
        def delete(transaction: Transaction) -> None:
            if run_records.get(transaction, area) is None:  # otherwise its process does it
                end_log(transaction, area)

        await self._store.write(delete)

    def _update(self) -> None:
        self._subscription.set(bool(self.event))

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic == LOGGED:
            self._spawn(self._read(msgspec.json.decode(change.payload, type=str)))

    async def _read(self, area: str) -> None:
        record = await self._store.read(lambda transaction: read_log(transaction, area))
        run, last = self._seen.get(area, ("", 0))
        new = tuple(line for line in record.lines if run != record.run or line.number > last)
        if new:
            self._seen[area] = record.run, new[-1].number
            self.event.emit(LogLines(area, record.run, new))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(_without_errors(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _without_errors(work: Coroutine[Any, Any, None]) -> None:
    """The profile may be closed meanwhile: the lines are then deleted by the next start of the extension."""
    try:
        await work
    except ProfileError:
        return
