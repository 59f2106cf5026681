"""Ports: two ends that post messages to each other until one of them disconnects.

One end has connected; there is another for each page that listened. What one posts goes to all on the other side.
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

__all__ = ["Channel", "Port", "PortEvent", "structured_clone"]

logger = logging.getLogger("hatbox.messaging")

Deliver = Callable[["Port", str, Any], None]
"""Tells an end what has happened: `message` and what it is, or `disconnect` and an error or None."""
WaitForAck = Callable[["Port"], Awaitable[Any] | None]
"""Resolves when an end has heard all that it was told so far; None if it has."""

_ACK_INTERVAL: Final = 256
_MAX_UNACKED: Final = 4
"""An end is asked whether it has caught up after so many messages; whoever posts waits for one so many times behind."""


class PortEvent:
    """An event of a port."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._listeners: list[Callable[..., Any]] = []
        self._tasks: set[asyncio.Future[Any]] = set()

    def addListener(self, listener: Callable[..., Any]) -> None:  # noqa: N802 - the API's own spelling
        """Call a function whenever this happens."""
        if not callable(listener):
            raise ArgumentError(f"Invalid listener for {self._name}.")
        if listener not in self._listeners:
            self._listeners.append(listener)

    def removeListener(self, listener: Callable[..., Any]) -> None:  # noqa: N802 - the API's own spelling
        """Stop calling a function; one that was never added is no error."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def hasListener(self, listener: Callable[..., Any]) -> bool:  # noqa: N802 - the API's own spelling
        """Whether a function is registered."""
        return listener in self._listeners

    def emit(self, *arguments: Any) -> None:
        """Call all. One that is a coroutine function runs as a task."""
        for listener in list(self._listeners):
            try:
                result = listener(*arguments)
            except Exception:
                logger.exception("a listener of a port raised")
            else:
                if asyncio.iscoroutine(result):
                    task = asyncio.ensure_future(result)
                    self._tasks.add(task)
                    task.add_done_callback(self._report)

    def _report(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("a listener of a port raised", exc_info=error)


class Port:
    """One end of a port, with the names of the API: runtime.Port, for Python."""

    def __init__(
        self, channel: Channel, context: ExtensionContext, number: int, sender: Mapping[str, Any] | None
    ) -> None:
        self.name = channel.name
        self.sender = sender
        """Who has connected; None at that end itself."""
        self.error: ApiError | None = None
        """Why it was disconnected, where that was an error."""
        self.onMessage = PortEvent("Port.onMessage")
        """Called with each message, and the port."""
        self.onDisconnect = PortEvent("Port.onDisconnect")
        """Called with the port when the other side has disconnected, or is gone."""
        self.context = context
        self.number = number
        self.open = True
        self._channel = channel
        self._receiving: list[asyncio.Future[Any]] = []
        self._told = 0
        self._behind: deque[asyncio.Future[Any]] = deque()

    def postMessage(self, message: Any) -> None:  # noqa: N802 - the API's own spelling
        """Send a message to the other side."""
        self.post(structured_clone(message))

    def disconnect(self) -> None:
        """Close the port at both ends. The other side is told; twice is no error."""
        if self.open:
            self._channel.close(self)

    async def receive(self) -> Any:
        """The next message that comes from now on. Raises ApiError if the port is disconnected before."""
        if not self.open:
            raise ApiError("Attempt to receive on disconnected port")
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._receiving.append(waiting)
        return await waiting

    def post(self, message: Any) -> Awaitable[Any] | None:
        """Send what nobody else holds. Where the other side is far behind, whoever posts must wait for what this is."""
        if not self.open:
            raise ApiError("Attempt to postMessage on disconnected port")
        return self._channel.post(self, message)

    def deliver(self, message: Any, deliver: Deliver, caught_up: WaitForAck) -> Awaitable[Any] | None:
        """Tell this end of a message; returns what there is to wait for if it is far behind."""
        deliver(self, "message", message)
        self._told += 1
        if self._told % _ACK_INTERVAL == 0 and (heard := caught_up(self)) is not None:
            self._behind.append(asyncio.ensure_future(heard))
        while self._behind and self._behind[0].done():
            self._behind.popleft()
        return asyncio.shield(self._behind[0]) if len(self._behind) > _MAX_UNACKED else None

    def on_message(self, message: Any) -> None:
        """Tell Python of a message."""
        said = without_undefined(message)
        waiting, self._receiving = self._receiving, []
        for each in waiting:
            if not each.done():
                each.set_result(said)
        self.onMessage.emit(said, self)

    def on_disconnect(self) -> None:
        """Tell Python that the other side is gone."""
        for each in self._receiving:
            if not each.done():
                each.set_exception(self.error or ApiError("The port was disconnected"))
        self.onDisconnect.emit(self)


class Channel:
    """All ends of one port. What is posted before the other side has heard of it waits."""

    def __init__(self, name: str, deliver: Deliver, caught_up: WaitForAck) -> None:
        self.name = name
        self.source: Port
        self.targets: list[Port] = []
        self._deliver = deliver
        self._caught_up = caught_up
        self._waiting: list[tuple[Port, Any, asyncio.Future[None]]] | None = []
        """What was posted before it is open: by whom, what, and who waits for it; None once it is."""
        self._closing: Port | None = None

    def connect(self, context: ExtensionContext, number: int) -> Port:
        """The end of whoever connects."""
        self.source = context.ports[number] = Port(self, context, number, None)
        return self.source

    def accept(self, context: ExtensionContext, number: int, sender: Mapping[str, Any]) -> Port:
        """The end of one that listens: one for each context, however many listeners it has."""
        for port in self.targets:
            if port.context is context:
                return port
        port = context.ports[number] = Port(self, context, number, sender)
        self.targets.append(port)
        return port

    def opened(self) -> None:
        """Everybody who listens has heard of it: deliver what waits."""
        waiting, self._waiting = self._waiting or [], None
        for port, message, done in waiting:
            self._send(port, message)
            _finish(done)
        if self._closing is not None:
            self._end(self._closing, None)

    def failed(self, error: ApiError) -> None:
        """Nobody listens."""
        for _, _, done in self._waiting or ():
            _finish(done)
        self._waiting = None
        if self.source.open:
            self._tell_end(self.source, error)

    def post(self, port: Port, message: Any) -> Awaitable[Any] | None:
        """Send a message from an end to the other side; returns what there is to wait for, if that is far behind."""
        if self._waiting is None:
            return self._send(port, message)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((port, message, done))
        return done

    def close(self, port: Port) -> None:
        """Close it from an end."""
        self._drop(port)
        if self._waiting is None:
            self._end(port, None)
        elif self._closing is None:
            self._closing = port

    def _send(self, port: Port, message: Any) -> Awaitable[Any] | None:
        others = self.targets if port is self.source else [self.source]
        behind = [each.deliver(message, self._deliver, self._caught_up) for each in others if each.open]
        return next((each for each in behind if each is not None), None)

    def _end(self, port: Port, error: ApiError | None) -> None:
        """Every end but the one that has closed hears of it: without its source, or one target, there is no port."""
        for each in (self.source, *self.targets):
            if each is not port and each.open:
                self._tell_end(each, error)

    def _tell_end(self, port: Port, error: ApiError | None) -> None:
        self._drop(port)
        port.error = error
        # Not at once: whoever closes it goes on first.
        asyncio.get_running_loop().call_soon(self._deliver, port, "disconnect", None if error is None else str(error))

    def _drop(self, port: Port) -> None:
        port.open = False
        port.context.ports.pop(port.number, None)


def structured_clone(message: Any) -> Any:
    """A copy of what Python sends; ApiError if it is nothing that a script could be given."""
    try:
        return decode(encode(message))
    except (TypeError, ValueError, NotImplementedError, RecursionError) as error:
        raise ApiError(f"{type(message).__name__} object could not be cloned: {error}") from None


def _finish(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
