"""Polls the change log for commits by other processes, while a store has subscribers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from hatbox.errors import ProfileError

__all__ = ["ChangePoller"]

logger = logging.getLogger("hatbox.store")

_POLL_SECONDS: Final = 0.02  # one poll takes some microseconds


class ChangePoller:
    """A timer. `poll` delivers the changes, or raises ProfileError, which is logged once."""

    def __init__(self, poll: Callable[[], None]) -> None:
        self._poll = poll
        self._timer: asyncio.TimerHandle | None = None
        self._last_logged_error = ""

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Poll from now on."""
        self._timer = loop.call_later(_POLL_SECONDS, self._run, loop)

    def stop(self) -> None:
        """Stop polling."""
        if self._timer:
            self._timer.cancel()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        self.start(loop)
        try:
            self._poll()
        except ProfileError as error:
            if str(error) != self._last_logged_error:  # once, and not fifty times a second
                self._last_logged_error = str(error)
                logger.error("%s", error)
