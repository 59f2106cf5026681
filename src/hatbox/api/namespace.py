"""Base class of the namespaces: one object for each schema, with a method for each function."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from hatbox.errors import ApiError, HatboxError, PermissionDenied
from hatbox.events import Event
from hatbox.javascript.wire_codec import without_undefined
from hatbox.schema import NamespaceSchema, snake_case

if TYPE_CHECKING:
    from hatbox.api.caller import Caller
    from hatbox.store.base import Store

__all__ = ["EventBinding", "Namespace"]

logger = logging.getLogger("hatbox.api")


class EventBinding(NamedTuple):
    """The source of an event of a namespace, and the arguments of its listeners.

    `to_listener_args` gets the caller, the payload, and the options of addListener. It returns a value for each
    argument of the listener, or None to skip the listener.

    `from_listener_result` gets the caller, the result of the listener, which may be awaitable, and the same options.
    """

    event: Event[Any]
    to_listener_args: Callable[..., Sequence[Any] | None]
    from_listener_result: Callable[..., Any] | None = None


class Namespace:
    """The implementation of one schema.

    For each function of the schema a subclass has a method, named in snake_case, that takes the normalised arguments
    and returns a future. With `passes_caller`, the first argument is the caller. For each event it has a binding.
    """

    passes_caller: ClassVar[bool] = False

    def __init__(self, schema: NamespaceSchema, store: Store, events: Mapping[str, EventBinding]) -> None:
        self.schema = schema
        self.events = events
        self._store = store
        self._result_converters = {name: function.convert_result for name, function in schema.functions.items()}
        self._methods = {
            name: (function, getattr(self, snake_case(name))) for name, function in schema.functions.items()
        }

    def call(self, caller: Caller, member: str, arguments: Sequence[Any]) -> asyncio.Future[Any] | None:
        """Check the arguments and start the call. Returns None if there is a callback."""
        guard = caller.guard
        if guard is None:
            return self._call_method(caller, member, arguments, _run_unguarded)
        call = guard.start_call(f"{self.schema.namespace}.{member}")
        try:
            return self._call_method(caller, member, arguments, partial(guard.run, call))
        except Exception as error:
            guard.record_failure(call, error)
            raise

    def _call_method(
        self, caller: Caller, member: str, arguments: Sequence[Any], run: Callable[[list[Any], Callable[..., Any]], Any]
    ) -> asyncio.Future[Any] | None:
        if member not in self._methods:
            raise ApiError(f"{self.schema.namespace}.{member} is not a function")
        function, method = self._methods[member]
        if not function.is_permitted(caller.permissions):
            needed = " and ".join(sorted(function.permissions)) or " or ".join(sorted(function.any_permission))
            raise PermissionDenied(f"Permission denied: {function.path} needs the permission {needed}")
        values = function.normalise(arguments)
        callback = values.pop() if function.takes_callback else None
        reply: asyncio.Future[Any] = run(values, partial(method, caller) if self.passes_caller else method)
        if callback is None:
            return reply
        reply.add_done_callback(lambda done: _call_back(callback, done))
        return None

    def _read(self, member: str, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Run a read-only transaction function, and convert its result as the schema says."""
        convert = self._result_converters[member]
        return self._store.read(lambda transaction: convert(function(transaction, *arguments)))

    def _read_single_statement(self, member: str, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """The same for a function that runs one SQL statement, which is cheaper."""
        convert = self._result_converters[member]
        return self._store.read(lambda transaction: convert(function(transaction, *arguments)), single_statement=True)

    def _write(self, member: str, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Run a transaction function that writes, and convert its result as the schema says."""
        convert = self._result_converters[member]
        return self._store.write(lambda transaction: convert(function(transaction, *arguments)))

    def _run(self, member: str, work: Awaitable[Any]) -> asyncio.Future[Any]:
        """Run a coroutine, and convert its result as the schema says."""
        convert = self._result_converters[member]

        async def converted() -> Any:
            return convert(await work)

        return asyncio.ensure_future(converted())


def _run_unguarded(values: list[Any], method: Callable[..., Any]) -> Any:
    return method(*values)


def _call_back(callback: Callable[..., Any], done: asyncio.Future[Any]) -> None:
    """Call the callback with the result. After a failed call Firefox passes no argument."""
    if isinstance(error := done.exception(), HatboxError):
        logger.error("unchecked runtime.lastError: %s", error)
        callback()
    else:
        callback(without_undefined(done.result()))
