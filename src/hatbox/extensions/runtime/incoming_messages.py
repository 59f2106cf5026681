"""Messages from an extension process, handled in order and within time slices, so that no process blocks the loop.

While the process does not read what it is sent, or its extension has too many calls at work, its messages wait. Knows
no message by name.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.fair_turns import ConnectionTurns, ExtensionTurns
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.script_connection import ScriptConnection
from hatbox.extensions.runtime.wire_frames import ProtocolError, WireFrame

__all__ = ["IncomingMessages"]

logger = logging.getLogger("hatbox.extensions")

_MAX_WAITING: Final = 1 << 22  # bytes of messages that wait for the host, beyond which no more are read
_FLUSH_AFTER: Final = 32  # messages: the process reads the first results while the host computes the next ones


class IncomingMessages:
    """Passes messages to `handle`, and calls `flush` after some of them.

    `shared_snapshot` is entered for these messages. `is_call` returns whether a message starts a call.
    """

    def __init__(
        self,
        connection: ScriptConnection,
        limits: RuntimeLimits,
        handle: Callable[[Any], None],
        flush: Callable[[], None],
        shared_snapshot: Callable[[], AbstractContextManager[None]],
        extension: ExtensionTurns,
        is_call: Callable[[Any], bool],
    ) -> None:
        self._connection = connection
        self._limits = limits
        self._handle = handle
        self._flush = flush
        self._shared_snapshot = shared_snapshot
        self._is_call = is_call
        self.turns = ConnectionTurns(extension, self._resume)
        """The turns of this connection."""
        self._waiting: deque[tuple[WireFrame, int]] = deque()
        """Frames with unhandled messages, and the index of the first of them."""
        self._waiting_size = 0
        self._writable = True
        self.pauses = _ReadingPauses(connection)
        """The reasons for which the process is not read."""
        self.drained = asyncio.Event()
        """Set while the process reads what it is sent."""
        self.drained.set()

    @property
    def is_behind(self) -> bool:
        """Whether frames wait to be handled."""
        return bool(self._waiting)

    @property
    def is_host_behind(self) -> bool:
        """Whether frames wait for the host, and not for the process, which does not read."""
        return bool(self._waiting) and self._writable

    def received(self, frames: Sequence[WireFrame]) -> None:
        """Handle a single message now, unless it has to wait. Others wait for a turn of the event loop."""
        if len(frames) == 1 and len(frames[0].messages) == 1 and not self._waiting and self._writable:
            message = frames[0].messages[0]
            if not self.turns.is_full or not self._is_call(message):
                self._handle(message)  # the usual case, without any queue
                self._flush()
                return
        for frame in frames:
            self._waiting.append((frame, 0))
            self._waiting_size += frame.size
        self._continue()
        if self._writable:
            self._pause_reading()
        elif self._waiting_size > self._limits.max_receive_buffer:
            self._connection.end(Exit("unresponsive", "it sends requests and does not read the responses"))

    def writable(self, ready: bool) -> None:
        """Pause or resume with the reading of the process."""
        self._writable = ready
        if ready:
            self.drained.set()
            self._continue()
            self._pause_reading()
        else:
            self.drained.clear()
            self.pauses.set("messages", False)  # it is ended if it goes on sending

    def clear(self) -> None:
        """Discard the messages that wait."""
        self._waiting.clear()
        self._waiting_size = 0
        self.turns.cancel()

    def _continue(self) -> None:
        """Request a turn for the messages that wait."""
        if self._waiting and self._writable:
            frame, first = self._waiting[0]
            starts_call = first < len(frame.messages) and self._is_call(frame.messages[first])
            self.turns.request(starts_call=starts_call)

    def _pause_reading(self) -> None:
        if self._waiting_size > _MAX_WAITING:
            self.pauses.set("messages", True)
        elif self._waiting_size <= _MAX_WAITING // 2:
            self.pauses.set("messages", False)

    def _resume(self) -> None:
        try:
            self._work()
        except ProtocolError as error:
            self._connection.end(Exit("protocol", str(error)))
        except Exception as error:
            logger.exception("a message of an extension was not handled")
            self._connection.end(Exit("protocol", f"a message was not handled: {error}"))

    def _work(self) -> None:
        """Handle messages until the time slice ends, or the next one has to wait."""
        deadline = time.perf_counter() + self._limits.time_slice
        waiting = self._waiting
        is_over = False
        while waiting and not is_over and self._writable and self._connection.running:
            frame, first = waiting.popleft()
            self._waiting_size -= frame.size
            with self._shared_snapshot() if len(frame.messages) > 1 else nullcontext():
                done, is_over = self._handle_some(frame.messages, first, deadline)
            if done < len(frame.messages):
                waiting.appendleft((frame, done))
                self._waiting_size += frame.size
            self._flush()
        if self._writable:
            self._pause_reading()
        self._continue()

    def _handle_some(self, messages: list[Any], first: int, deadline: float) -> tuple[int, bool]:
        """Handle some messages. Returns the index of the next one, and whether the turn is over."""
        end = min(first + _FLUSH_AFTER, len(messages))
        for index in range(first, end):
            if self.turns.is_full and self._is_call(messages[index]):
                return index, True
            self._handle(messages[index])
            if time.perf_counter() > deadline:
                return index + 1, True
        return end, False


class _ReadingPauses:
    """The reasons for which a connection is not read: while there is one, reading is paused."""

    def __init__(self, connection: ScriptConnection) -> None:
        self._connection = connection
        self._reasons: set[str] = set()

    def set(self, reason: str, is_paused: bool) -> None:
        """Add or remove a reason."""
        if (reason in self._reasons) == is_paused:
            return
        if is_paused:
            self._reasons.add(reason)
        else:
            self._reasons.discard(reason)
        self._connection.set_reading(not self._reasons)
