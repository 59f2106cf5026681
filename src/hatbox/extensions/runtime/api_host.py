"""The host of the scripts of one extension: passes calls to the dispatcher, as `browser` does for Python scripts.

Knows no namespace by name.
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

_USER_INPUT_SECONDS = 10  # a suspended background has to start first
_LEVELS = {"debug": logging.DEBUG, "warn": logging.WARNING, "error": logging.ERROR}


class ApiHost:
    """Calls and events of one caller; files from `read_file`; requests as its permissions allow."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: Caller,
        read_file: Callable[[str], bytes | None],
        network: Network | None = None,
    ) -> None:
        self.read_file = read_file
        self._dispatcher = dispatcher
        self._caller = caller
        self._network = network
        self._events: dict[str, ScriptEvent] = {}
        self._forwarders: dict[Listener, tuple[ScriptEvent, Callable[..., Any]]] = {}
        self._user_input_until = -math.inf
        """Until when a call may be made by a user input handler."""
        caller.note_user_input = self.note_user_input

    def shared_snapshot(self) -> AbstractContextManager[None]:
        """Run the calls in the body on one snapshot of the profile."""
        return self._dispatcher.shared_snapshot()

    def call(self, namespace: str, member: str, arguments: list[Any]) -> Awaitable[Any] | None:
        """Call an API function."""
        return self._dispatcher.call(self._caller, namespace, member, arguments)

    def call_with_user_input(self, namespace: str, member: str, arguments: list[Any]) -> Awaitable[Any] | None:
        """Call an API function as a user input handler, if one was called recently."""
        if time.monotonic() > self._user_input_until:
            return self.call(namespace, member, arguments)
        with self._caller.handling_user_input():
            return self.call(namespace, member, arguments)

    def add_listener(self, listener: Listener, extra: list[Any]) -> None:
        """Add a listener of a script."""
        namespace, name = split_path(listener.path)
        schema = self._dispatcher.require_namespace(self._caller, namespace).schema
        event = schema.events.get(name)
        if event is None:
            raise ApiError(f"{listener.path} is not an event")
        if listener.path not in self._events:
            self._events[listener.path] = ScriptEvent(self._dispatcher, self._caller, namespace, event)
        # If listeners of the event return a value, the dispatcher of the event gets it as an awaitable.
        returns = event_returns(schema, name)
        forward: Callable[..., Any] = _CallingForwarder(listener) if returns else _NotifyingForwarder(listener)
        if event.user_input:
            forward = _UserInputRecorder(forward, self.note_user_input)
        script_event = self._events[listener.path]
        script_event.addListener(forward, *extra)
        self._forwarders[listener] = script_event, forward

    def remove_listener(self, listener: Listener) -> None:
        """Remove a listener of a script."""
        if forwarder := self._forwarders.pop(listener, None):
            script_event, forward = forwarder
            script_event.removeListener(forward)

    def note_user_input(self) -> None:
        """Accept calls of user input handlers for a while."""
        self._user_input_until = time.monotonic() + _USER_INPUT_SECONDS

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Make a request, if the caller has the host permission."""
        return await self._opened_network().fetch(request, lambda: self._caller.hosts)

    async def connect(self, request: SocketRequest) -> Socket:
        """Open a WebSocket, if the caller has the host permission. It is aborted when that is revoked."""
        return await self._opened_network().connect(request, lambda: self._caller.hosts)

    def permissions_changed(self) -> None:
        """Abort WebSockets that are not permitted any more."""
        if self._network is not None:
            self._network.permissions_changed()

    def _opened_network(self) -> Network:
        if self._network is None:
            from hatbox.extensions.runtime.network import Network  # imports httpx, which few extensions need

            self._network = Network(requests=self._dispatcher.requests, page=lambda: self._caller.context.url)
        return self._network

    def change_local_storage(self, key: str | None, value: str | None) -> bool:  # noqa: ARG002 - for subclasses
        """Reject the change: a subclass stores it."""
        return False

    def use_indexed_db(self, operation: str, fields: list[Any]) -> Awaitable[Any]:  # noqa: ARG002 - for subclasses
        """Reject the request: a subclass has a place to store databases."""
        raise ApiError("UnknownError")

    def log(self, entry: LogEntry) -> None:
        """Log with Python's logging."""
        logger.log(_LEVELS.get(entry.level, logging.INFO), "%s: %s", self._caller.extension_id, entry)

    async def close(self) -> None:
        """Close all connections."""
        if self._network is not None:
            await self._network.close()


class _UserInputRecorder:
    """Records user input when a listener is called, because the claim of a script is not trusted."""

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
    """Calls a listener for its result.

    If the event has a sendResponse function, the extension process returns a list: with the response, or empty.
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def __call__(self, *arguments: Any) -> Awaitable[Any]:
        if arguments and callable(arguments[-1]):
            return self._response(self._listener.call(*arguments[:-1]))
        return self._result(self._listener.call(*arguments))

    async def _result(self, called: Awaitable[Any]) -> Any:
        try:
            return await called
        except ScriptError:  # reported by the extension process
            return UNDEFINED

    async def _response(self, called: Awaitable[Any]) -> Any:
        try:
            response = await called
        except ExtensionTerminated:
            return NOT_DELIVERED
        except ScriptError as error:
            raise ApiError(error.message) from error
        match response:
            case [value]:
                return value
            case []:
                return NO_RESPONSE
        return NOT_DELIVERED
