"""Observes the DOM storage of one page by events of CDP. A page that floods is read from time to time instead.

Chromium sends an event for each change, without a limit, and all pages share the connection.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.extensions.pages.cdp_connection import CdpSession
from hatbox.extensions.pages.execution_contexts import ContextEvents
from hatbox.tasks import Tasks

__all__ = ["ObservedSession", "StorageEvents", "StorageObserver"]

_MAX_EVENTS: Final = 300  # in a second
_FIRST_PAUSE: Final = 1.0  # seconds; doubled each time
_LAST_PAUSE: Final = 30.0


class ObservedSession(CdpSession, ContextEvents, Protocol):
    """A CDP session with its events."""


class StorageObserver(Protocol):
    """Receives the changes of a page."""

    def item_changed(self, key: str, value: str | None) -> None:
        """A value of localStorage was set, or removed (None)."""

    def items_cleared(self) -> None:
        """localStorage was cleared."""

    def databases_changed(self) -> None:
        """A database was changed, created or deleted."""


class StorageEvents:
    """The storage events of one page. `read_again` compares the storage with what was reported before."""

    def __init__(
        self,
        session: ObservedSession,
        origin: str,
        observer: StorageObserver,
        read_again: Callable[[], Awaitable[None]],
        tasks: Tasks,
    ) -> None:
        self.is_paused = False
        """Whether reporting is paused, because of too many changes."""
        self._session = session
        self._storage_key = f"{origin}/"
        self._observer = observer
        self._read_again = read_again
        self._tasks = tasks
        self._since, self._count = 0.0, 0
        self._next_pause = _FIRST_PAUSE
        for name in ("Added", "Updated", "Removed"):
            session.on(f"DOMStorage.domStorageItem{name}", log_exceptions(self._on_item))
        session.on("DOMStorage.domStorageItemsCleared", log_exceptions(self._on_cleared))
        for name in ("Content", "List"):
            session.on(f"Storage.indexedDB{name}Updated", log_exceptions(self._on_databases))

    async def start(self) -> None:
        """Report changes from now on."""
        await asyncio.gather(
            self._session.send("DOMStorage.enable"),
            self._session.send("Storage.trackIndexedDBForStorageKey", {"storageKey": self._storage_key}),
        )

    def _on_item(self, event: dict[str, Any]) -> None:
        if self._is_own(event):
            self._observer.item_changed(event["key"], event.get("newValue"))

    def _on_cleared(self, event: dict[str, Any]) -> None:
        if self._is_own(event):
            self._observer.items_cleared()

    def _on_databases(self, event: dict[str, Any]) -> None:
        if event["storageKey"] == self._storage_key and not self._is_flood():
            self._observer.databases_changed()

    def _is_own(self, event: dict[str, Any]) -> bool:
        storage = event["storageId"]
        return storage["isLocalStorage"] and storage.get("storageKey") == self._storage_key and not self._is_flood()

    def _is_flood(self) -> bool:
        """Count an event. With too many, no more are sent for a while."""
        now = time.monotonic()
        if now - self._since > 1:
            self._since, self._count = now, 0
        self._count += 1
        if self._count > _MAX_EVENTS and not self.is_paused:
            self.is_paused = True
            self._tasks.spawn(self._pause())
        return self.is_paused

    async def _pause(self) -> None:
        await asyncio.gather(
            self._session.send("DOMStorage.disable"),
            self._session.send("Storage.untrackIndexedDBForStorageKey", {"storageKey": self._storage_key}),
        )
        await asyncio.sleep(self._next_pause)
        self._next_pause = min(self._next_pause * 2, _LAST_PAUSE)
        await self.start()
        self.is_paused = False
        await self._read_again()
