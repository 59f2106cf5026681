"""Ports (runtime.Port): ends that post messages to each other until one of them disconnects.

The sender has one end, and each context that accepts the connection has another. A message goes to all ends on the
other side.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from hatbox.errors import ApiError, ArgumentError
from hatbox.javascript.wire_codec import decode, encode, without_undefined
from hatbox.messaging.context import ExtensionContext
from hatbox.tasks import Tasks

__all__ = ["Channel", "Deliver", "Port", "PortEvent", "WaitForAck", "structured_clone"]

logger = logging.getLogger("hatbox.messaging")

Deliver = Callable[["Port", str, Any], None]
"""Called with an end, `message` and the message, or `disconnect` and an error message or None."""
WaitForAck = Callable[["Port"], Awaitable[Any] | None]
"""Resolves when an end has received all messages so far; None if it has already."""

_ACK_INTERVAL: Final = 256
"""Messages between two acknowledgement requests."""
_MAX_UNACKED: Final = 4
"""Pending acknowledgements after which a sender has to wait (backpressure)."""


class PortEvent:
    """An event of a port."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._listeners: list[Callable[..., Any]] = []
        self._tasks = Tasks(_log_listener_error)

    def addListener(self, listener: Callable[..., Any]) -> None:  # noqa: N802 - the API's own spelling
        """Add a listener."""
        if not callable(listener):
            raise ArgumentError(f"Invalid listener for {self._name}.")
        if listener not in self._listeners:
            self._listeners.append(listener)

    def removeListener(self, listener: Callable[..., Any]) -> None:  # noqa: N802 - the API's own spelling
        """Remove a listener. A function that was never added is ignored."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def hasListener(self, listener: Callable[..., Any]) -> bool:  # noqa: N802 - the API's own spelling
        """Whether a function is registered."""
        return listener in self._listeners

    def emit(self, *arguments: Any) -> None:
        """Call all listeners. A coroutine function runs as a task."""
        for listener in list(self._listeners):
            try:
                result = listener(*arguments)
            except Exception as error:  # noqa: BLE001 - the other listeners are still called
                _log_listener_error(error)
            else:
                if asyncio.iscoroutine(result):
                    self._tasks.spawn(result)


def _log_listener_error(error: BaseException) -> None:
    logger.error("port listener raised", exc_info=error)


class Port:
    """One end of a port: runtime.Port for Python."""

    def __init__(
        self, channel: Channel, context: ExtensionContext, number: int, sender: Mapping[str, Any] | None
    ) -> None:
        self.name = channel.name
        self.sender = sender
        """The runtime.MessageSender that connected; None at its own end."""
        self.error: ApiError | None = None
        """Why the port was disconnected; None without an error."""
        self.onMessage = PortEvent("Port.onMessage")
        """Emitted with each message and the port."""
        self.onDisconnect = PortEvent("Port.onDisconnect")
        """Emitted with the port when the other side has disconnected or closed."""
        self.context = context
        self.number = number
        self.open = True
        self._channel = channel
        self._receiving: list[asyncio.Future[Any]] = []
        self._delivered = 0
        self._unacked: deque[asyncio.Future[Any]] = deque()

    def postMessage(self, message: Any) -> None:  # noqa: N802 - the API's own spelling
        """Send a message to the other side."""
        self.post(structured_clone(message))

    def disconnect(self) -> None:
        """Close the port at both ends. Emits onDisconnect at the other end. A closed port stays closed."""
        if self.open:
            self._channel.close(self)

    async def receive(self) -> Any:
        """Wait for the next message. Raises ApiError if the port is disconnected first."""
        if not self.open:
            raise ApiError("Attempt to receive on disconnected port")
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._receiving.append(waiting)
        return await waiting

    def post(self, message: Any) -> Awaitable[Any] | None:
        """Send a message without cloning it. Wait for the returned awaitable, if any, before the next message."""
        if not self.open:
            raise ApiError("Attempt to postMessage on disconnected port")
        return self._channel.post(self, message)

    def deliver(self, message: Any, deliver: Deliver, wait_for_ack: WaitForAck) -> Awaitable[Any] | None:
        """Deliver a message to this end; returns what the sender has to wait for, if any."""
        deliver(self, "message", message)
        self._delivered += 1
        if self._delivered % _ACK_INTERVAL == 0 and (ack := wait_for_ack(self)) is not None:
            self._unacked.append(asyncio.ensure_future(ack))
        while self._unacked and self._unacked[0].done():
            self._unacked.popleft()
        return asyncio.shield(self._unacked[0]) if len(self._unacked) > _MAX_UNACKED else None

    def on_message(self, message: Any) -> None:
        """Notify Python listeners and receive() of a message."""
        value = without_undefined(message)
        waiting, self._receiving = self._receiving, []
        for each in waiting:
            if not each.done():
                each.set_result(value)
        self.onMessage.emit(value, self)

    def on_disconnect(self) -> None:
        """Notify Python listeners and receive() that the port was disconnected."""
        for each in self._receiving:
            if not each.done():
                each.set_exception(self.error or ApiError("The port was disconnected"))
        self.onDisconnect.emit(self)


class Channel:
    """All ends of one port. Messages wait until the other side has accepted the connection."""

    def __init__(self, name: str, deliver: Deliver, wait_for_ack: WaitForAck) -> None:
        self.name = name
        self.source: Port
        self.targets: list[Port] = []
        self._deliver = deliver
        self._wait_for_ack = wait_for_ack
        self._waiting: list[tuple[Port, Any, asyncio.Future[None]]] | None = []
        """Messages posted before the port is open, each with its end and a future for its delivery. None once open."""
        self._closing: Port | None = None

    def connect(self, context: ExtensionContext, number: int) -> Port:
        """Create the end of the sender."""
        self.source = context.ports[number] = Port(self, context, number, None)
        return self.source

    def accept(self, context: ExtensionContext, number: int, sender: Mapping[str, Any]) -> Port:
        """The end in a context that listens: one for each context, regardless of its number of listeners."""
        for port in self.targets:
            if port.context is context:
                return port
        port = context.ports[number] = Port(self, context, number, sender)
        self.targets.append(port)
        return port

    def opened(self) -> None:
        """All listeners were called: deliver the waiting messages."""
        waiting, self._waiting = self._waiting or [], None
        for port, message, done in waiting:
            try:
                self._send(port, message)
            except ApiError as error:  # the other messages are delivered
                logger.warning("a message of port %s was not delivered: %s", self.name, error)
            _finish(done)
        if self._closing is not None:
            self._end(self._closing, None)

    def failed(self, error: ApiError) -> None:
        """The connection has no receiver: disconnect with the error."""
        for _, _, done in self._waiting or ():
            _finish(done)
        self._waiting = None
        if self.source.open:
            self._disconnect(self.source, error)

    def post(self, port: Port, message: Any) -> Awaitable[Any] | None:
        """Send a message to the other side; returns what the sender has to wait for, if any."""
        if self._waiting is None:
            return self._send(port, message)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((port, message, done))
        return done

    def close(self, port: Port) -> None:
        """Close the port from one end."""
        self._drop(port)
        if self._waiting is None:
            self._end(port, None)
        elif self._closing is None:
            self._closing = port

    def fail(self, port: Port, error: ApiError | None) -> None:
        """Close the port from one end, with an error for the others."""
        self._drop(port)
        self._end(port, error)

    def _send(self, port: Port, message: Any) -> Awaitable[Any] | None:
        others = self.targets if port is self.source else [self.source]
        unacked = [each.deliver(message, self._deliver, self._wait_for_ack) for each in others if each.open]
        return next((each for each in unacked if each is not None), None)

    def _end(self, port: Port, error: ApiError | None) -> None:
        """Disconnect every other end. A port ends when any of its ends is closed."""
        for each in (self.source, *self.targets):
            if each is not port and each.open:
                self._disconnect(each, error)

    def _disconnect(self, port: Port, error: ApiError | None) -> None:
        self._drop(port)
        port.error = error
        # Not at once: the code that closes the port continues first.
        asyncio.get_running_loop().call_soon(self._deliver, port, "disconnect", None if error is None else str(error))

    def _drop(self, port: Port) -> None:
        port.open = False
        port.context.ports.pop(port.number, None)


def structured_clone(message: Any) -> Any:
    """Copy a message from Python. Raises ApiError if it cannot be cloned."""
    try:
        return decode(encode(message))
    except (TypeError, ValueError, NotImplementedError, RecursionError) as error:
        raise ApiError(f"{type(message).__name__} object could not be cloned: {error}") from None


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
