"""HTTP with limits: clients of other users, and those that send no request in time, get nothing."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from hatbox.loopback.peer_user import UserCheck

__all__ = ["HttpProtocol", "protocol_class"]

logger = logging.getLogger("hatbox.loopback")

_COMPLETE: Final = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED)
"""States of a client that has sent its request with the body."""


class HttpProtocol(H11Protocol):
    """HTTP for connections of this user, which have a limited time for each request."""

    server_name = "server"
    max_connections = 128
    request_timeout = 10.0
    user_check: UserCheck | None = None
    """Checks the users of connections, where that is possible."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn declares it
        """Refuse other users, and start the timer of the first request."""
        super().connection_made(transport)
        self._request_timer: asyncio.TimerHandle | None = None
        if self.client is None or self.server is None:  # it was closed at once
            transport.abort()
        elif len(self.connections) > self.max_connections:
            logger.warning("%s: more than %d connections", self.server_name, self.max_connections)
            transport.abort()
        elif self.user_check is not None and not self.user_check.accepts(self.client[1], self.server[1] or 0):
            logger.info("%s: refused a connection that is not of this user, or closed again", self.server_name)
            transport.abort()
        else:
            self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Start the timer of a further request, and stop it if the request is complete."""
        self._start_timer()
        super().data_received(data)
        if self.conn.their_state in _COMPLETE:
            self._stop_timer()

    def on_response_complete(self) -> None:
        """Start the timer of a further request whose start was received before."""
        super().on_response_complete()
        if self.conn.trailing_data[0] and self.conn.their_state not in _COMPLETE:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Stop the timer: the handshake is complete."""
        self._stop_timer()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Close the connection. Documents of uvicorn have the origin of the page, and are not sandboxed."""
        self.transport.abort()

    def _start_timer(self) -> None:
        if self._request_timer is None:
            self._request_timer = self.loop.call_later(self.request_timeout, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None


def protocol_class(
    server_name: str, *, max_connections: int, request_timeout: float, user_check: UserCheck | None
) -> type[HttpProtocol]:
    """The protocol of a server with these settings. `server_name` is for the log."""
    settings = {
        "server_name": server_name,
        "max_connections": max_connections,
        "request_timeout": request_timeout,
        "user_check": user_check,
    }
    return type("ConfiguredProtocol", (HttpProtocol,), settings)
