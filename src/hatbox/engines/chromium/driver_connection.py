"""Starts and stops Playwright's driver, and watches it. If it ends, Playwright reports nothing and fails all calls."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from asyncio.subprocess import Process
from typing import ClassVar, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox import child_processes
from hatbox.engines.chromium.sessions import within, without_limit
from hatbox.tasks import Tasks

__all__ = ["PreparedDriver", "start_driver", "stop_driver", "wait_until_driver_ends"]

logger = logging.getLogger("hatbox.engines.chromium")

_INTERVAL: Final = 2.0
_STOP_TIMEOUT: Final = 3.0


class PreparedDriver:
    """A driver that is started before it is needed, and stopped if it is not needed within a time.

    The next start_driver() in this event loop takes it.
    """

    _left: ClassVar[dict[asyncio.AbstractEventLoop, PreparedDriver]] = {}

    def __init__(self, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._tasks = Tasks(lambda error: logger.debug("a prepared driver: %s", error))
        self._driver = self._tasks.spawn(_started_driver())
        self._timer = self._loop.call_later(seconds, self._discard)
        self._is_left = True
        self._left[self._loop] = self

    @classmethod
    async def take(cls) -> Playwright | None:
        """The prepared driver, once. None if there is none, if it does not start, or if it has ended meanwhile."""
        prepared = cls._left.get(asyncio.get_running_loop())
        if prepared is None or not prepared._leave():
            return None
        try:
            driver = await asyncio.shield(prepared._driver)
        except asyncio.CancelledError:
            prepared._tasks.spawn(prepared._stop())
            raise
        except PlaywrightError:
            return None
        process = _process_of(driver)
        return driver if process is None or process.returncode is None else None

    async def close(self) -> None:
        """Stop it if it was not taken, and wait for its end."""
        self._discard()
        await self._tasks.wait()

    def _discard(self) -> None:
        if self._leave():
            self._tasks.spawn(self._stop())

    def _leave(self) -> bool:
        """Whether this call is the one that decides about the driver."""
        self._timer.cancel()
        if self._left.get(self._loop) is self:
            del self._left[self._loop]
        was_left, self._is_left = self._is_left, False
        return was_left

    async def _stop(self) -> None:
        with contextlib.suppress(PlaywrightError):
            await stop_driver(await self._driver)


async def start_driver() -> Playwright:
    """Start the driver, or take a prepared one. Raises a Playwright Error."""
    return await PreparedDriver.take() or await _started_driver()


async def _started_driver() -> Playwright:
    playwright = await within(async_playwright().start(), "the start of Playwright's driver")
    if process := _process_of(playwright):
        child_processes.add(process.pid, "Playwright's driver")
    return playwright


async def stop_driver(playwright: Playwright) -> None:
    """Stop the driver, which kills the browsers that it has launched. Kills it if it does not respond."""
    try:
        await within(playwright.stop(), "Playwright.stop", _STOP_TIMEOUT)
    except PlaywrightTimeout:
        logger.warning("Playwright's driver does not respond; it is killed")
        await _kill(playwright)
    except PlaywrightError as error:
        logger.debug("Playwright's driver: %s", error)


async def _kill(playwright: Playwright) -> None:
    if process := _process_of(playwright):
        with contextlib.suppress(ProcessLookupError, PlaywrightError):
            process.kill()
            await within(process.wait(), "the end of Playwright's driver", _STOP_TIMEOUT)


def _process_of(playwright: Playwright) -> Process | None:
    """The process of the driver, which Playwright does not publish. None for one that several programs share."""
    client = getattr(playwright.stop, "__self__", None)
    process: Process | None = getattr(getattr(getattr(client, "_client", None), "_transport", None), "_proc", None)
    return process


async def wait_until_driver_ends(playwright: Playwright) -> None:
    """Wait until calls of the driver fail, which happens if it is killed. One that is slow or stopped has not ended.

    Playwright raises the error of an event listener from the next call, once. The error of a driver that has ended is
    raised from each call.
    """
    previous: Exception | None = None
    while True:
        await asyncio.sleep(_INTERVAL)
        try:
            request = await without_limit(playwright.request.new_context())
            await without_limit(request.dispose())
        except Exception as error:
            if error is previous:
                return
            previous = error
            logger.warning("Playwright's driver has ended, or a listener of its events failed", exc_info=True)
