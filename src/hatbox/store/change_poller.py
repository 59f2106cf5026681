"""Polls the change log for commits by other processes, while a store has subscribers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from hatbox.errors import ProfileError

__all__ = ["ChangePoller"]

logger = logging.getLogger("hatbox.store")


class ChangePoller:
    """A timer. `poll` delivers the changes, or raises ProfileError, which is logged once."""

    def __init__(self, poll: Callable[[], None], seconds: float) -> None:
        self._poll = poll
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._last_logged_error = ""

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Poll from now on."""
        self._timer = loop.call_later(self._seconds, self._run, loop)

    def stop(self) -> None:
        """Stop polling."""
        if self._timer:
            self._timer.cancel()

    def log_once(self, error: ProfileError) -> None:
        """Log an error, unless it is the same as the last one."""
        if str(error) != self._last_logged_error:
            self._last_logged_error = str(error)
            logger.error("%s", error)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        self.start(loop)
        try:
            self._poll()
        except ProfileError as error:
            self.log_once(error)
