"""Events for the topics of a store's log of changes. Knows no topic by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hatbox.events import Event
from hatbox.store.base import ChangeRecord, Store

__all__ = ["ChangeEvents"]

T = TypeVar("T")


class ChangeEvents:
    """The events of one service. It follows the store only while somebody listens to one of them."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._topics: dict[str, tuple[Event[Any], Callable[[bytes], Any]]] = {}
        self._following = False

    def event(self, name: str, topic: str, decode: Callable[[bytes], T]) -> Event[T]:
        """The event that tells of the changes with this topic: `decode` makes what listeners get of a payload."""
        event: Event[T] = Event(f"{self._name}.{name}", lambda: self._store.last_call_id, self._update_subscription)
        self._topics[topic] = event, decode
        return event

    def _update_subscription(self) -> None:
        wanted = any(event for event, _ in self._topics.values())
        if wanted and not self._following:
            self._store.subscribe(self._hear)
        elif self._following and not wanted:
            self._store.unsubscribe(self._hear)
        self._following = wanted

    def _hear(self, change: ChangeRecord) -> None:
        if known := self._topics.get(change.topic):
            event, decode = known
            if event:
                event.emit(decode(change.payload), change.call)
