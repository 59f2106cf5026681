"""One event loop and one Playwright driver for the tests of a process.

The driver is a Node.js process, which needs half a second of CPU time to start. Each test still launches its own
browsers, through the code that launches them for users.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

__all__ = ["playwright", "run", "stop"]

T = TypeVar("T")


def run(test: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine. Browsers that it launches use the shared driver."""
    global _driver
    if _driver is None or not _driver.is_running():
        stop()
        _driver = _Driver()
    return _driver.run(test)


def playwright() -> Any:
    """Playwright of the shared driver, for a coroutine in `run`."""
    assert _driver is not None
    return _driver.playwright


def stop() -> None:
    """Stop the driver, at the end of the tests."""
    global _driver
    if _driver is not None:
        _driver.stop()
        _driver = None


class _Driver:
    def __init__(self) -> None:
        from playwright.async_api import async_playwright

        self._runner = asyncio.Runner()
        self.playwright = self._runner.run(async_playwright().start())
        self._tasks = asyncio.all_tasks(self._runner.get_loop())

    def is_running(self) -> bool:
        """Whether it has not ended, for example because a test has killed it."""
        return not any(task.done() for task in self._tasks)

    def run(self, test: Coroutine[Any, Any, T]) -> T:
        """As asyncio.run() does, but the event loop and the tasks of the driver stay."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("hatbox.engines.chromium.launch.start_driver", self._start)
            try:
                return self._runner.run(test, context=contextvars.copy_context())
            finally:
                self._runner.run(self._cancel_tasks())

    async def _start(self) -> _Launcher:
        return _Launcher(self.playwright)

    def stop(self) -> None:
        self._runner.run(self.playwright.stop())
        self._runner.close()

    async def _cancel_tasks(self) -> None:
        others = asyncio.all_tasks() - self._tasks - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class _Launcher:
    """Takes the place of a driver: stop() closes what was launched here."""

    def __init__(self, playwright: Any) -> None:
        self._playwright = playwright
        self._launches: list[asyncio.Task[Any]] = []
        self.chromium = self
        self.request = playwright.request

    async def launch(self, **options: Any) -> Any:
        launch = asyncio.ensure_future(self._playwright.chromium.launch(**options))
        self._launches.append(launch)
        return await asyncio.shield(launch)  # stop() closes the browser of a launch that was cancelled

    async def stop(self) -> None:
        from playwright.async_api import Error

        for launch in self._launches:
            with contextlib.suppress(Error):
                await (await launch).close()


_driver: _Driver | None = None
