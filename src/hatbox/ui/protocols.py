"""The protocols of uvicorn with limits: clients of other users, and those that send no request in time, get nothing."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from starlette.websockets import WebSocket
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from hatbox.ui.peer_user import is_of_this_user

__all__ = ["HttpProtocol", "WebSocketProtocol", "abort", "protocol_class"]

logger = logging.getLogger("hatbox.ui")

_ABORT: Final = "hatbox.abort"


class HttpProtocol(H11Protocol):
    """HTTP for connections of this user, which have `request_timeout` seconds for each request."""

    request_timeout = 10.0
    checks_user = False
    """Whether the users of connections are checked."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn declares it
        """Refuse other users, and start the timer of the first request."""
        super().connection_made(transport)
        self._request_timer: asyncio.TimerHandle | None = self.loop.call_later(self.request_timeout, transport.abort)
        client, server = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        if self.checks_user and not is_of_this_user(client[1], server[1]):
            logger.info("manager page: refused a connection that is not of this user, or closed again")
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Start the timer of a further request, and stop it if the request is complete."""
        if self._request_timer is None:
            self._request_timer = self.loop.call_later(self.request_timeout, self.transport.abort)
        super().data_received(data)
        if self._is_complete():
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Stop the timer: the handshake is complete."""
        self._stop_timer()
        super().handle_websocket_upgrade(event)

    def _is_complete(self) -> bool:
        """Whether the last request was received with its body."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.more_body

    def _stop_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """WebSockets that `abort` can close while the client does not read."""

    async def run_asgi(self) -> None:
        """Run the application."""
        self.scope[_ABORT] = self.transport.abort  # type: ignore[typeddict-unknown-key] # for `abort`
        await super().run_asgi()


def protocol_class(timeout: float, *, checks_user: bool) -> type[HttpProtocol]:
    """The protocol of a server with these settings."""
    return type("ConfiguredProtocol", (HttpProtocol,), {"request_timeout": timeout, "checks_user": checks_user})


def abort(websocket: WebSocket) -> None:
    """Close a connection at once, with what was not sent."""
    websocket.scope[_ABORT]()
