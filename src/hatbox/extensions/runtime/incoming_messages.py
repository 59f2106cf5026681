"""Messages from an extension process, handled in order and within a time slice, so that no process blocks the loop.

While the process does not read what it is sent, its messages wait. Knows no message by name.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.script_connection import ScriptConnection
from hatbox.extensions.runtime.wire_frames import ProtocolError, WireFrame

__all__ = ["IncomingMessages"]


class IncomingMessages:
    """Passes messages to `handle`, and calls `flush` after each frame.

    `shared_snapshot` is entered for the messages of one frame.
    """

    def __init__(
        self,
        connection: ScriptConnection,
        limits: RuntimeLimits,
        handle: Callable[[Any], None],
        flush: Callable[[], None],
        shared_snapshot: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._connection = connection
        self._limits = limits
        self._handle = handle
        self._flush = flush
        self._shared_snapshot = shared_snapshot
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[WireFrame, int]] = deque()
        """Frames with unhandled messages, and the index of the first of them."""
        self._waiting_size = 0
        self._writable = True
        self._continuing = False
        self.drained = asyncio.Event()
        """Set while the process reads what it is sent."""
        self.drained.set()

    @property
    def is_behind(self) -> bool:
        """Whether frames wait to be handled."""
        return bool(self._waiting)

    def received(self, frames: Sequence[WireFrame]) -> None:
        """Handle frames now, unless others wait or the process does not read."""
        if len(frames) == 1 and len(frames[0].messages) == 1 and not self._waiting and self._writable:
            self._handle(frames[0].messages[0])  # the usual case, without any queue
            self._flush()
            return
        for frame in frames:
            self._waiting.append((frame, 0))
            self._waiting_size += frame.size
        if not self._continuing:
            self._work()
        if self._waiting_size > self._limits.max_receive_buffer:
            self._connection.end(Exit("unresponsive", "it sends requests and does not read the responses"))

    def writable(self, ready: bool) -> None:
        """Pause or resume with the reading of the process."""
        self._writable = ready
        if ready:
            self.drained.set()
            self._continue()
        else:
            self.drained.clear()

    def clear(self) -> None:
        """Discard the messages that wait."""
        self._waiting.clear()

    def _continue(self) -> None:
        if self._waiting and not self._continuing:
            self._continuing = True
            self._loop.call_soon(self._resume)

    def _resume(self) -> None:
        self._continuing = False
        try:
            self._work()
        except ProtocolError as error:
            self._connection.end(Exit("protocol", str(error)))

    def _work(self) -> None:
        """Handle messages until the time slice ends."""
        deadline = time.perf_counter() + self._limits.time_slice
        waiting = self._waiting
        while waiting and self._writable and self._connection.running:
            frame, first = waiting.popleft()
            self._waiting_size -= frame.size
            if len(frame.messages) == 1:
                done = self._handle_some(frame.messages, first, deadline)
            else:
                with self._shared_snapshot():
                    done = self._handle_some(frame.messages, first, deadline)
            if done < len(frame.messages):
                waiting.appendleft((frame, done))
                self._waiting_size += frame.size
                self._continue()
            self._flush()  # after each frame: the process reads the first results while the host computes the next
            if self._continuing:
                break

    def _handle_some(self, messages: list[Any], first: int, deadline: float) -> int:
        """Handle messages until the deadline. Returns the index of the next one."""
        for index in range(first, len(messages)):
            if time.perf_counter() > deadline:
                return index
            self._handle(messages[index])
        return len(messages)
