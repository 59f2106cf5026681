"""A WebSocket connection without an identity: no cookies, no proxy of the environment, no redirects.

Adapts the `websockets` library.
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

_OPEN_TIMEOUT: Final = 20.0  # as in Firefox
_CLOSE_TIMEOUT: Final = 10.0  # as in Firefox
_MAX_MESSAGE_BYTES: Final = 8 << 20  # as for a response body of fetch()
_MAX_QUEUED_FRAMES: Final = 4
_ABNORMAL: Final = 1006
_GOING_AWAY: Final = 1001


class WebSocket:
    """An open connection, until receive() returns SocketClosed."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._abort_error: str | None = None
        self.protocol = connection.subprotocol or ""
        """The subprotocol that the server selected."""
        headers = connection.response.headers if connection.response is not None else {}
        self.extensions = str(headers.get("Sec-WebSocket-Extensions", ""))
        """The negotiated extensions of the protocol."""

    @classmethod
    async def open(cls, request: SocketRequest, trusted: Callable[[], ssl.SSLContext]) -> WebSocket:
        """Connect. Raises NetworkError. `trusted` returns the TLS context for wss: URLs."""
        options: dict[str, Any] = {"ssl": trusted()} if request.url.startswith("wss:") else {}
        try:
            connection = await _Connect(
                request.url,
                origin=Origin(request.origin),
                subprotocols=[Subprotocol(each) for each in request.protocols] or None,
                user_agent_header=request.user_agent,
                proxy=None,
                open_timeout=_OPEN_TIMEOUT,
                close_timeout=_CLOSE_TIMEOUT,
                ping_interval=None,
                max_size=_MAX_MESSAGE_BYTES,
                max_queue=_MAX_QUEUED_FRAMES,
                **options,
            )
        except (OSError, TimeoutError, InvalidHandshake, InvalidURI, ConnectionClosed, EOFError, ValueError) as error:
            raise NetworkError(f"{request.url}: {str(error) or type(error).__name__}") from error
        return cls(connection)

    async def send(self, message: str | bytes) -> None:
        """Send a message when the buffer has room. Does nothing on a closed connection."""
        with suppress(ConnectionClosed):  # receive() reports it
            await self._connection.send(message)

    async def receive(self) -> str | bytes | SocketClosed:
        """The next message, or how the connection was closed."""
        try:
            return await self._connection.recv()
        except ConnectionClosed as closed:
            return self._closed(closed)

    async def close(self, code: int | None, reason: str) -> None:
        """Start the closing handshake, and wait for the server or the timeout."""
        await self._connection.close(cast(int, code), reason)  # close() accepts None: a close frame without a code

    async def close_going_away(self) -> None:
        """Close with code 1001 (going away): the script has ended."""
        await self._connection.close(_GOING_AWAY)

    def abort(self, error: str) -> None:
        """Close the connection without a closing handshake."""
        if self._abort_error is None:
            self._abort_error = error
        self._connection.transport.abort()

    def _closed(self, closed: ConnectionClosed) -> SocketClosed:
        if self._abort_error is not None:
            return SocketClosed(_ABNORMAL, "", clean=False, error=self._abort_error)
        received = closed.rcvd
        if received is not None:
            return SocketClosed(received.code, received.reason, clean=closed.sent is not None)
        # Without a close frame of the server, it is an error only if this side closed, because of invalid data.
        return SocketClosed(_ABNORMAL, "", clean=False, error=str(closed) if closed.sent is not None else None)


class _Connect(connect):
    """Does not follow redirects: browsers do not, and the new host needs a permission of its own."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc
