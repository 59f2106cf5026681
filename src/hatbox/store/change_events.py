"""Events for the topics of a store's change log. Knows no topic by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from hatbox.events import Event
from hatbox.store.base import ChangeRecord, Store

__all__ = ["ChangeEvents"]

T = TypeVar("T")


class ChangeEvents:
    """The events of one service. Subscribes to the store only while one of them has listeners."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._topics: dict[str, list[tuple[Event[Any], Callable[[bytes], Any]]]] = {}
        self._is_subscribed = False

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
        wanted = any(event for known in self._topics.values() for event, _ in known)
        if wanted and not self._is_subscribed:
            self._store.subscribe(self._on_change)
        elif self._is_subscribed and not wanted:
            self._store.unsubscribe(self._on_change)
        self._is_subscribed = wanted

    def _on_change(self, change: ChangeRecord) -> None:
        for event, decode in self._topics.get(change.topic, ()):
            if event:
                event.emit(decode(change.payload), change.call_id)
