"""The background tasks of one object: referenced until they end, their errors reported, cancelled together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["Tasks"]

logger = logging.getLogger("hatbox")

Result = TypeVar("Result")


def _log(error: BaseException) -> None:
    logger.error("background task failed", exc_info=error)


class Tasks:
    """A set of running tasks. `on_error` receives the exception of each task that fails."""

    def __init__(self, on_error: Callable[[BaseException], None] = _log) -> None:
        self._on_error = on_error
        self._running: set[asyncio.Task[Any]] = set()

    def __bool__(self) -> bool:
        return bool(self._running)

    def spawn(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Run `work` in the background. The event loop itself holds only weak references to tasks."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._finish)
        return task

    def cancel(self) -> None:
        """Cancel all tasks, except the one that calls."""
        caller = asyncio.current_task()
        for task in self._running:
            if task is not caller:
                task.cancel()

    async def wait(self) -> None:
        """Wait until no task is running, including those that running tasks start."""
        while self._running:
            await asyncio.wait(self._running)

    def _finish(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self._on_error(error)
