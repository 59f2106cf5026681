"""The event loop, process and thread that have opened a store. It belongs to them until it is closed."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any

from hatbox.errors import ProfileClosed

__all__ = ["LoopBinding"]


class LoopBinding:
    """The running loop, the process and the thread in which it is created."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._process, self._thread = os.getpid(), threading.get_ident()

    @property
    def is_forked(self) -> bool:
        """Whether this is a child of the process that has opened the store."""
        return self._process != os.getpid()

    def check(self, label: str) -> None:
        """Raise ProfileClosed outside of the process and the event loop that have opened the store."""
        if self.is_forked:
            raise ProfileClosed(label, "another process has opened it", "Close it before the fork.")
        running = asyncio._get_running_loop()
        # No loop at all is fine in the thread that opened it: loop.run_until_complete(profile.identities.query())
        if running is not self.loop and (running or self._thread != threading.get_ident()):
            raise ProfileClosed(
                label,
                "it is used outside of the event loop that has opened it",
                "Open it where it is used, or use hatbox.open_sync() for threads and for code without a loop.",
            )

    def call(self, function: Callable[..., None], *arguments: Any) -> None:
        """From another thread: run `function` in the loop's thread, unless the loop is closed."""
        try:  # noqa: SIM105 - contextlib.suppress() would be a measurable part of a call
            self.loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            pass
