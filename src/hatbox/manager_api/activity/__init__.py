"""The namespace hatbox.activity: what changed in the profile, and which program on which machine did it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.events import Event
from hatbox.identities.model import REMOVED
from hatbox.identities.trash_rows import TRASH_CHANGED
from hatbox.manager_api.activity.logged_activity import ActivityEntry, entries_after, last_sequence, latest_entries
from hatbox.manager_api.activity.observed_changes import TOPICS
from hatbox.manager_api.coalesced_changes import StoreEvent
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Store

__all__ = ["implement"]

_DEFAULT_LIMIT: Final = 200
_REMOVALS: Final = (REMOVED, TRASH_CHANGED)
"""After these, entries of an identity may be gone."""


def implement(schema: NamespaceSchema, services: Services, _profile: ManagedProfile) -> Namespace:
    """Implement the namespace."""
    return _Activity(schema, services)


class _Activity(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        self._added = _AddedEntries(services.store)
        binding = EventBinding(self._added.event, lambda _, added: [added])
        super().__init__(schema, services.store, {"onAdded": binding})

    def list(self, details: Mapping[str, Any] | None) -> asyncio.Future[Any]:
        wanted = details or {}
        limit, before, store = (wanted.get(name) for name in ("limit", "before", "cookieStoreId"))
        return self._read("list", latest_entries, limit or _DEFAULT_LIMIT, before, store)


class AddedActivity(msgspec.Struct, frozen=True):
    """Payload of onAdded."""

    entries: Sequence[ActivityEntry]
    all: bool


class _AddedEntries:
    """The event onAdded. Reads the log again when it grows, only while the event has listeners."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.event: Event[AddedActivity] = Event("activity.onAdded", on_listeners_changed=self._update)
        decoders = {topic: _constant(topic in _REMOVALS) for topic in TOPICS}
        self._changes = StoreEvent[bool](store, "activity.changes", decoders, lambda one, other: one or other, True)
        self._last: int | None = None
        self._reading = asyncio.Lock()

    def _update(self) -> None:
        if self.event and not self._changes:
            self._last = None
            self._changes.add_listener(self._read)
            self._store.read(last_sequence).add_done_callback(self._start)
        elif not self.event and self._changes:
            self._changes.remove_listener(self._read)

    def _start(self, done: asyncio.Future[int]) -> None:
        if self._last is None and not done.cancelled() and done.exception() is None:
            self._last = done.result()

    async def _read(self, is_resync: bool) -> None:
        async with self._reading:
            last = self._last or 0
            self._last, entries = await self._store.read(lambda transaction: entries_after(transaction, last))
        self._emit(entries, is_resync=is_resync)

    def _emit(self, entries: list[ActivityEntry], *, is_resync: bool) -> None:
        if entries or is_resync:
            self.event.emit(AddedActivity(entries, is_resync))


def _constant(value: bool) -> Callable[[bytes], bool]:
    return lambda _: value
