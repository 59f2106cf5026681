"""The host of background scripts that may be suspended: primed listeners stay registered, and wake the scripts.

Does not decide when scripts are suspended.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from hatbox.api.caller import Caller
from hatbox.api.dispatcher import Dispatcher
from hatbox.errors import HatboxError
from hatbox.extensions.indexed_db import IndexedDb
from hatbox.extensions.local_storage import LocalStorage
from hatbox.extensions.runtime.api_host import ApiHost
from hatbox.extensions.runtime.host import Listener, LogEntry
from hatbox.tasks import Tasks

__all__ = ["ExtensionHost"]

logger = logging.getLogger("hatbox.extensions")

_Key = tuple[str, str]  # the event, and the further arguments of addListener as JSON


class ExtensionHost(ApiHost):
    """Serves the scripts of an extension. While they are suspended, it has a primed listener for each of theirs."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: Caller,
        read_file: Callable[[str], bytes | None],
        wake: Callable[[], Awaitable[None]],
        local_storage: LocalStorage,
        indexed_db: IndexedDb,
        log: Callable[[LogEntry], None] | None = None,
    ) -> None:
        super().__init__(dispatcher, caller, read_file)
        self._local_storage = local_storage
        self._indexed_db = indexed_db
        self._wake = wake
        self._log = log
        self._active: dict[_Key, dict[Listener, None]] = {}
        self._extras: dict[Listener, list[Any]] = {}
        self._primed: dict[_Key, _PrimedListener] = {}
        self._notifications = Tasks()
        self.prime_listeners = False
        """Whether removed listeners are primed, because their scripts are being suspended."""
        self.on_local_storage: Callable[[str | None, str | None], None] = lambda _, __: None
        """Called with each change that the background makes in localStorage."""
        self.on_log: Callable[[LogEntry], None] = lambda _: None
        """Called with each console message, in addition to the callback."""
        self.script_error: LogEntry | None = None
        """The first uncaught error of the background since this was reset."""

    def add_listener(self, listener: Listener, extra: list[Any]) -> None:
        """Add a listener, and remove the primed one that it replaces."""
        super().add_listener(listener, extra)
        key = _key(listener, extra)
        self._active.setdefault(key, {})[listener] = None
        self._extras[listener] = extra
        if primed := self._primed.pop(key, None):
            super().remove_listener(primed)

    def remove_listener(self, listener: Listener) -> None:
        """Remove a listener. If its scripts are being suspended, a primed listener replaces it."""
        extra = self._extras.pop(listener, [])
        key = _key(listener, extra)
        if self.prime_listeners and key not in self._primed:
            primed = _PrimedListener(listener.path, lambda: self._wake_listeners(key), self._notifications)
            self._primed[key] = primed
            super().add_listener(primed, extra)
        super().remove_listener(listener)
        self._active.get(key, {}).pop(listener, None)

    def clear_primed_listeners(self) -> None:
        """Remove the primed listeners."""
        for primed in self._primed.values():
            super().remove_listener(primed)
        self._primed.clear()

    def change_local_storage(self, key: str | None, value: str | None) -> bool:
        """Save a change of a script."""
        is_stored = self._local_storage.change(key, value)
        if is_stored:
            self.on_local_storage(key, value)
        return is_stored

    def use_indexed_db(self, operation: str, fields: list[Any]) -> Awaitable[Any]:
        """Read or change databases of the extension."""
        return self._indexed_db.handle(operation, fields)

    def log(self, entry: LogEntry) -> None:
        """Pass a console message of the background to the callback, or to Python's logging."""
        if entry.kind == "error" and self.script_error is None:
            self.script_error = entry
        self.log_elsewhere(entry)

    def log_elsewhere(self, entry: LogEntry) -> None:
        """The same for a message that is not of the background."""
        self.on_log(entry)
        if self._log is not None:
            self._log(entry)
        else:
            super().log(entry)

    async def _wake_listeners(self, key: _Key) -> list[Listener]:
        await self._wake()
        return list(self._active.get(key, ()))


class _PrimedListener:
    """Replaces a listener whose scripts are suspended."""

    def __init__(self, path: str, wake: Callable[[], Awaitable[list[Listener]]], notifications: Tasks) -> None:
        self.path = path
        self._wake = wake
        self._notifications = notifications

    def notify(self, *arguments: Any) -> None:
        """Wake the scripts, then call their listeners."""
        self._notifications.spawn(self._notify(arguments))

    async def call(self, *arguments: Any, timeout: float | None = None) -> Any:
        """Wake the scripts, then call their first listener."""
        for listener in await self._wake():
            return await listener.call(*arguments, timeout=timeout)
        return None

    async def _notify(self, arguments: tuple[Any, ...]) -> None:
        try:
            for listener in await self._wake():
                listener.notify(*arguments)
        except HatboxError as error:
            logger.warning("%s not dispatched: starting the event page failed: %s", self.path, error)


def _key(listener: Listener, extra: list[Any]) -> _Key:
    return listener.path, json.dumps(extra, default=repr, sort_keys=True)
