"""The background tasks of one object: referenced until they end, their errors reported, cancelled together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["Tasks", "wait_for_first"]

logger = logging.getLogger("hatbox")

Result = TypeVar("Result")


async def wait_for_first(*work: Awaitable[object]) -> None:
    """Wait until one of these has ended, and cancel the others. Raises the exception of the one that has ended."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ended = [task for task in tasks if task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in ended:
        task.result()


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
