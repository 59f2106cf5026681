"""The protocols of uvicorn with time limits: a client that sends no whole request in time is disconnected."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from starlette.websockets import WebSocket
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

__all__ = ["HttpProtocol", "WebSocketProtocol", "abort"]

_ABORT: Final = "hatbox.abort"


class HttpProtocol(H11Protocol):
    """HTTP whose connections have `request_timeout` seconds for their first request, and for each that they start."""

    request_timeout = 10.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn declares it
        """Start the timer of the first request."""
        super().connection_made(transport)
        self._request_timer: asyncio.TimerHandle | None = self.loop.call_later(self.request_timeout, transport.abort)

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


def abort(websocket: WebSocket) -> None:
    """Close a connection at once, with what was not sent."""
    websocket.scope[_ABORT]()
