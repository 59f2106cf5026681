"""Suspends an event page that has been idle."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from hatbox.extensions.runtime import Runtime

__all__ = ["IdleTimer"]

_MIN_SLEEP = 0.05


class IdleTimer:
    """Calls `suspend` when the runtime has been idle for `seconds`. `suspend` returns whether it did."""

    def __init__(self, seconds: float, suspend: Callable[[], Awaitable[bool]]) -> None:
        self._seconds = seconds
        self._suspend = suspend
        self._task: asyncio.Task[None] | None = None

    def start(self, runtime: Callable[[], Runtime | None]) -> None:
        """Watch a runtime until it is suspended, or `runtime` returns None."""
        self.stop()
        self._task = asyncio.ensure_future(self._watch(runtime))

    def stop(self) -> None:
        """Stop watching. A suspension that has started is not cancelled."""
        if self._task is not None:
            self._task.cancel()

    async def _watch(self, current: Callable[[], Runtime | None]) -> None:
        loop = asyncio.get_running_loop()
        extended = False
        while (runtime := current()) is not None:
            left = runtime.last_activity + self._seconds - loop.time()
            if left <= 0 and runtime.pending_responses and not extended:
                runtime.touch()  # a listener has not finished: as in Firefox, the page gets another period
                extended = True
            elif left <= 0 and not runtime.pending_calls:
                self._task = None
                if await self._suspend():
                    return
                self._task = asyncio.current_task()
            else:
                await asyncio.sleep(max(left, _MIN_SLEEP))
                extended = extended and runtime.pending_responses > 0
