"""The thread with the event loop of a synchronous profile, and its events."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from hatbox.errors import ProfileClosed, ProfileError
from hatbox.events import Event

__all__ = ["LoopThread", "SyncEvent"]

T = TypeVar("T")
U = TypeVar("U")


class LoopThread:
    """An event loop in a thread of its own. Other threads run coroutines on it."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = 0
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        """Whether the thread runs in this process."""
        return self._loop is not None and not self.running_elsewhere

    @property
    def running_elsewhere(self) -> bool:
        """Whether the thread runs in the parent of this forked process."""
        return self._loop is not None and self._process != os.getpid()

    def start(self) -> None:
        """Start the thread. Raises ProfileError if it runs."""
        if self._loop is not None:
            raise ProfileError(self._label, "it is already open", "Use the open profile, or create another.")
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_run_until_stopped, args=[self._loop], name="hatbox-loop", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the loop and wait for the end of the thread."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
        if loop and thread:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def run_function(self, function: Callable[[U], T], argument: U) -> T:
        """Call a function in the thread of the loop."""

        async def called() -> T:
            return function(argument)

        return self.run(called)

    def run(self, begin: Callable[[], Awaitable[T]]) -> T:
        """Run `begin` in the thread of the loop, and await its result. Returns it, or raises its exception."""
        if self.running_elsewhere:
            raise ProfileClosed(self._label, "another process has opened it", "Close it before the fork.")
        if threading.current_thread() is self._thread:
            raise RuntimeError("listeners run in the thread of the profile and cannot call it; use another thread")

        async def awaited() -> T:
            return await begin()

        with self._lock:
            if self._loop is None:
                raise ProfileClosed(self._label, "it is not open", "Open it with: with hatbox.open_sync() as profile")
            future: concurrent.futures.Future[T] = asyncio.run_coroutine_threadsafe(awaited(), self._loop)
        return future.result()


def _run_until_stopped(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.run_until_complete(_finish_late_calls())
    loop.close()


async def _finish_late_calls() -> None:
    """Finish calls that other threads made while the profile was closing: they raise ProfileClosed."""
    late = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*late, return_exceptions=True)


class SyncEvent(Generic[T]):
    """An event whose listeners are called in the thread of the profile."""

    def __init__(self, event: Event[T], loop: LoopThread) -> None:
        self._event = event
        self._loop = loop

    def add_listener(self, listener: Callable[[T], Any]) -> None:
        """Call `listener` from now on."""
        self._loop.run_function(self._event.add_listener, listener)

    def remove_listener(self, listener: Callable[[T], Any]) -> None:
        """Stop calling `listener`. Does nothing if it was not added."""
        self._loop.run_function(self._event.remove_listener, listener)

    def has_listener(self, listener: Callable[[T], Any]) -> bool:
        """Whether `listener` is registered."""
        return self._loop.run_function(self._event.has_listener, listener)
