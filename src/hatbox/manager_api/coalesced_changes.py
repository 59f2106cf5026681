"""Events that are emitted at once for the first change, and then at most every 50 ms with everything that has changed.

A page reads again what an event names, so a payload names things and contains none of their data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from hatbox.events import Event
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.store.change_events import ChangeSubscription

__all__ = ["INTERVAL_SECONDS", "MAX_IDS", "ChangedIds", "CoalescedChanges", "CoalescedEvent", "StoreEvent"]

INTERVAL_SECONDS: Final = 0.05
"""The time between two payloads, after the first."""
MAX_IDS: Final = 1_000
"""The number of ids that a payload can name. More become `all`."""

S = TypeVar("S")
T = TypeVar("T")


class CoalescedEvent(Event[T]):
    """An event whose payloads are merged while they wait.

    The first payload waits for the changes that are delivered with it: those of one commit are emitted together.
    """

    def __init__(
        self, name: str, merge: Callable[[T, T], T], on_listeners_changed: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(name, on_listeners_changed=self._update_listeners)
        self._merge = merge
        self._notify = on_listeners_changed
        self._waiting: list[T] = []  # the merged payload, or empty
        self._timer: asyncio.Handle | None = None

    def add(self, payload: T) -> None:
        """Emit a payload, merged with those that are waiting. Called on the event loop. Dropped without listeners."""
        if not self:
            return
        self._waiting = [self._merge(self._waiting[0], payload) if self._waiting else payload]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_soon(self._emit_waiting)

    def _emit_waiting(self) -> None:
        self._timer = None
        if self._waiting:
            payload = self._waiting.pop()
            self._timer = asyncio.get_running_loop().call_later(INTERVAL_SECONDS, self._emit_waiting)
            self.emit(payload)

    def _update_listeners(self) -> None:
        if not self:
            self._waiting.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        self._notify()


class StoreEvent(CoalescedEvent[T]):
    """A coalesced event for topics of the change log, by any process. Subscribed only while it has listeners.

    A decoder returns None for a change that does not concern the listeners. `resync` is the payload for: everything may
    have changed.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        decoders: Mapping[str, Callable[[bytes], T | None]],
        merge: Callable[[T, T], T],
        resync: T,
    ) -> None:
        super().__init__(name, merge, self._update_subscription)
        self._store = store
        self._decoders = decoders
        self._resync = resync
        self._subscription = ChangeSubscription(store, self._on_change)
        self._sources: list[tuple[Event[Any], Callable[[Any], None]]] = []

    def follow(self, source: Event[S], payload_of: Callable[[S], T | None]) -> None:
        """Also emit for another event, of which no change log knows. To be called before there are listeners."""

        def on_event(value: S) -> None:
            if (payload := payload_of(value)) is not None:
                self.add(payload)

        self._sources.append((source, on_event))

    def _update_subscription(self) -> None:
        self._subscription.set(bool(self))
        for source, listener in self._sources:
            if self:
                source.add_listener(listener)
            else:
                source.remove_listener(listener)

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic == RESYNC:
            self.add(self._resync)
        elif (decode := self._decoders.get(change.topic)) is not None:
            payload = decode(change.payload)
            if payload is not None:
                self.add(payload)


class ChangedIds(msgspec.Struct, frozen=True):
    """What may have changed."""

    ids: tuple[str, ...] = ()
    """Each once, in the order of the changes."""
    all: bool = False
    """Everything may have changed; `ids` is empty."""

    @classmethod
    def of(cls, ids: Iterable[str]) -> ChangedIds:
        """These ids; `all` for more than MAX_IDS."""
        unique = tuple(dict.fromkeys(ids))
        return cls(unique) if len(unique) <= MAX_IDS else cls(all=True)

    def merged(self, other: ChangedIds) -> ChangedIds:
        """Both in one payload."""
        return ChangedIds(all=True) if self.all or other.all else ChangedIds.of((*self.ids, *other.ids))

    def __bool__(self) -> bool:
        return self.all or bool(self.ids)


class CoalescedChanges(StoreEvent[ChangedIds]):
    """An event with the ids that change, for topics of the change log. A decoder returns the ids in a payload.

    To bind it: `EventBinding(event, lambda _, changed: [{"ids": changed.ids, "all": changed.all}])`.
    """

    def __init__(self, store: Store, name: str, decoders: Mapping[str, Callable[[bytes], Iterable[str]]]) -> None:
        by_topic = {topic: _decoder(ids_of) for topic, ids_of in decoders.items()}
        super().__init__(store, name, by_topic, ChangedIds.merged, ChangedIds(all=True))


def _decoder(ids_of: Callable[[bytes], Iterable[str]]) -> Callable[[bytes], ChangedIds | None]:
    return lambda payload: ChangedIds.of(ids_of(payload)) or None
