"""Fires the alarms of the extensions that run in this process. What an alarm is, and who hears of it, is in the API."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

import msgspec

from hatbox.api.namespaces.alarms import CHANGED, Scheduled, fire_due
from hatbox.clock import Clock, Timer
from hatbox.store.base import RESYNC, ChangeRecord, Store

__all__ = ["AlarmScheduler"]


_FIRE_DELAY: Final = 0.005  # seconds: the answer to the call that made an alarm due goes before the alarm


class AlarmScheduler:
    """Waits for the next alarm of each extension. Where several processes run one, each alarm fires once all the same:

    whoever comes first takes it out of the profile.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._timers: dict[str, Timer | None] = {}

    def watch(self, extension: str) -> None:
        """Fire the alarms that an extension sets from now on."""
        if not self._timers:
            self._store.subscribe(self._on_change)
        self._timers[extension] = None

    def unwatch(self, extension: str) -> None:
        """Leave the alarms of an extension alone."""
        if extension not in self._timers:
            return
        self._schedule(extension, None)
        del self._timers[extension]
        if not self._timers:
            self._store.unsubscribe(self._on_change)

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic == CHANGED:
            scheduled = msgspec.json.decode(change.payload, type=Scheduled)
            if scheduled.extension in self._timers:
                self._schedule(scheduled.extension, scheduled.next)
        elif change.topic == RESYNC:
            for extension in self._timers:
                self._schedule(extension, self._clock.time() * 1000)  # whatever is due then, it is looked for

    def _schedule(self, extension: str, when: float | None) -> None:
        if (timer := self._timers[extension]) is not None:
            timer.cancel()
        job = partial(self._fire, extension, when or 0)
        self._timers[extension] = None if when is None else self._clock.call_at(when / 1000, job)

    async def _fire(self, extension: str, when: float) -> None:
        await asyncio.sleep(_FIRE_DELAY)
        now = max(self._clock.time() * 1000, when)
        await self._store.write(lambda transaction: fire_due(transaction, extension, now))
