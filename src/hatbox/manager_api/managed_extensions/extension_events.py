"""The events of hatbox.extensions: what may have changed, and new lines of watched consoles.

Buttons and menus are not in the change log: an extension can change them in a loop. So their records are compared at
intervals, only while onChanged has listeners.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from hashlib import blake2b
from typing import Any, Final

import msgspec

from hatbox.errors import ProfileClosed, ProfileError
from hatbox.events import Event
from hatbox.extension_data import menu_items, run_records
from hatbox.extension_data.actions import ACTION, PAGE_ACTION
from hatbox.extension_data.log_watching import LOGGED, LogLine, end_log, read_log
from hatbox.extensions.page_triggers import shows_pages
from hatbox.store.base import ChangeRecord, Store, Transaction

__all__ = ["ChangedExtensions", "ExtensionChanges", "LogLines", "LoggedLines"]

_INTERVAL: Final = 0.1  # seconds
_KINDS: Final = ("installed", "granted", "command", ACTION, PAGE_ACTION, menu_items.KIND)


class ChangedExtensions(msgspec.Struct, frozen=True):
    """Payload of onChanged."""

    ids: tuple[str, ...]


class ExtensionChanges:
    """The event onChanged."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.event: Event[ChangedExtensions] = Event("extensions.onChanged", on_listeners_changed=self._update)
        self._task: asyncio.Task[None] | None = None

    def _update(self) -> None:
        if self.event and self._task is None:
            self._task = asyncio.ensure_future(self._compare())
        elif not self.event and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _compare(self) -> None:
        before: Mapping[str, bytes] | None = None
        while True:
            try:
                now = await self._store.read(_states)
            except ProfileClosed:
                return
            except ProfileError:  # the server of the profile is not reachable
                await asyncio.sleep(1.0)
                continue
            if before is not None and now != before:
                ids = [area for area in {**before, **now} if before.get(area) != now.get(area)]
                self.event.emit(ChangedExtensions(tuple(ids)))
            before = now
            await asyncio.sleep(_INTERVAL)


def _states(transaction: Transaction) -> dict[str, bytes]:
    """A hash of all that is shown of each extension."""
    found: dict[str, list[object]] = {}
    for kind in _KINDS:
        for area, key, value in transaction.extensions.find(kind):
            found.setdefault(area, []).append((kind, key, value))
    for run in run_records.get_all(transaction):
        found.setdefault(run.id, []).append((run.process_id, shows_pages(transaction, run)))
    return {area: blake2b(repr(each).encode(), digest_size=16).digest() for area, each in found.items()}


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
        self._is_subscribed = False
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
        wanted = bool(self.event)
        if wanted and not self._is_subscribed:
            self._store.subscribe(self._on_change)
        elif self._is_subscribed and not wanted:
            self._store.unsubscribe(self._on_change)
        self._is_subscribed = wanted

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
