"""Ends what a program with a grant waits for, when the grant ends: a response, or the next part of its body."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

import httpx

from hatbox.errors import PermissionDenied
from hatbox.tasks import Tasks

__all__ = ["EndingGrant", "GrantedStream", "until_end"]


class EndingGrant(Protocol):
    """The grant of a connection."""

    def require_valid(self) -> None:
        """Raise PermissionDenied if the grant does not allow the connection any more."""

    def on_end(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` when the grant ends. Returns a function that cancels it."""


@contextlib.asynccontextmanager
async def until_end(grant: EndingGrant) -> AsyncIterator[None]:
    """Run the body until the grant ends: then it is cancelled. Raises PermissionDenied."""
    grant.require_valid()
    scope = asyncio.timeout(None)
    stop = grant.on_end(lambda: scope.reschedule(asyncio.get_running_loop().time()))
    try:
        async with scope:
            try:
                yield
            finally:
                stop()
    except TimeoutError:
        grant.require_valid()
        raise


class GrantedStream(httpx.AsyncByteStream):
    """The body of a response. It ends with an error when the grant ends, and so does its connection."""

    def __init__(self, inner: Any, grant: EndingGrant) -> None:
        self._inner = inner
        self._grant = grant
        self._tasks = Tasks()
        self._stop = grant.on_end(self._close_soon)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = aiter(self._inner)
        while True:
            try:
                async with until_end(self._grant):
                    chunk = await anext(chunks, None)
            except PermissionDenied:
                raise
            except Exception:
                self._grant.require_valid()  # the connection was closed because the grant has ended
                raise
            if chunk is None:
                return
            self._grant.require_valid()
            yield chunk

    async def aclose(self) -> None:
        """See httpx."""
        self._stop()
        await self._inner.aclose()

    def _close_soon(self) -> None:
        self._tasks.spawn(self._inner.aclose())
