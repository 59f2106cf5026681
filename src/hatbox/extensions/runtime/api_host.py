"""The host of an extension's scripts that answers from the dispatcher, as `browser` does for Python scripts.

Takes the way of every call: permission, arguments, implementation. Knows no namespace by name.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from hatbox.api.caller import Caller
from hatbox.api.dispatcher import Dispatcher
from hatbox.api.events import ScriptEvent
from hatbox.errors import ApiError, ExtensionTerminated, ScriptError
from hatbox.events import NO_RESPONSE, NOT_DELIVERED
from hatbox.extensions.runtime.api_description import event_returns
from hatbox.extensions.runtime.host import FetchRequest, FetchResponse, Listener, LogEntry, Socket, SocketRequest
from hatbox.extensions.runtime.message_parsing import split_path
from hatbox.javascript.wire_codec import UNDEFINED

if TYPE_CHECKING:
    from hatbox.extensions.runtime.network import Network

__all__ = ["ApiHost"]

logger = logging.getLogger("hatbox.extensions.console")

_INPUT_SECONDS = 10  # a sleeping background has to wake first
_LEVELS = {"debug": logging.DEBUG, "warn": logging.WARNING, "error": logging.ERROR}


class ApiHost:
    """Calls and events of one caller through a dispatcher; files from `source`; requests as its permissions allow."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: Caller,
        source: Callable[[str], bytes | None],
        network: Network | None = None,
    ) -> None:
        self.read_file = source
        self._dispatcher = dispatcher
        self._caller = caller
        self._network = network
        self._events: dict[str, ScriptEvent] = {}
        self._forwarders: dict[Listener, tuple[ScriptEvent, Callable[..., Any]]] = {}
        self._input_until = -math.inf
        """Until when what the script does may be the answer to what the user did."""

    def shared_snapshot(self) -> AbstractContextManager[None]:
        """For calls that were made together."""
        return self._dispatcher.shared_snapshot()

    def call(self, namespace: str, member: str, arguments: list[Any]) -> Awaitable[Any] | None:
        """Call a function of a namespace."""
        return self._dispatcher.call(self._caller, namespace, member, arguments)

    def call_with_user_input(self, namespace: str, member: str, arguments: list[Any]) -> Awaitable[Any] | None:
        """Call a function, as an answer to what the user does: if it was told of that not long ago."""
        if time.monotonic() > self._input_until:
            return self.call(namespace, member, arguments)
        with self._caller.handling_user_input():
            return self.call(namespace, member, arguments)

    def add_listener(self, listener: Listener, extra: list[Any]) -> None:
        """Add a listener of a script to the event that it names."""
        namespace, name = split_path(listener.path)
        surface = self._dispatcher.require_namespace(self._caller, namespace).schema
        event = surface.events.get(name)
        if event is None:
            raise ApiError(f"{listener.path} is not an event")
        if listener.path not in self._events:
            self._events[listener.path] = ScriptEvent(self._dispatcher, self._caller, namespace, event)
        # Where the schema says that a listener returns something, whoever fires the event gets it, as an awaitable.
        waits = event_returns(surface, name)
        forward: Callable[..., Any] = _CallingForwarder(listener) if waits else _NotifyingForwarder(listener)
        if event.user_input:
            forward = _UserInputRecorder(forward, self._note_input)
        script_event = self._events[listener.path]
        script_event.addListener(forward, *extra)
        self._forwarders[listener] = script_event, forward

    def remove_listener(self, listener: Listener) -> None:
        """Remove it."""
        if forwarder := self._forwarders.pop(listener, None):
            script_event, forward = forwarder
            script_event.removeListener(forward)

    def _note_input(self) -> None:
        self._input_until = time.monotonic() + _INPUT_SECONDS

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Make a request, to the hosts that the caller has permission for at this moment."""
        return await self._opened_network().fetch(request, lambda: self._caller.hosts)

    async def connect(self, request: SocketRequest) -> Socket:
        """Open a WebSocket, to the hosts that the caller has permission for; it is cut off when that is revoked."""
        return await self._opened_network().connect(request, lambda: self._caller.hosts)

    def permissions_changed(self) -> None:
        """Cut off what the caller has no permission for any more."""
        if self._network is not None:
            self._network.permissions_changed()

    def _opened_network(self) -> Network:
        if self._network is None:
            from hatbox.extensions.runtime.network import Network  # with httpx, which few extensions need

            self._network = Network(requests=self._dispatcher.requests, page=lambda: self._caller.context.url)
        return self._network

    def change_local_storage(self, key: str | None, value: str | None) -> bool:  # noqa: ARG002 - see below
        """Nothing is kept here: who keeps it is above this."""
        return False

    def log(self, entry: LogEntry) -> None:
        """Pass it on to Python's logging."""
        logger.log(_LEVELS.get(entry.level, logging.INFO), "%s: %s", self._caller.extension_id, entry)

    async def close(self) -> None:
        """Let go of connections."""
        if self._network is not None:
            await self._network.close()


class _UserInputRecorder:
    """Notes that a script is told of something that the user does: it must not say so of its own accord."""

    def __init__(self, forward: Callable[..., Any], note: Callable[[], None]) -> None:
        self._forward = forward
        self._note = note

    def __call__(self, *arguments: Any) -> Any:
        self._note()
        return self._forward(*arguments)


class _NotifyingForwarder:
    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def __call__(self, *arguments: Any) -> None:
        self._listener.notify(*arguments)


class _CallingForwarder:
    """Where the event gives its listeners a function to answer with, the script's half says whether it was called.

    Its answer is then a list: empty, or with what the function was called with, or what the listener returned.
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def __call__(self, *arguments: Any) -> Awaitable[Any]:
        if arguments and callable(arguments[-1]):
            return self._answer(self._listener.call(*arguments[:-1]))
        return self._result(self._listener.call(*arguments))

    async def _result(self, asked: Awaitable[Any]) -> Any:
        try:
            return await asked
        except ScriptError:  # the script's half has told of it
            return UNDEFINED

    async def _answer(self, asked: Awaitable[Any]) -> Any:
        try:
            answer = await asked
        except ExtensionTerminated:
            return NOT_DELIVERED
        except ScriptError as error:
            raise ApiError(error.message) from error
        match answer:
            case [value]:
                return value
            case []:
                return NO_RESPONSE
        return NOT_DELIVERED
