"""The WebSockets of one extension process: its messages control connections of the host, and receive their data.

Each side sends at most a window of unacknowledged bytes. A script that sends faster than the server reads buffers the
rest in its own memory; a server that sends faster than the script reads is not read. Knows no permissions.
"""

from __future__ import annotations

import asyncio
import binascii
import logging
import re
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from hatbox.errors import NetworkError
from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.host import Socket, SocketClosed, SocketRequest
from hatbox.extensions.runtime.wire_frames import ProtocolError
from hatbox.tasks import Tasks

__all__ = ["MAX_SOCKETS", "Sockets"]

logger = logging.getLogger("hatbox.extensions")

MAX_SOCKETS: Final = 200
"""Open WebSockets at a time, as in Firefox."""

_WINDOW: Final = 1 << 20  # bytes, as in websocket.js
_MESSAGE_OVERHEAD: Final = 64  # bytes that each message counts in addition, which limits the number of empty ones
_ABNORMAL_CLOSURE: Final = 1006
_GOING_AWAY_TIMEOUT: Final = 2.0
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")

_Connect = Callable[[SocketRequest], Awaitable[Socket]]


class Sockets:
    """The open WebSockets. `send` sends a message to the process; `log` receives the reason of a failure."""

    def __init__(
        self,
        connect: _Connect,
        origin: str,
        user_agent: str,
        send: Callable[[list[Any]], None],
        log: Callable[[str], None],
    ) -> None:
        self._connect = connect
        self._origin = origin
        self._user_agent = user_agent
        self._send = send
        self._log = log
        self._open: dict[int, _OpenSocket] = {}
        self._closing = Tasks()
        self._last_number = 0

    def handle(self, kind: str, number: int, fields: list[Any]) -> None:
        """Handle a message of the process (protocol.SOCKET). Messages for a closed socket are ignored."""
        if kind == "open":
            self._start(number, fields)
        elif number > self._last_number:
            raise ProtocolError(f"WebSocket {number} was not opened")
        elif number in self._open:
            self._open[number].handle(kind, fields)

    def close(self) -> None:
        """Close all sockets with code 1001 (going away), without waiting."""
        for each in list(self._open.values()):
            each.task.cancel()

    def _start(self, number: int, fields: list[Any]) -> None:
        match fields:
            case [str(url), list(protocols)] if number == self._last_number + 1 and all(map(_is_token, protocols)):
                self._last_number = number
            case _:
                raise ProtocolError("invalid WebSocket message: open")
        socket = _OpenSocket(lambda kind, *rest: self._send([protocol.SOCKET, number, kind, rest]))
        request = SocketRequest(url, protocols, self._origin, self._user_agent)
        at_limit = len(self._open) >= MAX_SOCKETS
        self._open[number] = socket
        socket.task = asyncio.ensure_future(self._run(socket, request, at_limit=at_limit))
        socket.task.add_done_callback(lambda _: self._open.pop(number))

    async def _run(self, socket: _OpenSocket, request: SocketRequest, *, at_limit: bool) -> None:
        """Connect, and transfer messages until the socket is closed."""
        try:
            if at_limit:
                raise NetworkError(f"{MAX_SOCKETS} WebSockets are open")
            closed = await self._transfer(socket, await self._connected(socket, request))
        except NetworkError as error:
            closed = SocketClosed(_ABNORMAL_CLOSURE, "", clean=False, error=str(error))
        except Exception as error:
            logger.exception("WebSocket failed")
            closed = SocketClosed(_ABNORMAL_CLOSURE, "", clean=False, error=type(error).__name__)
        if closed.error:
            self._log(f"WebSocket({request.url[:200]}): {closed.error}")
        socket.send("closed", closed.code, closed.reason, closed.clean, closed.error is not None)

    async def _connected(self, socket: _OpenSocket, request: SocketRequest) -> Socket:
        """Connect. Raises NetworkError if the script closes the socket first."""
        connecting = asyncio.ensure_future(self._connect(request))
        try:
            either: list[asyncio.Future[Any]] = [connecting, socket.failed]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if socket.failed.done() and not connecting.done():
                raise NetworkError(socket.failed.result() or "closed before the connection was established")
        except BaseException:
            connecting.add_done_callback(_abort_connected)  # it may just have connected
            connecting.cancel()
            raise
        return await connecting

    async def _transfer(self, socket: _OpenSocket, connection: Socket) -> SocketClosed:
        socket.failed.add_done_callback(
            lambda failed: None if failed.cancelled() else connection.abort(failed.result())
        )
        socket.send("open", connection.protocol, connection.extensions)
        sending = asyncio.ensure_future(socket.send_all(connection))
        sending.add_done_callback(lambda done: _abort_unsendable(done, connection))
        try:
            return await socket.receive_all(connection)
        except asyncio.CancelledError:
            self._closing.spawn(_close_going_away(connection))
            raise
        finally:
            sending.cancel()


