"""The clock of extensions, with timers. Tests can advance it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import time
from collections.abc import Awaitable, Callable

from hatbox.tasks import Tasks

__all__ = ["Clock", "Timer"]

logger = logging.getLogger("hatbox.clock")


class Timer:
    """A job to run at a time, in seconds since 1970, unless cancelled."""

    def __init__(self, when: float, job: Callable[[], Awaitable[None]], done: Callable[[Timer], None]) -> None:
        self.when = when
        self.job = job
        self._done = done

    def cancel(self) -> None:
        """Cancel the job. Does nothing if it has run or was cancelled."""
        self._done(self)


class Clock:
    """The time, and jobs that run at set times on the event loop."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._offset = 0.0
        self._order = itertools.count()
        self._timers: dict[Timer, int] = {}
        self._queue: list[tuple[float, int, Timer]] = []
        self._alarm: asyncio.TimerHandle | None = None
        self._tasks = Tasks()

    def time(self) -> float:
        """Seconds since 1970."""
        return self._now() + self._offset

    def call_at(self, when: float, job: Callable[[], Awaitable[None]]) -> Timer:
        """Run a job at a time, or at once if that has passed. Jobs of the same time run in order."""
        timer = Timer(when, job, self._remove)
        number = self._timers[timer] = next(self._order)
        heapq.heappush(self._queue, (when, number, timer))
        self._set_alarm()
        return timer

    async def advance(self, seconds: float) -> None:
        """Advance the time at once. Due jobs run one after the other, each at its own time, before this returns."""
        if seconds < 0:
            raise ValueError(f"seconds must not be negative: {seconds}")
        target = self.time() + seconds
        while (timer := self._next()) is not None and timer.when <= target:
            self._offset += max(0.0, timer.when - self.time())
            await self._run(timer)
        self._offset += max(0.0, target - self.time())
        self._set_alarm()

    def _next(self) -> Timer | None:
        """The timer that is due first. Drops cancelled ones."""
        while self._queue and self._queue[0][2] not in self._timers:
            heapq.heappop(self._queue)
        return self._queue[0][2] if self._queue else None

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if (timer := self._next()) is not None:
            loop = asyncio.get_running_loop()
            self._alarm = loop.call_later(max(0.0, timer.when - self.time()), self._run_due_timers)

    def _run_due_timers(self) -> None:
        while (timer := self._next()) is not None and timer.when <= self.time():
            self._remove(timer)
            self._tasks.spawn(self._run(timer))
        self._set_alarm()

    async def _run(self, timer: Timer) -> None:
        self._remove(timer)
        try:
            await timer.job()
        except Exception:
            logger.exception("timer callback at %s failed", timer.when)

    def _remove(self, timer: Timer) -> None:
        self._timers.pop(timer, None)
