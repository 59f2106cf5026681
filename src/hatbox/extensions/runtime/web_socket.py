"""A WebSocket connection without an identity: no cookies, no proxy of the environment, no redirection.

Knows the library that speaks the protocol, and nothing of scripts.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, cast

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.typing import Origin, Subprotocol

from hatbox.errors import NetworkError
from hatbox.extensions.runtime.host import SocketClosed, SocketRequest

__all__ = ["WebSocket"]

_OPEN_SECONDS: Final = 20.0  # as in Firefox
_CLOSE_SECONDS: Final = 10.0  # and so is this
_MOST_BYTES: Final = 8 << 20  # of a message: the same as of an answer to fetch()
_QUEUE: Final = 4  # frames that are read ahead
_ABNORMAL: Final = 1006
_GOING_AWAY: Final = 1001


class WebSocket:
    """A connection that is open until receive() says that it is not."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._broken: str | None = None
        self.protocol = connection.subprotocol or ""
        """The subprotocol that the server has chosen."""
        headers = connection.response.headers if connection.response is not None else {}
        self.extensions = str(headers.get("Sec-WebSocket-Extensions", ""))
        """The extensions of the protocol that it has agreed to."""

    @classmethod
    async def open(cls, request: SocketRequest, trusted: Callable[[], ssl.SSLContext]) -> WebSocket:
        """Connect; NetworkError if that fails. `trusted` says whom to trust where TLS is spoken."""
        options: dict[str, Any] = {"ssl": trusted()} if request.url.startswith("wss:") else {}
        try:
            connection = await _Connect(
                request.url,
                origin=Origin(request.origin),
                subprotocols=[Subprotocol(each) for each in request.protocols] or None,
                user_agent_header=request.user_agent,
                proxy=None,
                open_timeout=_OPEN_SECONDS,
                close_timeout=_CLOSE_SECONDS,
                ping_interval=None,
                max_size=_MOST_BYTES,
                max_queue=_QUEUE,
                **options,
            )
        except (OSError, TimeoutError, InvalidHandshake, InvalidURI, ConnectionClosed, EOFError, ValueError) as error:
            raise NetworkError(f"{request.url}: {str(error) or type(error).__name__}") from error
        return cls(connection)

    async def send(self, message: str | bytes) -> None:
        """Send a message, when there is room for it. On a connection that is closed it goes nowhere."""
        with suppress(ConnectionClosed):  # receive() tells
            await self._connection.send(message)

    async def receive(self) -> str | bytes | SocketClosed:
        """The next message, or how the connection was closed."""
        try:
            return await self._connection.recv()
        except ConnectionClosed as closed:
            return self._ended(closed)

    async def close(self, code: int | None, reason: str) -> None:
        """Say goodbye, and wait until the server has answered or has taken too long."""
        await self._connection.close(cast(int, code), reason)  # None: a goodbye without a code, which close() allows

    async def close_going_away(self) -> None:
        """Say goodbye for a script that has ended."""
        await self._connection.close(_GOING_AWAY)

    def abort(self, why: str) -> None:
        """Cut it off."""
        if self._broken is None:
            self._broken = why
        self._connection.transport.abort()

    def _ended(self, closed: ConnectionClosed) -> SocketClosed:
        if self._broken is not None:
            return SocketClosed(_ABNORMAL, "", clean=False, error=self._broken)
        received = closed.rcvd
        if received is not None:
            return SocketClosed(received.code, received.reason, clean=closed.sent is not None)
        # Where no goodbye came it was broken off, and that is only an error if it was us, for what the server sent.
        return SocketClosed(_ABNORMAL, "", clean=False, error=str(closed) if closed.sent is not None else None)


class _Connect(connect):
    """Does not follow redirections: browsers do not, and the new host would need a permission of its own."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc
