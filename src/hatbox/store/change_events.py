"""Events for the topics of a store's change log. Knows no topic by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from hatbox.events import Event
from hatbox.store.base import ChangeRecord, Store

__all__ = ["ChangeEvents", "ChangeSubscription"]

T = TypeVar("T")


class ChangeSubscription:
    """The subscription of one listener to the changes of a store, switched on and off."""

    def __init__(self, store: Store, listener: Callable[[ChangeRecord], None]) -> None:
        self._store = store
        self._listener = listener
        self.is_on = False
        """Whether the listener gets the changes."""

    def set(self, wanted: bool) -> None:
        """Subscribe, or unsubscribe. Nothing happens if it is so already."""
        if wanted and not self.is_on:
            self._store.subscribe(self._listener)
        elif self.is_on and not wanted:
            self._store.unsubscribe(self._listener)
        self.is_on = wanted


class ChangeEvents:
    """The events of one service. Subscribes to the store only while one of them has listeners."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._topics: dict[str, list[tuple[Event[Any], Callable[[bytes], Any]]]] = {}
        self._subscription = ChangeSubscription(store, self._on_change)

    def event(self, name: str, topic: str, decode: Callable[[bytes], T]) -> Event[T]:
        """The event for the changes with this topic. Listeners get the decoded payload."""
        return self.event_of(name, {topic: decode})

    def event_of(self, name: str, decoders: Mapping[str, Callable[[bytes], T]]) -> Event[T]:
        """The event for the changes with these topics, each with its decoder."""
        event: Event[T] = Event(f"{self._name}.{name}", lambda: self._store.last_call_id, self._update_subscription)
        for topic, decode in decoders.items():
            self._topics.setdefault(topic, []).append((event, decode))
        return event

    def _update_subscription(self) -> None:
        self._subscription.set(any(event for known in self._topics.values() for event, _ in known))

    def _on_change(self, change: ChangeRecord) -> None:
        for event, decode in self._topics.get(change.topic, ()):
            if event:
                event.emit(decode(change.payload), change.call_id)
