"""The host of a background that may sleep: its listeners stay known, and whoever calls one wakes it.

Knows how to keep and to hand over; not when to sleep.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from hatbox.api.caller import Caller
from hatbox.api.dispatcher import Dispatcher
from hatbox.errors import HatboxError
from hatbox.extensions.local_storage import LocalStorage
from hatbox.extensions.runtime.api_host import ApiHost
from hatbox.extensions.runtime.host import Listener, LogEntry

__all__ = ["ExtensionHost"]

logger = logging.getLogger("hatbox.extensions")

_Key = tuple[str, str]  # the event, and the further arguments of addListener as JSON


class ExtensionHost(ApiHost):
    """Answers an extension's scripts. While they sleep, it listens for them."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: Caller,
        read_file: Callable[[str], bytes | None],
        wake: Callable[[], Awaitable[None]],
        log: Callable[[LogEntry], None] | None = None,
        local_storage: LocalStorage | None = None,
    ) -> None:
        super().__init__(dispatcher, caller, read_file)
        self._local_storage = local_storage
        self._wake = wake
        self._log = log
        self._listening: dict[_Key, dict[Listener, None]] = {}
        self._extras: dict[Listener, list[Any]] = {}
        self._asleep: dict[_Key, _PrimedListener] = {}
        self.prime_listeners = False
        """Whether listeners stay known when their scripts end: they sleep, and will add them again."""

    def add_listener(self, listener: Listener, extra: list[Any]) -> None:
        """Add a listener. The one that listened for it while it slept is not needed any more."""
        super().add_listener(listener, extra)
        key = _key(listener, extra)
        self._listening.setdefault(key, {})[listener] = None
        self._extras[listener] = extra
        if sleeper := self._asleep.pop(key, None):
            super().remove_listener(sleeper)

    def remove_listener(self, listener: Listener) -> None:
        """Remove it, or listen for it from now on if it has only fallen asleep."""
        extra = self._extras.pop(listener, [])
        key = _key(listener, extra)
        if self.prime_listeners and key not in self._asleep:
            sleeper = self._asleep[key] = _PrimedListener(listener.path, lambda: self._awake(key))
            super().add_listener(sleeper, extra)
        super().remove_listener(listener)
        self._listening.get(key, {}).pop(listener, None)

    def clear_primed_listeners(self) -> None:
        """Stop listening for scripts that will not wake again."""
        for sleeper in self._asleep.values():
            super().remove_listener(sleeper)
        self._asleep.clear()

    def change_local_storage(self, key: str | None, value: str | None) -> bool:
        """Keep what a script has changed."""
        return self._local_storage is not None and self._local_storage.change(key, value)

    def log(self, entry: LogEntry) -> None:
        """Pass on what a script says: to whoever wants to hear it, or else to Python's logging."""
        if self._log is not None:
            self._log(entry)
        else:
            super().log(entry)

    async def _awake(self, key: _Key) -> list[Listener]:
        await self._wake()
        return list(self._listening.get(key, ()))


class _PrimedListener:
    """Stands for a listener whose scripts sleep."""

    def __init__(self, path: str, awake: Callable[[], Awaitable[list[Listener]]]) -> None:
        self.path = path
        self._awake = awake
        self._tasks: set[asyncio.Task[None]] = set()

    def notify(self, *arguments: Any) -> None:
        """Wake the scripts, then tell whoever listens now."""
        task = asyncio.ensure_future(self._tell(arguments))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def call(self, *arguments: Any, within: float | None = None) -> Any:
        """Wake the scripts, then ask the first that listens now."""
        for listener in await self._awake():
            return await listener.call(*arguments, within=within)
        return None

    async def _tell(self, arguments: tuple[Any, ...]) -> None:
        try:
            for listener in await self._awake():
                listener.notify(*arguments)
        except HatboxError as error:
            logger.warning("%s was not told: its extension does not wake (%s)", self.path, error)


def _key(listener: Listener, extra: list[Any]) -> _Key:
    return listener.path, json.dumps(extra, default=repr, sort_keys=True)
