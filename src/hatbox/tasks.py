"""Asynchronous work: background tasks of an object, replies to calls, and hints where `await` or `async` is missing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any, NoReturn, TypeVar

__all__ = ["AsyncOnly", "Reply", "Tasks", "wait_for_first"]

logger = logging.getLogger("hatbox")

Result = TypeVar("Result")


class Reply(asyncio.Future[Result]):
    """The result of a call. A plain future that is done would be an empty iterable, in a `for` without `await`."""

    def __iter__(self) -> NoReturn:
        raise TypeError("`await` is missing: this is a call that was not awaited, not its result")


class AsyncOnly:
    """A context manager for `async with`, which says so in a `with`."""

    def __enter__(self) -> NoReturn:
        raise TypeError("`with` needs to be `async with` here. For code without an event loop: hatbox.open_sync()")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Never called."""


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
