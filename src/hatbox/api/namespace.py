"""What the namespaces have in common: one object for each surface, whose methods are the surface's functions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hatbox.errors import ApiError
from hatbox.events import Event
from hatbox.schema import Surface, snake_case
from hatbox.store.base import Store

__all__ = ["Namespace"]


class Namespace:
    """The implementation of one surface.

    For each function of the schema a subclass has a method, named in snake_case, that takes the normalised arguments
    and returns a future. For each event it puts the service's event into `events`.
    """

    def __init__(self, surface: Surface, store: Store, events: Mapping[str, Event[Any]]) -> None:
        self.surface = surface
        self.events = events
        self._store = store
        self._shapes = {name: function.shape for name, function in surface.functions.items()}
        self._methods = {
            name: (function.normalise, function.takes_callback, getattr(self, snake_case(name)))
            for name, function in surface.functions.items()
        }

    def call(self, member: str, arguments: Sequence[Any]) -> asyncio.Future[Any] | None:
        """Check the arguments, then begin the call. With a callback there is nothing to wait for."""
        if member not in self._methods:
            raise ApiError(f"{self.surface.namespace}.{member} is not a function")
        normalise, takes_callback, method = self._methods[member]
        values = normalise(arguments)
        callback = values.pop() if takes_callback else None
        reply: asyncio.Future[Any] = method(*values)
        if callback is None:
            return reply
        reply.add_done_callback(lambda done: callback(done.result()))
        return None

    def _read(self, member: str, rule: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Run a rule that only reads, and shape what it returns as the surface says."""
        shape = self._shapes[member]
        return self._store.read(lambda transaction: shape(rule(transaction, *arguments)))

    def _write(self, member: str, rule: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Run a rule that changes something, and shape what it returns as the surface says."""
        shape = self._shapes[member]
        return self._store.write(lambda transaction: shape(rule(transaction, *arguments)))
