"""The time, and what is to be done at one. A test can move it; nothing else can. Knows nothing of what is done."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import time
from collections.abc import Awaitable, Callable

__all__ = ["Clock", "Timer"]

logger = logging.getLogger("hatbox.clock")


class Timer:
    """Something that is to be done at a time, in seconds since 1970, unless it is cancelled before."""

    def __init__(self, when: float, job: Callable[[], Awaitable[None]], done: Callable[[Timer], None]) -> None:
        self.when = when
        self.job = job
        self._done = done

    def cancel(self) -> None:
        """Do not do it. One that has been done, or was cancelled before, is no error."""
        self._done(self)


class Clock:
    """Tells the time, and has jobs done at their times on the loop that asked for them."""

    def __init__(self) -> None:
        self._offset = 0.0
        self._order = itertools.count()
        self._timers: dict[Timer, int] = {}
        self._queue: list[tuple[float, int, Timer]] = []
        self._alarm: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def time(self) -> float:
        """Seconds since 1970."""
        return time.time() + self._offset

    def call_at(self, when: float, job: Callable[[], Awaitable[None]]) -> Timer:
        """Have a job done at a time, or at once if that has passed. Those of the same time are done in their order."""
        timer = Timer(when, job, self._forget)
        number = self._timers[timer] = next(self._order)
        heapq.heappush(self._queue, (when, number, timer))
        self._set_alarm()
        return timer

    async def advance(self, seconds: float) -> None:
        """Let time pass at once. Whatever falls due is done at its own time, one after the other, before this ends."""
        if seconds < 0:
            raise ValueError(f"time goes forward only, not by {seconds} seconds")
        target = self.time() + seconds
        while (timer := self._next()) is not None and timer.when <= target:
            self._offset += max(0.0, timer.when - self.time())
            await self._do(timer)
        self._offset += max(0.0, target - self.time())
        self._set_alarm()

    def _next(self) -> Timer | None:
        """The timer that is due first; those that were cancelled are dropped."""
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
            task = asyncio.ensure_future(self._do(timer))
            self._forget(timer)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._set_alarm()

    async def _do(self, timer: Timer) -> None:
        self._forget(timer)
        try:
            await timer.job()
        except Exception:
            logger.exception("what was to be done at %s failed", timer.when)

    def _forget(self, timer: Timer) -> None:
        self._timers.pop(timer, None)
