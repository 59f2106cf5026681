"""What the namespaces have in common: one object for each surface, whose methods are the surface's functions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from hatbox.api.caller import Caller
from hatbox.errors import ApiError, HatboxError, PermissionDenied
from hatbox.events import Event
from hatbox.javascript.wire_codec import without_undefined
from hatbox.schema import NamespaceSchema, snake_case
from hatbox.store.base import Store

__all__ = ["EventBinding", "Namespace"]

logger = logging.getLogger("hatbox.api")


class EventBinding(NamedTuple):
    """Where an event of a namespace comes from, and what a caller is told of it.

    `told` gets the caller, what has happened, and what addListener was given beside the listener; it returns what each
    argument of the listener is made of, or None where the caller must not hear of it, or does not want to.

    `answered`, where there is one, gets the caller, what the listener has returned, which may have to be awaited, and
    the same wishes; what it returns is what whoever asks gets.
    """

    event: Event[Any]
    to_listener_args: Callable[..., Sequence[Any] | None]
    from_listener_result: Callable[..., Any] | None = None


class Namespace:
    """The implementation of one surface.

    For each function of the schema a subclass has a method, named in snake_case, that takes the normalised arguments
    and returns a future; where `passes_caller`, the caller goes before them. For each event it has a source.
    """

    passes_caller: ClassVar[bool] = False

    def __init__(self, surface: NamespaceSchema, store: Store, events: Mapping[str, EventBinding]) -> None:
        self.surface = surface
        self.events = events
        self._store = store
        self._shapes = {name: function.shape for name, function in surface.functions.items()}
        self._methods = {
            name: (function, getattr(self, snake_case(name))) for name, function in surface.functions.items()
        }

    def call(self, caller: Caller, member: str, arguments: Sequence[Any]) -> asyncio.Future[Any] | None:
        """Check the arguments, then begin the call. With a callback there is nothing to wait for."""
        if member not in self._methods:
            raise ApiError(f"{self.surface.namespace}.{member} is not a function")
        function, method = self._methods[member]
        if not function.permissions <= caller.permissions:
            needed = " and ".join(sorted(function.permissions))
            raise PermissionDenied(f"Permission denied: {function.path} needs the permission {needed}")
        values = function.normalise(arguments)
        callback = values.pop() if function.takes_callback else None
        reply: asyncio.Future[Any] = method(caller, *values) if self.passes_caller else method(*values)
        if callback is None:
            return reply
        reply.add_done_callback(lambda done: _call_back(callback, done))
        return None

    def _read(self, member: str, rule: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Run a rule that only reads, and shape what it returns as the surface says."""
        shape = self._shapes[member]
        return self._store.read(lambda transaction: shape(rule(transaction, *arguments)))

    def _read_once(self, member: str, rule: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """The same, for a rule that asks the tables no more than once: it is cheaper."""
        shape = self._shapes[member]
        return self._store.read(lambda transaction: shape(rule(transaction, *arguments)), single_statement=True)

    def _write(self, member: str, rule: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Run a rule that changes something, and shape what it returns as the surface says."""
        shape = self._shapes[member]
        return self._store.write(lambda transaction: shape(rule(transaction, *arguments)))


def _call_back(callback: Callable[..., Any], done: asyncio.Future[Any]) -> None:
    """Hand the result on; of a call that failed there is none, and Firefox calls without any argument."""
    if isinstance(error := done.exception(), HatboxError):
        logger.error("a call failed, and its callback is not told why: %s", error)
        callback()
    else:
        callback(without_undefined(done.result()))
