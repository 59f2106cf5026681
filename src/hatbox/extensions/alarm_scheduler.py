"""Fires the alarms of the extensions that run in this process (`extension_data/alarms.py`)."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

import msgspec

from hatbox.clock import Clock, Timer
from hatbox.extension_data.alarms import CHANGED, NextAlarm, fire_due
from hatbox.store.base import RESYNC, ChangeRecord, Store

__all__ = ["AlarmScheduler"]

_FIRE_DELAY: Final = 0.005  # seconds, so that the response to alarms.create() is sent before the alarm


class AlarmScheduler:
    """Waits for the next alarm of each watched extension. An alarm fires once, even if several processes watch it."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._timers: dict[str, Timer | None] = {}

    def watch(self, extension: str) -> None:
        """Fire alarms that an extension creates from now on."""
        if not self._timers:
            self._store.subscribe(self._on_change)
        self._timers[extension] = None

    def unwatch(self, extension: str) -> None:
        """Stop firing the alarms of an extension."""
        if extension not in self._timers:
            return
        self._schedule(extension, None)
        del self._timers[extension]
        if not self._timers:
            self._store.unsubscribe(self._on_change)

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic == CHANGED:
            alarm = msgspec.json.decode(change.payload, type=NextAlarm)
            if alarm.extension in self._timers:
                self._schedule(alarm.extension, alarm.next)
        elif change.topic == RESYNC:
            for extension in self._timers:
                self._schedule(extension, self._clock.time() * 1000)  # fire_due() reads what is due

    def _schedule(self, extension: str, when: float | None) -> None:
        if (timer := self._timers[extension]) is not None:
            timer.cancel()
        job = partial(self._fire, extension, when or 0)
        self._timers[extension] = None if when is None else self._clock.call_at(when / 1000, job)

    async def _fire(self, extension: str, when: float) -> None:
        await asyncio.sleep(_FIRE_DELAY)
        now = max(self._clock.time() * 1000, when)
        await self._store.write(lambda transaction: fire_due(transaction, extension, now))
