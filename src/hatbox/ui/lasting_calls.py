"""Calls that go on when their page is closed, until the server stops. A server without pages waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

__all__ = ["LastingCalls"]


class LastingCalls:
    """The running calls of functions with these paths, of all pages."""

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = frozenset(paths)
        self._running: set[asyncio.Future[Any]] = set()

    def __contains__(self, call: asyncio.Future[Any]) -> bool:
        return call in self._running

    def __bool__(self) -> bool:
        return bool(self._running)

    def add(self, path: str, call: asyncio.Future[Any]) -> None:
        """Add a running call, if it is one of a function that goes on."""
        if path in self._paths and not call.done():
            self._running.add(call)
            call.add_done_callback(self._running.discard)

    async def wait(self) -> None:
        """Wait until none is running. Failures are for the pages."""
        while self._running:
            await asyncio.wait(self._running)

    async def stop(self) -> None:
        """Cancel all."""
        for call in self._running:
            call.cancel()
        await self.wait()