class _OpenSocket:
    """One socket of a script."""

    task: asyncio.Task[None]

    def __init__(self, send: Callable[..., None]) -> None:
        self.send = send
        self.failed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Done when the process aborts the connection, with the error."""
        self._outgoing: deque[str | bytes | tuple[int | None, str]] = deque()
        self._outgoing_size = 0
        self._outgoing_added = asyncio.Event()
        self._unacknowledged = 0
        self._readable = asyncio.Event()

    def handle(self, kind: str, fields: list[Any]) -> None:
        match kind, fields:
            case "text", [str(text)]:
                self._enqueue(text)
            case "bytes", [str(encoded)]:
                try:
                    data = b64decode(encoded, validate=True)
                except (binascii.Error, ValueError):
                    raise ProtocolError("invalid base64 in a WebSocket message") from None
                self._enqueue(data)
            case "close", [int() | None as code, str(reason)]:
                self._enqueue((code, reason))
            case "fail", [str(error)]:
                if not self.failed.done():
                    self.failed.set_result(error[:200])
            case "read", [int(cost)]:
                self._unacknowledged -= cost
                self._readable.set()
            case _:
                raise ProtocolError("invalid WebSocket message")

    def _enqueue(self, item: str | bytes | tuple[int | None, str]) -> None:
        if self._outgoing_size > _WINDOW:
            raise ProtocolError("WebSocket window exceeded")
        self._outgoing.append(item)
        self._outgoing_size += len(item) + _MESSAGE_OVERHEAD
        self._outgoing_added.set()

    async def send_all(self, connection: Socket) -> None:
        """Send the messages of the script, and acknowledge each."""
        while True:
            while self._outgoing:
                item = self._outgoing.popleft()
                if isinstance(item, tuple):
                    await connection.close(*item)
                    return
                self._outgoing_size -= len(item) + _MESSAGE_OVERHEAD
                await connection.send(item)
                self.send("sent", len(item.encode()) if isinstance(item, str) else len(item))
            self._outgoing_added.clear()
            await self._outgoing_added.wait()

    async def receive_all(self, connection: Socket) -> SocketClosed:
        """Pass the messages of the server to the script, at most a window ahead of what it has read."""
        while not isinstance(message := await connection.receive(), SocketClosed):
            cost = len(message) + _MESSAGE_OVERHEAD
            if isinstance(message, str):
                self.send("text", message, cost)
            else:
                self.send("bytes", b64encode(message).decode("ascii"), cost)
            self._unacknowledged += cost
            while self._unacknowledged > _WINDOW:
                self._readable.clear()
                await self._readable.wait()
        return message


def _is_token(value: object) -> bool:
    """Whether a subprotocol can be part of a header without adding another header."""
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None


def _abort_connected(connecting: asyncio.Future[Socket]) -> None:
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().abort("the script closed it")


def _abort_unsendable(sending: asyncio.Future[None], connection: Socket) -> None:
    if not sending.cancelled() and (error := sending.exception()) is not None:
        connection.abort(f"sending a message failed: {type(error).__name__}")


async def _close_going_away(connection: Socket) -> None:
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(connection.close_going_away(), _GOING_AWAY_TIMEOUT)
    finally:
        connection.abort("the script has ended")  # a server that does not respond would leave it open
