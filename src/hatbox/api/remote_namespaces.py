"""The namespaces of a `browser` whose calls are dispatched in another process. Knows no namespace by name.

Arguments are checked here, so that errors are raised where the script made the call. The other process checks them
again: this one is not trusted.
"""

from __future__ import annotations

import copy
import datetime
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespace_lookup import NamespaceLookup
from hatbox.errors import ArgumentError
from hatbox.events import Event
from hatbox.schema import NamespaceSchema

if TYPE_CHECKING:
    import asyncio

__all__ = ["ApiConnection", "RemoteCaller", "RemoteNamespaces"]


class ApiConnection(Protocol):
    """The connection to the process that dispatches the calls."""

    def call(self, path: str, arguments: list[Any]) -> asyncio.Future[Any]:
        """Call a function."""

    def add_listener(self, path: str, listener: Callable[[Any], Any], options: list[Any]) -> None:
        """Add a listener. It is called with the list of its arguments."""

    def remove_listener(self, listener: Callable[[Any], Any]) -> None:
        """Remove a listener."""


class RemoteCaller(Caller):
    """A caller that sees the namespaces of these schema files."""

    def __init__(self, caller_id: str, permissions: Iterable[str], files: Collection[str]) -> None:
        super().__init__(caller_id, permissions)
        self._files = frozenset(files)

    def may_use(self, schema: NamespaceSchema) -> bool:
        """Whether the other process has named the schema."""
        return schema.file in self._files


class RemoteNamespaces(NamespaceLookup):
    """The namespaces, each of which sends its calls over a connection."""

    def __init__(self, connection: ApiConnection) -> None:
        super().__init__()
        self._connection = connection

    def _implement(self, found: NamespaceSchema) -> Namespace:
        return _RemoteNamespace(_with_converted_events(found), self._connection)


class _RemoteNamespace(Namespace):
    """One namespace. It has no methods: the checked arguments of each call are sent."""

    def __init__(self, schema: NamespaceSchema, connection: ApiConnection) -> None:
        self.schema = schema
        self.events = {
            name: EventBinding(_RemoteEvent(f"{schema.namespace}.{name}", connection), lambda _, values, *__: values)
            for name in schema.events
        }
        self._connection = connection
        self._methods = {name: (function, _no_method) for name, function in schema.functions.items()}

    def call(self, caller: Caller, member: str, arguments: Sequence[Any]) -> asyncio.Future[Any] | None:
        """Check the arguments and send the call. Returns None if there is a callback, which is called here."""

        def send(_: list[Any], __: Callable[..., Any]) -> asyncio.Future[Any]:
            function = self.schema.functions[member]
            has_callback = function.takes_callback and bool(arguments) and callable(arguments[-1])
            sent = arguments[:-1] if has_callback else arguments
            return self._connection.call(f"{self.schema.namespace}.{member}", [_sendable(each) for each in sent])

        return self._call_method(caller, member, arguments, send)


class _RemoteEvent(Event[Any]):
    """An event whose listeners are called by the connection."""

    def __init__(self, path: str, connection: ApiConnection) -> None:
        super().__init__(path)
        self._connection = connection

    def add_listener(self, listener: Callable[[Any], Any], options: Any = None) -> None:
        self._connection.add_listener(self.name, listener, [_sendable(each) for each in options or ()])

    def remove_listener(self, listener: Callable[[Any], Any]) -> None:
        self._connection.remove_listener(listener)


def _no_method(*_: Any) -> None:
    """Never called."""


def _with_converted_events(schema: NamespaceSchema) -> NamespaceSchema:
    """The schema with events whose arguments are converted already, by the process that sends them."""
    shown = copy.copy(schema)
    vars(shown)["events"] = {
        name: event._replace(argument_converters=tuple(_identical for _ in event.argument_converters))
        for name, event in schema.events.items()
    }
    return shown


def _identical(value: Any) -> Any:
    return value


def _sendable(value: Any) -> Any:
    """The value as JSON can represent it. Raises ArgumentError."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: _sendable(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_sendable(each) for each in value]
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    raise ArgumentError(f"a value cannot be sent to the process of the profile: {type(value).__name__}")
