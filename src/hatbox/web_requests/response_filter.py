"""A filter of a response body (webRequest.filterResponseData): the extension receives the body, and writes another.

Knows neither engines nor ports. The extension gets one event at a time and says when it was handled, so that after
disconnect() the rest of the body follows exactly where the extension stopped.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator, Mapping
from typing import Any, Final

from hatbox.errors import ApiError, HatboxError

__all__ = ["CHANNEL_REDIRECTED", "INVALID_REQUEST", "FilterOverflow", "ResponseFilter"]

logger = logging.getLogger("hatbox.web_requests")

INVALID_REQUEST: Final = "Invalid request ID"
CHANNEL_REDIRECTED: Final = "Channel redirected"

_MAX_EVENT_BYTES: Final = 1 << 18  # of one data event
_MAX_WRITTEN_BYTES: Final = 64 << 20  # that no engine has read yet


class FilterOverflow(HatboxError):
    """An extension wrote more than a filter may store. The body would be incomplete."""


class ResponseFilter:
    """One filter. `send` sends an event to the extension, `end` says that nothing more follows."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None], end: Callable[[], None], timeout: float) -> None:
        self._send = send
        self._end = end
        self._timeout = timeout
        self._written: list[bytes] = []
        self._written_bytes = 0
        self._is_closed = False
        self._overflow: str | None = None
        self._handled: asyncio.Future[bool] | None = None
        self._ended = asyncio.Event()

    def receive(self, message: Any) -> None:
        """Handle a message of the extension. Raises ApiError for one that does not exist."""
        match message:
            case {"handled": bool(handled)}:
                if self._handled is not None and not self._handled.done():
                    self._handled.set_result(handled)
            case {"write": str(text)}:
                self._write(text)
            case {"close": True}:
                self._is_closed = True
                self._ended.set()
            case {"disconnect": True}:  # the next message says whether the last event was handled
                self._ended.set()
            case _:
                raise ApiError("invalid message of a response filter")

    def disconnect(self) -> None:
        """Let the rest of the body pass: the extension has disconnected the filter, or its context was closed."""
        self._ended.set()
        if self._handled is not None and not self._handled.done():
            self._handled.set_result(False)

    def fail(self, error: str) -> None:
        """End the filter with an error: it never gets a body."""
        self._send({"error": error})
        self.release()

    def release(self) -> None:
        """End the filter without an event."""
        self.disconnect()
        self._end()

    async def apply(self, chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes, None]:
        """The filtered body. Raises FilterOverflow."""
        try:
            await self._event({"start": True})
            async for chunk in chunks:
                for part in _parts(chunk):
                    handled = not self._ended.is_set() and await self._event({"data": _encode(part)})
                    for written in self._take():
                        yield written
                    if self._is_closed:
                        return
                    if not handled:
                        yield part
            if not self._ended.is_set():
                await self._event({"stop": True})
                await self._wait_for_end()
            for written in self._take():
                yield written
        finally:
            self.release()

    async def _event(self, event: Mapping[str, Any]) -> bool:
        """Send an event. Returns whether a listener of the filter has handled it."""
        if self._ended.is_set():
            return False
        handled = self._handled = asyncio.get_running_loop().create_future()
        self._send(event)
        try:
            return await asyncio.wait_for(asyncio.shield(handled), self._timeout)
        except TimeoutError:
            self._give_up()
            return False

    async def _wait_for_end(self) -> None:
        """Wait for close() or disconnect() after the last byte."""
        try:
            await asyncio.wait_for(self._ended.wait(), self._timeout)
        except TimeoutError:
            self._give_up()

    def _give_up(self) -> None:
        logger.error("webRequest response filter timed out after %g s; continuing without it", self._timeout)
        self.disconnect()

    def _write(self, text: str) -> None:
        if self._ended.is_set():
            return
        try:
            contents = base64.b64decode(text, validate=True)
        except binascii.Error:
            raise ApiError("invalid data of a response filter") from None
        self._written_bytes += len(contents)
        if self._written_bytes > _MAX_WRITTEN_BYTES:
            self._overflow = f"a response filter may write at most {_MAX_WRITTEN_BYTES} bytes at a time"
            self._written.clear()
            self.disconnect()
            raise ApiError(self._overflow)
        self._written.append(contents)

    def _take(self) -> list[bytes]:
        if self._overflow is not None:
            raise FilterOverflow(self._overflow)
        written, self._written, self._written_bytes = self._written, [], 0
        return written


def _parts(chunk: bytes) -> Iterator[bytes]:
    for start in range(0, len(chunk), _MAX_EVENT_BYTES):
        yield chunk[start : start + _MAX_EVENT_BYTES]


def _encode(part: bytes) -> str:
    return base64.b64encode(part).decode("ascii")
