"""One event loop, one Playwright driver and one browser of each kind for the tests of a process.

The driver is a Node.js process, which needs half a second of CPU time to start; a browser needs more than one. A test
that launches a browser, through the code that launches one for users, has that of an earlier test if its arguments are
the same: it has lost its contexts, sessions and listeners.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import shutil
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

import pytest

__all__ = ["playwright", "run", "stop", "viewer"]

T = TypeVar("T")

_SECONDS_TO_ANSWER: Final = 10.0
_SECONDS_TO_CLOSE: Final = 5.0
_MAX_UNUSED: Final = 3  # tests with environments of their own use browsers of their own


def run(test: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine. Browsers that it launches use the shared driver."""
    global _driver
    if _driver is None or not _driver.is_running():
        stop()
        _driver = _Driver()
    return _driver.run(test)


def viewer(path: str) -> str:
    """The browser that shows pages, where the pages are what is tested: Chromium's headless shell, or that at `path`.

    In the shell a page takes half the CPU time, because nothing draws a window around it.
    """
    return shutil.which("chromium-headless-shell") or path


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
        self._unused: _Browsers = []
        self._tasks = asyncio.all_tasks(self._runner.get_loop())

    def is_running(self) -> bool:
        """Whether it answers. It may have ended while no test used it, and the event loop did not run."""
        return not any(task.done() for task in self._tasks) and self._runner.run(self._answers())

    def run(self, test: Coroutine[Any, Any, T]) -> T:
        """As asyncio.run() does, but the event loop and the tasks of the driver stay."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("hatbox.engines.chromium.launch.start_driver", self._start)
            try:
                return self._runner.run(test, context=contextvars.copy_context())
            finally:
                self._runner.run(self._cancel_tasks())

    def stop(self) -> None:
        with contextlib.suppress(Exception):  # it has ended
            self._runner.run(asyncio.wait_for(self.playwright.stop(), _SECONDS_TO_ANSWER))
        self._runner.close()

    async def _answers(self) -> bool:
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(_SECONDS_TO_ANSWER):
                await (await self.playwright.request.new_context()).dispose()
        except (Error, TimeoutError):
            return False
        return True

    async def _start(self) -> _Launcher:
        return _Launcher(self.playwright, self._unused)

    async def _cancel_tasks(self) -> None:
        others = asyncio.all_tasks() - self._tasks - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class _Launcher:
    """Takes the place of a driver: stop() closes what was launched here."""

    def __init__(self, playwright: Any, unused: _Browsers) -> None:
        self._playwright = playwright
        self._unused = unused
        self._launches: list[asyncio.Task[Any]] = []
        self._loans: list[_Loan] = []
        self.chromium = self
        self.request = playwright.request

    async def launch(self, **options: Any) -> Any:
        launch = asyncio.ensure_future(self._launch(options))
        self._launches.append(launch)
        return await asyncio.shield(launch)  # stop() closes the browser of a launch that was cancelled

    async def stop(self) -> None:
        from playwright.async_api import Error

        await asyncio.gather(*self._launches, return_exceptions=True)
        for loan in self._loans:
            with contextlib.suppress(Error):
                await loan.close()

    async def _launch(self, options: dict[str, Any]) -> Any:
        kind = _kind(options) if options["headless"] else None  # windows end with their display
        browser = None
        while browser is None and (found := next((each for each in self._unused if each[0] == kind), None)):
            self._unused.remove(found)
            browser = found[1] if await _responds(found[1]) else None
        if browser is None:
            browser = await self._playwright.chromium.launch(**options)
        self._loans.append(_Loan(kind, browser, self._unused))
        return browser


class _Loan:
    """A browser while one test uses it. When it is closed, what the test has left in it goes, and others can use it."""

    def __init__(self, kind: str | None, browser: Any, unused: _Browsers) -> None:
        self._kind = kind
        self._browser = browser
        self._unused = unused
        self._listeners: list[tuple[str, Callable[..., Any]]] = []
        self._sessions: list[Any] = []
        self._is_over = False
        browser.on = self._on
        browser.close = self.close
        browser.new_browser_cdp_session = self._new_session

    def _on(self, event: str, listener: Callable[..., Any]) -> None:
        self._listeners.append((event, listener))
        type(self._browser).on(self._browser, event, listener)

    async def _new_session(self) -> Any:
        session = await type(self._browser).new_browser_cdp_session(self._browser)
        self._sessions.append(session)
        return session

    async def close(self) -> None:
        from playwright.async_api import Error

        if self._is_over:
            return
        self._is_over = True
        browser = self._browser
        for name in ("on", "close", "new_browser_cdp_session"):
            browser.__dict__.pop(name, None)
        for event, listener in self._listeners:
            browser.remove_listener(event, listener)
        try:
            async with asyncio.timeout(_SECONDS_TO_CLOSE):
                is_clean = await self._is_clean()
        except (Error, TimeoutError):
            is_clean = False
        if is_clean and self._kind is not None:
            self._unused.append((self._kind, browser))
            if len(self._unused) <= _MAX_UNUSED:
                return
            _, browser = self._unused.pop(0)
        await browser.close()

    async def _is_clean(self) -> bool:
        """Close what is left, and see whether anything stays."""
        browser = self._browser
        for closing in ([each.close() for each in browser.contexts], [each.detach() for each in self._sessions]):
            await asyncio.gather(*closing, return_exceptions=True)
        session = await browser.new_browser_cdp_session()
        try:
            targets = (await session.send("Target.getTargets"))["targetInfos"]
            contexts = (await session.send("Target.getBrowserContexts"))["browserContextIds"]
        finally:
            await session.detach()
        return not contexts and not [each for each in targets if each["type"] != "browser"]


async def _responds(browser: Any) -> bool:
    """Whether a browser has not ended meanwhile."""
    from playwright.async_api import Error

    try:
        async with asyncio.timeout(_SECONDS_TO_CLOSE):
            await (await browser.new_browser_cdp_session()).detach()
    except (Error, TimeoutError):
        return False
    return True


def _kind(options: dict[str, Any]) -> str:
    """What two launches have in common whose browsers are the same."""
    env = {name: value for name, value in options["env"].items() if not name.startswith("PYTEST_")}
    return json.dumps({**options, "env": env}, sort_keys=True, default=str)


_Browsers = list[tuple[str | None, Any]]  # with their kind, the last used at the end
_driver: _Driver | None = None
