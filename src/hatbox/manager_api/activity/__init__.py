"""The namespace hatbox.activity: what programs changed in the profile, and what they did with identities."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hatbox.activity_log.action_words import action_text
from hatbox.activity_log.activity_rows import ACTIVITY_RECORDED, OTHER_HOSTS
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import ProfileError
from hatbox.events import Event
from hatbox.identities.trash_rows import TRASH_CHANGED
from hatbox.identity.ids import cookie_store_id_of
from hatbox.identity.model import REMOVED
from hatbox.manager_api.activity.activity_entries import ActivityEntry, ShownIdentity
from hatbox.manager_api.activity.logged_activity import (
    NewEntries,
    entries_after,
    last_sequence,
    latest_entries,
    shown_identities,
)
from hatbox.manager_api.activity.observed_changes import TOPICS
from hatbox.manager_api.coalesced_changes import StoreEvent
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.manager_api.page_sentences import sentence
from hatbox.manager_api.program_labels import program_label
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Store
from hatbox.store.grant_tables import ActivityRow

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
        recorded = StoreEvent[bool](
            services.store, "activity.onRecorded", {ACTIVITY_RECORDED: _constant(value=True)}, lambda *_: True, True
        )
        events = {
            "onAdded": EventBinding(self._added.event, lambda _, added: [added]),
            "onRecorded": EventBinding(recorded, lambda *_: ()),
        }
        super().__init__(schema, services.store, events)

    def list(self, details: Mapping[str, Any] | None) -> asyncio.Future[Any]:
        wanted = details or {}
        limit, before, store = (wanted.get(name) for name in ("limit", "before", "cookieStoreId"))
        return asyncio.ensure_future(self._list(limit or _DEFAULT_LIMIT, before, store))

    async def _list(self, limit: int, before: int | None, cookie_store_id: str | None) -> Any:
        return self._result_converters["list"](await latest_entries(self._store, limit, before, cookie_store_id))

    def recorded(self, details: Mapping[str, Any] | None) -> asyncio.Future[Any]:
        wanted = details or {}
        entries = _recorded_entries(self._store, wanted.get("limit") or _DEFAULT_LIMIT, wanted.get("before"))
        return self._run("recorded", entries)


class AddedActivity(msgspec.Struct, frozen=True):
    """Payload of onAdded."""

    entries: Sequence[ActivityEntry]
    all: bool


class _AddedEntries:
    """The event onAdded. Reads the log again when it grows, only while the event has listeners."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.event: Event[AddedActivity] = Event("activity.onAdded", on_listeners_changed=self._update)
        decoders = {topic: _constant(value=topic in _REMOVALS) for topic in TOPICS}
        self._changes = StoreEvent[bool](store, "activity.changes", decoders, lambda one, other: one or other, True)
        self._first: asyncio.Future[int] | None = None  # where the log ended when the first listener was added
        self._last: int | None = None  # the last commit that was read
        self._reading = asyncio.Lock()

    def _update(self) -> None:
        if self.event and not self._changes:
            self._last = None
            self._changes.add_listener(self._read)
            self._first = self._store.read(last_sequence)
        elif not self.event and self._changes:
            self._changes.remove_listener(self._read)

    async def _read(self, is_resync: bool) -> None:
        async with self._reading:
            new = await self._new_entries()
            self._last = new.last
        is_resync = is_resync or not new.is_complete
        if new.entries or is_resync:
            self.event.emit(AddedActivity(new.entries, is_resync))

    async def _new_entries(self) -> NewEntries:
        if self._last is not None:
            return await entries_after(self._store, self._last)
        first, self._first = self._first, None
        try:
            if first is not None:
                return await entries_after(self._store, await first)
        except ProfileError:
            pass  # which entries are new is not known
        return NewEntries(await self._store.read(last_sequence), [], is_complete=False)


def _constant(*, value: bool) -> Callable[[bytes], bool]:
    return lambda _: value


async def _recorded_entries(store: Store, limit: int, before: int | None) -> list[ActivityEntry]:
    """At most `limit` entries, the newest first. `before` is the `first_sequence` of an entry."""
    rows = await store.read(lambda transaction: transaction.activity.earlier(limit, before))
    identities = await shown_identities(store, {cookie_store_id_of(row.store) for row in rows if row.store})
    return [_entry(row, identities.get(cookie_store_id_of(row.store or 0))) for row in rows]


def _entry(row: ActivityRow, identity: ShownIdentity | None) -> ActivityEntry:
    program = program_label(row.program)
    return ActivityEntry(
        id=f"recorded {row.id}",
        sequence=row.id,
        first_sequence=row.id,
        time=int(row.at * 1000),
        program=", ".join(each for each in (program, row.grant_id and f"grant {row.grant_id}") if each),
        machine=row.machine,
        text=_text(row),
        cookie_store_id=None if row.store is None else cookie_store_id_of(row.store),
        identity=identity,
    )


def _text(row: ActivityRow) -> str:
    place = f" on {row.host}" if row.host and row.host != OTHER_HOSTS else ""
    outcome = f": {row.outcome}" if row.outcome in ("refused", "failed", "cancelled") else ""
    return sentence(f"{action_text(row.action, row.host, row.times)}{place}{outcome}")
