"""Events as scripts see them: addListener, removeListener, hasListener, with Firefox's errors."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any

from hatbox.errors import ArgumentError, PermissionDenied

if TYPE_CHECKING:
    from hatbox.api.caller import Caller
    from hatbox.api.dispatcher import Dispatcher
    from hatbox.api.namespace import EventBinding
    from hatbox.schema import EventSchema

__all__ = ["ScriptEvent"]


class ScriptEvent:
    """One event of a namespace, for one caller."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: Caller,
        namespace: str,
        event: EventSchema,
        convert: Callable[[Any], Any] | None = None,
    ) -> None:
        self._convert = convert
        """Converts each argument of the listener."""
        self._dispatcher = dispatcher
        self._caller = caller
        self._namespace = namespace
        self._path = f"{namespace}.{event.name}"
        self._event = event
        self._registered: dict[Callable[..., Any], tuple[EventBinding, Callable[[Any], Any]]] = {}

    def addListener(self, *arguments: Any) -> None:  # noqa: N802 - the API's own spelling
        """Register a listener."""
        guard = self._caller.guard
        if guard is not None:
            guard.start_listening(self._path)
        listener = self._listener(arguments)
        options = self._event.normalise(arguments[1:])
        binding = self._dispatcher.require_namespace(self._caller, self._namespace).events[self._event.name]
        if not self._event.permissions <= self._caller.permissions:
            needed = " and ".join(sorted(self._event.permissions))
            raise PermissionDenied(f"Permission denied: {self._event.path} needs the permission {needed}")
        for need in self._event.needs:
            if need.is_used(options) and not need.is_satisfied(self._caller.permissions):
                raise ArgumentError(need.message)
        if listener not in self._registered:
            forwarder = self._forwarder(binding, listener, options)
            binding.event.add_listener(forwarder, options)
            self._registered[listener] = binding, forwarder
            if guard is not None:
                guard.add_listener(forwarder, lambda: self.removeListener(listener))

    def removeListener(self, *arguments: Any) -> None:  # noqa: N802 - the API's own spelling
        """Unregister a listener. An unknown listener is ignored, as in Firefox."""
        if registered := self._registered.pop(self._listener(arguments), None):
            binding, forwarder = registered
            binding.event.remove_listener(forwarder)
            if self._caller.guard is not None:
                self._caller.guard.discard_listener(forwarder)

    def hasListener(self, *arguments: Any) -> bool:  # noqa: N802 - the API's own spelling
        """Whether a listener is registered."""
        return self._listener(arguments) in self._registered

    def _listener(self, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        if not arguments or not callable(arguments[0]):
            raise ArgumentError(f"Invalid listener for {self._event.path}.")
        listener: Callable[..., Any] = arguments[0]
        return listener

    def _forwarder(
        self, binding: EventBinding, listener: Callable[..., Any], options: list[Any]
    ) -> Callable[[Any], Any]:
        guard = self._caller.guard

        def forward(value: Any) -> Any:
            if self._dispatcher.namespace(self._caller, self._namespace) is None:
                return None  # the permission was revoked
            if not self._event.permissions <= self._caller.permissions:
                return None
            values = binding.to_listener_args(self._caller, value, *options)
            if values is None:
                return None
            converted = [convert(each) for convert, each in zip(self._event.argument_converters, values, strict=True)]
            if guard is not None:
                shown = guard.filter_event(self._path, value, converted)
                if shown is None:
                    return None
                converted = list(shown)
            arguments = converted if self._convert is None else list(map(self._convert, converted))
            result = self._call_with_user_input(listener, arguments) if self._event.user_input else listener(*arguments)
            if binding.from_listener_result is None:
                return result
            return binding.from_listener_result(self._caller, result, *options)

        return forward

    def _call_with_user_input(self, listener: Callable[..., Any], arguments: list[Any]) -> Any:
        """Call a listener as a user input handler. In a coroutine this lasts until its first await."""
        with self._caller.handling_user_input():
            result = listener(*arguments)
        return _run_with_user_input(result, self._caller) if asyncio.iscoroutine(result) else result


async def _run_with_user_input(coroutine: Coroutine[Any, Any, Any], caller: Caller) -> Any:
    return await _first_step_with_user_input(coroutine, caller)


@types.coroutine
def _first_step_with_user_input(coroutine: Coroutine[Any, Any, Any], caller: Caller) -> Generator[Any, Any, Any]:
    """Run a coroutine, and its first step as a user input handler."""
    try:
        with caller.handling_user_input():
            waits_for = coroutine.send(None)
        while True:
            try:
                sent = yield waits_for
            except BaseException as error:  # noqa: BLE001 - the coroutine's to handle
                waits_for = coroutine.throw(error)
            else:
                waits_for = coroutine.send(sent)
    except StopIteration as end:
        return end.value
