"""Stops pages that request files of extensions in a loop: each request is an event that this process must handle."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.chromium.sessions import within

__all__ = ["ResourceFloods"]

logger = logging.getLogger("hatbox.engines.chromium")

_MAX_REQUESTS: Final = 500  # of one page or out-of-process frame, in one second
_PAUSE: Final = 10.0  # seconds until its scripts run again


class ResourceFloods:
    """Counts the requests of each page and out-of-process frame, and disables the scripts of those with too many."""

    def __init__(self, frames: FrameTree) -> None:
        self._frames = frames
        self._counts: dict[str, int] = {}
        self._since = 0.0
        self._stopped: dict[str, asyncio.Task[None]] = {}  # by target id

    def includes(self, frame_id: str) -> bool:
        """Count a request of a frame; whether it must be ignored. An ignored request stays paused."""
        target_id = self._frames.target_of(frame_id) or frame_id
        if target_id in self._stopped:
            return True
        now = time.monotonic()
        if now - self._since > 1:
            self._since = now
            self._counts.clear()
        count = self._counts[target_id] = self._counts.get(target_id, 0) + 1
        if count <= _MAX_REQUESTS:
            return False
        self._stopped[target_id] = asyncio.ensure_future(self._stop(target_id))
        return True

    def cancel(self) -> None:
        """The session ends, and scripts run again."""
        for task in self._stopped.values():
            task.cancel()

    async def _stop(self, target_id: str) -> None:
        logger.warning(
            "a page requested more than %d files of extensions in a second; its scripts are stopped for %g s",
            _MAX_REQUESTS,
            _PAUSE,
        )
        try:
            await self._disable_scripts(target_id, is_disabled=True)
            await asyncio.sleep(_PAUSE)
            await self._disable_scripts(target_id, is_disabled=False)
        finally:
            del self._stopped[target_id]

    async def _disable_scripts(self, target_id: str, *, is_disabled: bool) -> None:
        """Disable or enable the scripts of a page, which may be closed or hang."""
        command = "Emulation.setScriptExecutionDisabled"
        with contextlib.suppress(PlaywrightError):
            await within(self._frames.send(target_id, command, value=is_disabled), command)
