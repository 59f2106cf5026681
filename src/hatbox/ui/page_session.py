"""The session of one page, which survives lost connections: a ScriptConnection whose frames are numbered.

Frames that the page has not acknowledged are sent again on the next connection, and duplicates of its frames are
dropped: each message is handled once, in order. Knows no message by name, and no WebSocket.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.script_connection import Receiver
from hatbox.extensions.runtime.wire_frames import ProtocolError, WireFrame, content_of
from hatbox.ui.page_frames import decode_frame, encode_numbered
from hatbox.ui.page_limits import PageLimits

__all__ = ["PageSession"]

_FRAMES: Final = 32  # encoded at a time


class PageSession:
    """See hatbox.extensions.runtime.script_connection.ScriptConnection."""

    def __init__(self, session_id: str, limits: PageLimits) -> None:
        self.id = session_id
        """The id that the page has chosen."""
        self.receiver: Receiver = _NoReceiver()
        """Receives the frames."""
        self.running = True
        """Whether it has not ended."""
        self.received = 0
        """The number of the last frame of the page."""
        self._limits = limits
        self._exited: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self._readable = asyncio.Event()
        self._readable.set()
        self.sent = 0
        """The number of the last frame for the page."""
        self.acknowledged = 0
        """The number of the last frame that the page has received."""
        self._unacknowledged: deque[tuple[int, str, int]] = deque()
        """Frames for the page: number, messages, size."""
        self.unacknowledged_bytes = 0
        """The size of the frames that the page has not acknowledged."""
        self._writable = True
        self.on_frame: Callable[[], None] = _ignore
        """Called when a frame for the page was added, or one of the page received."""

    @property
    def reading(self) -> bool:
        """Whether the frames of the page are read."""
        return self._readable.is_set()

    @property
    def exited(self) -> asyncio.Future[Exit]:
        """Done when it has ended."""
        return self._exited if self._exited.done() else asyncio.shield(self._exited)

    async def wait_until_readable(self) -> None:
        """Wait until the frames of the page are read."""
        await self._readable.wait()

    def set_reading(self, wanted: bool) -> None:
        """Pause or resume reading the frames of the page."""
        if wanted:
            self._readable.set()
        else:
            self._readable.clear()

    def send(self, frame: bytes) -> None:
        """Add a frame for the page, unless it has ended."""
        if not self.running:
            return
        content = content_of(frame)
        self.sent += 1
        self._unacknowledged.append((self.sent, content.decode(), len(content)))
        self.unacknowledged_bytes += len(content)
        if self.unacknowledged_bytes > self._limits.unacknowledged:
            self.end(Exit("unresponsive", "the page does not read what it is sent"))
            return
        self._check_buffer()
        self.on_frame()

    def frames_after(self, number: int) -> list[tuple[int, str]]:
        """Some of the frames for the page that follow this one: number, text."""
        first = self._unacknowledged[0][0] if self._unacknowledged else 0
        start = max(0, number + 1 - first)  # the numbers are consecutive
        found = islice(self._unacknowledged, start, start + _FRAMES)
        return [(each, encode_numbered(each, self.received, messages)) for each, messages, _ in found]

    def acknowledge(self, number: int) -> None:
        """The page has received all frames up to this one. Raises ProtocolError for one that was not sent."""
        if number > self.sent:
            raise ProtocolError(f"frame {number} was not sent")
        self.acknowledged = max(number, self.acknowledged)
        while self._unacknowledged and self._unacknowledged[0][0] <= number:
            self.unacknowledged_bytes -= self._unacknowledged.popleft()[2]
        self._check_buffer()

    def handle(self, text: str) -> None:
        """Handle a text of the page, which ends the session if it is invalid."""
        try:
            content = text.encode()
            number, acknowledged, messages = decode_frame(content)
            self.acknowledge(acknowledged)
            if number > self.received + 1:
                raise ProtocolError(f"frame {number} follows frame {self.received}")
            if number == self.received + 1:
                self.received = number
                self.receiver.received([WireFrame(messages, len(content))])
        except UnicodeEncodeError:
            self.end(Exit("protocol", "text with a lone surrogate"))
        except ProtocolError as error:
            self.end(Exit("protocol", str(error)))
        self.on_frame()

    def end(self, reason: Exit) -> None:
        """End it. The page cannot resume it."""
        if self.running:
            self.running = False
            self._unacknowledged.clear()
            self.unacknowledged_bytes = 0
            self._readable.set()
            self._exited.set_result(reason)

    async def stop(self, timeout: float = 1.0) -> Exit:  # noqa: ARG002 - ends at once
        """End it, and wait until callbacks of `exited` were called."""
        exited = asyncio.shield(self._exited)
        self.end(Exit("stopped"))
        return await exited

    def _check_buffer(self) -> None:
        writable = self.unacknowledged_bytes <= self._limits.high_water
        if writable != self._writable:
            self._writable = writable
            self.receiver.writable(writable)


class _NoReceiver:
    """Takes the place of the receiver until it is set."""

    is_behind = False

    def received(self, frames: Sequence[WireFrame]) -> None:
        raise ProtocolError(f"{len(frames)} frames before the bridge exists")

    def writable(self, ready: bool) -> None:
        """Do nothing."""


def _ignore() -> None:
    pass
