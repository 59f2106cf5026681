"""The connection of a script to the process that has the profile: sends its calls, and calls its listeners.

For the process of the script. The protocol is that of the bridge of extensions (hatbox.extensions.runtime.protocol).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any, Final, cast

from hatbox import errors
from hatbox.errors import ApiError, ArgumentError, HatboxError, ProfileClosed
from hatbox.events import ResponseEvent
from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.wire_frames import FrameDecoder, encode_frame
from hatbox.tasks import Tasks

__all__ = ["ProfileConnection", "receive_boot"]

logger = logging.getLogger("hatbox.run")

_HEADER_BYTES: Final = 4
_NO_LIMIT: Final = 1 << 32


def receive_boot(channel: socket.socket) -> dict[str, Any]:
    """Wait for the first message: what to run. Raises EOFError if the command has ended."""
    header = _receive(channel, _HEADER_BYTES)
    frame = header + _receive(channel, int.from_bytes(header, "little"))
    [[[_, boot]]] = (each.messages for each in FrameDecoder(_NO_LIMIT).feed(frame))
    return cast("dict[str, Any]", boot)


def _receive(channel: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        received = channel.recv(size - len(data))
        if not received:
            raise EOFError
        data += received
    return bytes(data)


class ProfileConnection(asyncio.Protocol):
    """See hatbox.api.remote_namespaces.ApiConnection. `max_bytes` is the limit of one message."""

    def __init__(self, max_bytes: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._max_bytes = max_bytes
        self._decoder = FrameDecoder(_NO_LIMIT)
        self._transport: asyncio.Transport | None = None
        self._lost: asyncio.Future[None] = self._loop.create_future()
        self._frames: list[bytes] = []
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._listeners: dict[int, ResponseEvent[Any]] = {}
        self._listener_ids: dict[Callable[[Any], Any], int] = {}
        self._last_id = 0
        self._responses = Tasks(lambda error: logger.error("a response was not sent", exc_info=error))

    @classmethod
    async def open(cls, channel: socket.socket, max_bytes: int) -> ProfileConnection:
        """Connect to the other end of a socket pair."""
        connection = cls(max_bytes)
        await asyncio.get_running_loop().create_connection(lambda: connection, sock=channel)
        return connection

    # ── Calls ──

    def call(self, path: str, arguments: list[Any]) -> asyncio.Future[Any]:
        """Call a function."""
        return self._request(protocol.CALL, path, arguments)

    async def close(self) -> None:
        """Wait until the calls so far have been made, and close the connection."""
        if self._transport is not None and not self._lost.done():
            try:
                await self._request(protocol.FLUSH)
            except HatboxError:  # the command has ended
                return
            self._transport.close()
            await self._lost

    def _request(self, kind: str, *fields: Any) -> asyncio.Future[Any]:
        self._last_id += 1
        number = self._last_id
        self._send([kind, number, *fields])
        result: asyncio.Future[Any] = self._loop.create_future()
        if self._lost.done():
            result.set_exception(_closed())
            return result
        self._pending[number] = result
        result.add_done_callback(lambda done: self._on_done(number, done))
        return result

    def _on_done(self, number: int, done: asyncio.Future[Any]) -> None:
        if self._pending.pop(number, None) is not None and done.cancelled():
            self._send([protocol.CANCEL, number])

    # ── Listeners ──

    def add_listener(self, path: str, listener: Callable[[Any], Any], options: list[Any]) -> None:
        """Add a listener. It is called with the list of its arguments."""
        self._last_id += 1
        number = self._last_id
        self._send([protocol.LISTENER, path, number, True, options])
        event = self._listeners[number] = ResponseEvent[Any](path)
        event.add_listener(listener)
        self._listener_ids[listener] = number

    def remove_listener(self, listener: Callable[[Any], Any]) -> None:
        """Remove a listener."""
        number = self._listener_ids.pop(listener, None)
        if number is not None:
            path = self._listeners.pop(number).name
            self._send([protocol.LISTENER, path, number, False])

    async def _respond(self, request_id: int, event: ResponseEvent[Any] | None, arguments: list[Any]) -> None:
        [response] = await event.collect(arguments) if event is not None else [None]
        try:
            self._send([protocol.RESPONSE, request_id, True, response])
        except ArgumentError as error:
            logger.error("a listener returned a value that cannot be sent: %s", error)
            self._send([protocol.RESPONSE, request_id, True, None])

    # ── Messages ──

    def _send(self, message: list[Any]) -> None:
        """Send a message with the others of this turn of the event loop. Raises ArgumentError if it is too large."""
        try:
            frame = encode_frame([message])
        except (TypeError, ValueError, OverflowError, NotImplementedError, RecursionError) as error:
            raise ArgumentError(f"a value cannot be sent to the process of the profile: {error}") from None
        if len(frame) > self._max_bytes:
            raise ArgumentError(f"the arguments have {len(frame)} bytes; at most {self._max_bytes} can be sent at once")
        if not self._frames:
            self._loop.call_soon(self._flush)
        self._frames.append(frame)

    def _flush(self) -> None:
        frames, self._frames = self._frames, []
        if self._transport is not None and not self._lost.done():
            self._transport.write(b"".join(frames))

    def _handle(self, message: list[Any]) -> None:
        match message:
            case [protocol.RESULT, number, ok, value, *more]:
                result = self._pending.get(number)
                if result is not None and not result.done():
                    if ok:
                        result.set_result(value)
                    else:
                        result.set_exception(_error(value, *more))
            case [protocol.EVENT, 0, number, arguments]:
                if number in self._listeners:
                    self._listeners[number].emit(arguments)
            case [protocol.EVENT, request_id, number, arguments]:
                self._responses.spawn(self._respond(request_id, self._listeners.get(number), arguments))

    # ── Callbacks of asyncio ──

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Receive bytes of frames."""
        for frame in self._decoder.feed(data):
            for message in frame.messages:
                self._handle(message)

    def connection_lost(self, _: Exception | None) -> None:
        """The command has ended, or close() was called."""
        if not self._lost.done():
            self._lost.set_result(None)
        for result in list(self._pending.values()):
            if not result.done():
                result.set_exception(_closed())


def _closed() -> HatboxError:
    return ProfileClosed("the profile", "the command that has opened it has ended", "Run the script again.")


def _error(message: str, name: str = "", details: dict[str, Any] | None = None) -> HatboxError:
    """The error as the other process has raised it: of the same class, with the same message and attributes."""
    found = getattr(errors, name, None)
    kind = found if isinstance(found, type) and issubclass(found, HatboxError) else ApiError
    error = kind.__new__(kind)
    HatboxError.__init__(error, message)
    vars(error).update(details or {})
    return error
