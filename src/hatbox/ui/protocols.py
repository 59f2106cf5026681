"""WebSockets of the manager page, which can be closed while the client does not read."""

from __future__ import annotations

from typing import Final

from starlette.websockets import WebSocket
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

__all__ = ["WebSocketProtocol", "abort"]

_ABORT: Final = "hatbox.abort"


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """WebSockets that `abort` can close while the client does not read."""

    async def run_asgi(self) -> None:
        """Run the application."""
        self.scope[_ABORT] = self.transport.abort  # type: ignore[typeddict-unknown-key] # for `abort`
        await super().run_asgi()


def abort(websocket: WebSocket) -> None:
    """Close a connection at once, with what was not sent."""
    websocket.scope[_ABORT]()
