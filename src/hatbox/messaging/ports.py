"""Ports: two ends that post messages to each other until one of them disconnects.

One end has connected; there is another for each page that listened. What one posts goes to all on the other side.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from hatbox.errors import ApiError, ArgumentError
from hatbox.messaging.context import Context
from hatbox.values import decode, encode, without_undefined

__all__ = ["Channel", "Port", "PortEvent", "copied"]

logger = logging.getLogger("hatbox.messaging")

Deliver = Callable[["Port", str, Any], Awaitable[Any]]
"""Tells a script's end of what has happened: `message` and what it is, or `disconnect` and an error or None."""


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

    def __init__(self, channel: Channel, context: Context, number: int, sender: Mapping[str, Any] | None) -> None:
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

    def postMessage(self, message: Any) -> None:  # noqa: N802 - the API's own spelling
        """Send a message to the other side."""
        self.post(copied(message))

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

    def post(self, message: Any) -> Awaitable[Any]:
        """Send what nobody else holds; resolves when the other side has it."""
        if not self.open:
            raise ApiError("Attempt to postMessage on disconnected port")
        return self._channel.post(self, message)

    def got(self, message: Any) -> None:
        """Tell Python of a message."""
        said = without_undefined(message)
        waiting, self._receiving = self._receiving, []
        for each in waiting:
            if not each.done():
                each.set_result(said)
        self.onMessage.emit(said, self)

    def was_closed(self) -> None:
        """Tell Python that the other side is gone."""
        for each in self._receiving:
            if not each.done():
                each.set_exception(self.error or ApiError("The port was disconnected"))
        self.onDisconnect.emit(self)


class Channel:
    """All ends of one port. What is posted before the other side has heard of it waits."""

    def __init__(self, name: str, deliver: Deliver) -> None:
        self.name = name
        self.source: Port
        self.targets: list[Port] = []
        self._deliver = deliver
        self._waiting: list[tuple[Port, Any, asyncio.Future[None]]] | None = []
        """What was posted before it is open: by whom, what, and who waits for it; None once it is."""
        self._closing: Port | None = None
        self._tasks: set[asyncio.Future[Any]] = set()

    def connect(self, context: Context, number: int) -> Port:
        """The end of whoever connects."""
        self.source = context.ports[number] = Port(self, context, number, None)
        return self.source

    def accept(self, context: Context, number: int, sender: Mapping[str, Any]) -> Port:
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
            self._send(port, message).add_done_callback(partial(_finish, done))
        if self._closing is not None:
            self._end(self._closing, None)

    def failed(self, error: ApiError) -> None:
        """Nobody listens."""
        for _, _, done in self._waiting or ():
            _finish(done)
        self._waiting = None
        if self.source.open:
            self._tell_end(self.source, error)

    def post(self, port: Port, message: Any) -> Awaitable[Any]:
        """Send a message from an end to the other side."""
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

    def _send(self, port: Port, message: Any) -> asyncio.Future[Any]:
        others = self.targets if port is self.source else [self.source]
        return asyncio.gather(*[self._begin(self._deliver(each, "message", message)) for each in others if each.open])

    def _end(self, port: Port, error: ApiError | None) -> None:
        """Every end but the one that has closed hears of it: without its source, or one target, there is no port."""
        for each in (self.source, *self.targets):
            if each is not port and each.open:
                self._tell_end(each, error)

    def _tell_end(self, port: Port, error: ApiError | None) -> None:
        self._drop(port)
        port.error = error
        self._begin(self._deliver(port, "disconnect", None if error is None else str(error)))

    def _begin(self, work: Awaitable[Any]) -> asyncio.Future[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _drop(self, port: Port) -> None:
        port.open = False
        port.context.ports.pop(port.number, None)


def copied(message: Any) -> Any:
    """A copy of what Python sends; ApiError if it is nothing that a script could be given."""
    try:
        return decode(encode(message))
    except (TypeError, ValueError, NotImplementedError, RecursionError) as error:
        raise ApiError(f"{type(message).__name__} object could not be cloned: {error}") from None


def _finish(done: asyncio.Future[None], _: object = None) -> None:
    if not done.done():
        done.set_result(None)
