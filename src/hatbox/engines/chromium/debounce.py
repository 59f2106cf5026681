"""Work that waits a moment, so that many reasons for it become one. Knows nothing of browsers but that they can go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from playwright.async_api import Error as PlaywrightError

__all__ = ["Debouncer", "log_exceptions"]

T = TypeVar("T")

logger = logging.getLogger("hatbox.engines.chromium")


def log_exceptions(listener: Callable[[T], object]) -> Callable[[T], None]:
    """A listener that does not raise: Playwright would let the next call of whoever uses it fail."""

    def call(event: T) -> None:
        try:
            listener(event)
        except Exception:
            logger.exception("the Chromium engine failed")

    return call


class Debouncer:
    """Does something a while after it was first asked for, never twice at once, and again if asked for meanwhile."""

    def __init__(self, work: Callable[[], Awaitable[None]], delay: float) -> None:
        self.delay = delay
        """Seconds between the first reason and the work."""
        self._work = work
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._again = False
        self._cancelled = False

    def schedule(self) -> None:
        """There is a reason to do it."""
        if self._cancelled:
            return
        if self._task is not None:
            self._again = True
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.delay, self._begin)

    def flush(self) -> None:
        """If there is a reason to do it, do not wait any longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._begin()

    def cancel(self) -> None:
        """Do it no more. What is under way comes to its end."""
        self._cancelled = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _begin(self) -> None:
        self._timer = None
        self._task = asyncio.ensure_future(self._do())

    async def _do(self) -> None:
        try:
            await self._work()
        except PlaywrightError as error:
            logger.debug("the browser could not answer: %s", error)  # it is being closed, or the page is
        except Exception:
            logger.exception("the Chromium engine failed")
        finally:
            self._task = None
            if self._again:
                self._again = False
                self.schedule()
