"""Debounces work: many triggers within a delay run it once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from inspect import Parameter, Signature
from typing import Final, TypeVar

from playwright.async_api import Error as PlaywrightError

__all__ = ["Debouncer", "log_exceptions"]

T = TypeVar("T")

logger = logging.getLogger("hatbox.engines.chromium")

# Playwright calls inspect.signature() for each event. Without this it takes as long as a small command.
_ONE_ARGUMENT: Final = Signature([Parameter("event", Parameter.POSITIONAL_ONLY)])


def log_exceptions(listener: Callable[[T], object]) -> Callable[[T], None]:
    """Wrap a listener so that it never raises. Playwright would raise the exception in an unrelated call."""

    def call(event: T) -> None:
        try:
            listener(event)
        except Exception:
            logger.exception("handling a browser event failed")

    call.__signature__ = _ONE_ARGUMENT  # type: ignore[attr-defined]
    return call


class Debouncer:
    """Runs `work` once, a delay after the first trigger. Runs never overlap; a trigger during a run starts another."""

    def __init__(self, work: Callable[[], Awaitable[None]], delay: float) -> None:
        self.delay = delay
        """Seconds between the first trigger and the run."""
        self._work = work
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_retriggered = False
        self._is_cancelled = False

    def schedule(self) -> None:
        """Run the work after the delay."""
        if self._is_cancelled:
            return
        if self._task is not None:
            self._is_retriggered = True
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.delay, self._start)

    def flush(self) -> None:
        """Run the work now, if it is scheduled."""
        if self._timer is not None:
            self._timer.cancel()
            self._start()

    def cancel(self) -> None:
        """Start no more runs. A current run continues to its end."""
        self._is_cancelled = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def finish(self) -> None:
        """Start no more runs, and wait for the current one."""
        self.cancel()
        if self._task is not None:
            await asyncio.wait({self._task})

    def _start(self) -> None:
        self._timer = None
        self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        try:
            await self._work()
        except PlaywrightError as error:
            logger.debug("scheduled browser command failed: %s", error)  # the page or the browser is being closed
        except Exception:
            logger.exception("scheduled work failed")
        finally:
            self._task = None
            if self._is_retriggered:
                self._is_retriggered = False
                self.schedule()
