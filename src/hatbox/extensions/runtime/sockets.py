"""The WebSockets of one child: its messages become connections of the host, and what arrives becomes messages to it.

Neither side has more than a window of bytes under way: a script that sends faster than the server reads keeps the rest
in its own memory, and from a server that sends faster than the script reads nothing more is taken. Knows neither the
protocol nor permissions.
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
from hatbox.extensions.runtime.host import Socket, SocketClosed, SocketRequest
from hatbox.extensions.runtime.wire_frames import ProtocolError

logger = logging.getLogger("hatbox.extensions")

__all__ = ["MAX_SOCKETS", "Sockets"]

MAX_SOCKETS: Final = 200
"""As many as Firefox opens at a time."""

_WINDOW: Final = 1 << 20  # bytes, as in websocket.js
_EACH: Final = 64  # what a message counts beyond its bytes, so that empty ones cannot be without number
_FAILED: Final = 1006
_LEAVE_SECONDS: Final = 2.0
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")

_Connect = Callable[[SocketRequest], Awaitable[Socket]]


class Sockets:
    """What a child does with its WebSockets. `tell` sends it a message, `log` is told why one has failed."""

    def __init__(
        self,
        connect: _Connect,
        origin: str,
        user_agent: str,
        tell: Callable[[list[Any]], None],
        log: Callable[[str], None],
    ) -> None:
        self._connect = connect
        self._origin = origin
        self._user_agent = user_agent
        self._tell = tell
        self._log = log
        self._open: dict[int, _Open] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._last = 0

    def handle(self, what: str, number: int, details: list[Any]) -> None:
        """A message of the child. One of a socket that has been closed meanwhile means nothing any more."""
        if what == "open":
            self._begin(number, details)
        elif number > self._last:
            raise ProtocolError(f"a WebSocket {number} that was not opened")
        elif number in self._open:
            self._open[number].handle(what, details)

    def close(self) -> None:
        """The child has ended: say goodbye to all servers, and do not wait for them."""
        for each in list(self._open.values()):
            each.task.cancel()

    def _begin(self, number: int, details: list[Any]) -> None:
        match details:
            case [str(url), list(protocols)] if number == self._last + 1 and all(map(_is_token, protocols)):
                self._last = number
            case _:
                raise ProtocolError("a WebSocket that is not one")
        socket = _Open(lambda what, *rest: self._tell(["w", number, what, rest]))
        request = SocketRequest(url, protocols, self._origin, self._user_agent)
        crowded = len(self._open) >= MAX_SOCKETS
        self._open[number] = socket
        socket.task = asyncio.ensure_future(self._live(socket, request, crowded=crowded))
        socket.task.add_done_callback(lambda _: self._open.pop(number))

    async def _live(self, socket: _Open, request: SocketRequest, *, crowded: bool) -> None:
        """From the first message to the last."""
        try:
            if crowded:
                raise NetworkError(f"there are {MAX_SOCKETS} open already")
            closed = await self._talk(socket, await self._connected(socket, request))
        except NetworkError as error:
            closed = SocketClosed(_FAILED, "", clean=False, error=str(error))
        except Exception as error:
            logger.exception("a WebSocket")
            closed = SocketClosed(_FAILED, "", clean=False, error=type(error).__name__)
        if closed.error:
            self._log(f"WebSocket({request.url[:200]}): {closed.error}")
        socket.tell("closed", closed.code, closed.reason, closed.clean, closed.error is not None)

    async def _connected(self, socket: _Open, request: SocketRequest) -> Socket:
        """The connection, unless the script gives it up before it is there."""
        connecting = asyncio.ensure_future(self._connect(request))
        try:
            either: list[asyncio.Future[Any]] = [connecting, socket.given_up]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if socket.given_up.done() and not connecting.done():
                raise NetworkError(socket.given_up.result() or "it was closed before it was open")
        except BaseException:
            connecting.add_done_callback(_drop_connected)  # it may have come just now
            connecting.cancel()
            raise
        return await connecting

    async def _talk(self, socket: _Open, connection: Socket) -> SocketClosed:
        socket.given_up.add_done_callback(
            lambda given_up: None if given_up.cancelled() else connection.abort(given_up.result())
        )
        socket.tell("open", connection.protocol, connection.extensions)
        sending = asyncio.ensure_future(socket.send_all(connection))
        sending.add_done_callback(lambda done: _drop_unsendable(done, connection))
        try:
            return await socket.receive_all(connection)
        except asyncio.CancelledError:
            leaving = asyncio.ensure_future(_leave(connection))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
            raise
        finally:
            sending.cancel()


class _Open:
    """One socket of a script."""

    task: asyncio.Task[None]

    def __init__(self, tell: Callable[..., None]) -> None:
        self.tell = tell
        self.given_up: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Done when the script, or our half of the bridge in it, does not want the connection any more: why."""
        self._outgoing: deque[str | bytes | tuple[int | None, str]] = deque()
        self._outgoing_size = 0
        self._something = asyncio.Event()
        self._unread = 0
        self._readable = asyncio.Event()

    def handle(self, what: str, details: list[Any]) -> None:
        match what, details:
            case "text", [str(text)]:
                self._enqueue(text)
            case "bytes", [str(encoded)]:
                try:
                    data = b64decode(encoded, validate=True)
                except (binascii.Error, ValueError):
                    raise ProtocolError("a message that is no base64") from None
                self._enqueue(data)
            case "close", [int() | None as code, str(reason)]:
                self._enqueue((code, reason))
            case "fail", [str(why)]:
                if not self.given_up.done():
                    self.given_up.set_result(why[:200])
            case "read", [int(cost)]:
                self._unread -= cost
                self._readable.set()
            case _:
                raise ProtocolError("a message of a WebSocket that means nothing")

    def _enqueue(self, item: str | bytes | tuple[int | None, str]) -> None:
        if self._outgoing_size > _WINDOW:
            raise ProtocolError("more sent on a WebSocket than there was room for")
        self._outgoing.append(item)
        self._outgoing_size += len(item) + _EACH
        self._something.set()

    async def send_all(self, connection: Socket) -> None:
        """Send what the script sends, and tell it how far that has come."""
        while True:
            while self._outgoing:
                item = self._outgoing.popleft()
                if isinstance(item, tuple):
                    await connection.close(*item)
                    return
                self._outgoing_size -= len(item) + _EACH
                await connection.send(item)
                self.tell("sent", len(item.encode()) if isinstance(item, str) else len(item))
            self._something.clear()
            await self._something.wait()

    async def receive_all(self, connection: Socket) -> SocketClosed:
        """Pass on what the server sends, for as long as the script reads it."""
        while not isinstance(message := await connection.receive(), SocketClosed):
            cost = len(message) + _EACH
            if isinstance(message, str):
                self.tell("text", message, cost)
            else:
                self.tell("bytes", b64encode(message).decode("ascii"), cost)
            self._unread += cost
            while self._unread > _WINDOW:
                self._readable.clear()
                await self._readable.wait()
        return message


def _is_token(value: object) -> bool:
    """Whether it can stand in a header, and not be a header of its own."""
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None


def _drop_connected(connecting: asyncio.Future[Socket]) -> None:
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().abort("nobody wants it any more")


def _drop_unsendable(sending: asyncio.Future[None], connection: Socket) -> None:
    if not sending.cancelled() and (error := sending.exception()) is not None:
        connection.abort(f"a message cannot be sent: {type(error).__name__}")


async def _leave(connection: Socket) -> None:
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(connection.close_going_away(), _LEAVE_SECONDS)
    finally:
        connection.abort("its script has ended")  # a server that does not answer would keep it open
