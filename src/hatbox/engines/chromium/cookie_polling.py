"""Schedules reads of the cookies of one browser context. Chromium has no event for a changed cookie."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from hatbox.engines.chromium.cookie_sync import CookieSync
from hatbox.tasks import Tasks

__all__ = ["CookiePoller"]

_COOKIE_POLL_SECONDS: Final = 0.5  # while a page can change cookies without a signal
_IDLE_COOKIE_POLL_SECONDS: Final = 10.0


class CookiePoller:
    """Reads the cookies after each signal, and at an interval that is short if `is_needed` returns True."""

    def __init__(self, cookies: CookieSync, is_needed: Callable[[], bool], tasks: Tasks) -> None:
        self._cookies = cookies
        self._is_needed = is_needed
        self._tasks = tasks
        self._signal = asyncio.Event()

    def start(self) -> None:
        """Start polling."""
        self._tasks.spawn(self._poll())

    def cookies_changed(self) -> None:
        """A script has changed a cookie, or can change cookies without a signal from now on."""
        self._cookies.schedule_read()
        self._signal.set()

    async def _poll(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_COOKIE_POLL_SECONDS if self._is_needed() else _IDLE_COOKIE_POLL_SECONDS):
                    await self._signal.wait()
            self._signal.clear()
            self._cookies.schedule_read()
