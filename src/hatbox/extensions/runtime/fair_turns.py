"""Turns of the event loop, shared by the scripts of all extensions, so that a flood of one of them delays no other.

Messages that wait are handled in slices: one slice in each turn of the event loop, extensions in rotation, and the
connections of an extension in rotation. An extension has few calls at work at once. Knows no message.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakValueDictionary

__all__ = ["MAX_ACTIVE", "MAX_EXTENSION_ACTIVE", "ConnectionTurns", "ExtensionTurns", "FairTurns"]

MAX_ACTIVE: Final = 128
"""Calls of one connection at work. Calls of others wait for them in the store."""
MAX_EXTENSION_ACTIVE: Final = 256
"""Calls of one extension at work."""
_BURST: Final = 0.05  # seconds of turns without a pause
_PAUSE: Final = (
    0.0005  # seconds between later turns, in which Playwright reads: it does so only while no callback is due
)
_CHECK_SECONDS: Final = 0.1
_WORK_SECONDS: Final = 1.0  # a call that takes longer waits for something else: a listener, a server, the user


class FairTurns:
    """The turns of one event loop."""

    def __init__(self) -> None:
        self._queue: deque[ExtensionTurns] = deque()
        self._is_scheduled = False
        self._since = 0.0  # when it was scheduled first
        self._extensions: WeakValueDictionary[str, ExtensionTurns] = WeakValueDictionary()

    @classmethod
    def of_loop(cls) -> FairTurns:
        """The turns of the running event loop."""
        loop = asyncio.get_running_loop()
        found = _LOOPS.get(loop)
        if found is None:
            found = _LOOPS[loop] = cls()
        return found

    def of_extension(self, extension_id: str) -> ExtensionTurns:
        """The turns of an extension, which all of its connections share."""
        found = self._extensions.get(extension_id)
        if found is None:
            found = self._extensions[extension_id] = ExtensionTurns(self)
        return found

    def add(self, turns: ExtensionTurns) -> None:
        """Give an extension one turn, after the others that wait."""
        self._queue.append(turns)
        if not self._is_scheduled:
            self._is_scheduled = True
            self._since = time.monotonic()
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        try:
            self._queue.popleft().run()
        finally:
            self._is_scheduled = bool(self._queue)
            if self._is_scheduled:
                self._continue()

    def _continue(self) -> None:
        loop = asyncio.get_running_loop()
        if time.monotonic() - self._since < _BURST:
            loop.call_soon(self._run)
        else:
            loop.call_later(_PAUSE, self._run)


_LOOPS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, FairTurns]] = WeakKeyDictionary()


class ExtensionTurns:
    """The turns of one extension, and its calls at work."""

    def __init__(self, turns: FairTurns) -> None:
        self._turns = turns
        self._waiting: dict[ConnectionTurns, None] = {}
        self._is_queued = False
        self._active: dict[asyncio.Future[Any], tuple[ConnectionTurns, float]] = {}
        """Calls at work, oldest first, and when they started."""
        self.is_full = False
        """Whether further calls wait until half of the calls at work are done: the store commits many at once."""
        self._finished: set[ConnectionTurns] = set()
        """Connections of calls that have finished since the timer was started."""
        self._timer: asyncio.TimerHandle | None = None

    def wait(self, turns: ConnectionTurns) -> None:
        """Give a connection one turn, after the others that wait."""
        self._waiting[turns] = None
        self._enqueue()

    def remove(self, turns: ConnectionTurns) -> None:
        """Give a connection no turn."""
        self._waiting.pop(turns, None)
        self._finished.discard(turns)

    def started(self, call: asyncio.Future[Any], turns: ConnectionTurns) -> bool:
        """Count a call until it is done or idle (see `_release_idle`). Returns False if it counts already."""
        if call in self._active:
            return False
        self._active[call] = turns, time.monotonic()
        self.is_full = self.is_full or len(self._active) >= MAX_EXTENSION_ACTIVE
        call.add_done_callback(self._on_done)
        return True

    def run(self) -> None:
        """Use a turn."""
        self._is_queued = False
        if (connection := self._next()) is not None:
            del self._waiting[connection]
            try:
                connection.handle()
            finally:
                self._enqueue()

    def _next(self) -> ConnectionTurns | None:
        return next((each for each in self._waiting if not each.is_blocked), None)

    def _enqueue(self) -> None:
        if not self._is_queued and self._next() is not None:
            self._is_queued = True
            self._turns.add(self)
        if self._timer is None and any(each.is_blocked for each in self._waiting):
            self._timer = asyncio.get_running_loop().call_later(_CHECK_SECONDS, self._release_idle)

    def _on_done(self, call: asyncio.Future[Any]) -> None:
        if call in self._active:
            turns = self._release(call)
            if self._timer is not None:
                self._finished.add(turns)
            self._enqueue()

    def _release(self, call: asyncio.Future[Any]) -> ConnectionTurns:
        turns, _ = self._active.pop(call)
        turns.ended()
        self.is_full = self.is_full and len(self._active) > MAX_EXTENSION_ACTIVE // 2
        return turns

    def _release_idle(self) -> None:
        """Stop counting calls that wait for something else, which could be a message that waits for a turn.

        These are calls of connections of which no call has finished since the timer was started, and old ones.
        """
        self._timer = None
        oldest = time.monotonic() - _WORK_SECONDS
        for call, (turns, start) in [*self._active.items()]:
            if turns not in self._finished or start < oldest:
                self._release(call)
        self._finished.clear()
        self._enqueue()


class ConnectionTurns:
    """The turns of one connection. In a turn `handle` is called."""

    def __init__(self, extension: ExtensionTurns, handle: Callable[[], None]) -> None:
        self.handle = handle
        """Called in a turn."""
        self.starts_call = False
        """Whether it starts a call in its next turn."""
        self._extension = extension
        self._active = 0
        self._is_full = False

    @property
    def is_full(self) -> bool:
        """Whether further calls have to wait."""
        return self._is_full or self._extension.is_full

    @property
    def is_blocked(self) -> bool:
        """Whether its next turn has to wait until another call may start."""
        return self.starts_call and self.is_full

    def request(self, *, starts_call: bool) -> None:
        """Request one turn, after those that wait; if it starts a call, when another one may start."""
        self.starts_call = starts_call
        self._extension.wait(self)

    def cancel(self) -> None:
        """Request no turn."""
        self._extension.remove(self)

    def started(self, call: asyncio.Future[Any]) -> None:
        """Count a call until it is done or idle."""
        if self._extension.started(call, self):
            self._active += 1
            self._is_full = self._is_full or self._active >= MAX_ACTIVE

    def ended(self) -> None:
        """A call does not count any more."""
        self._active -= 1
        self._is_full = self._is_full and self._active > MAX_ACTIVE // 2
