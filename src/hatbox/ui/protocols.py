"""WebSockets of the manager page, which can be closed while the client does not read, and while it closes them."""

from __future__ import annotations

from typing import Final

from starlette.websockets import WebSocket
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

__all__ = ["WebSocketProtocol", "abort"]

_ABORT: Final = "hatbox.abort"


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """WebSockets that `abort` can close while the client does not read."""

    async def run_asgi(self) -> None:
        """Run the application."""
        self.scope[_ABORT] = self.transport.abort  # type: ignore[typeddict-unknown-key] # for `abort`
        await super().run_asgi()

    def shutdown(self) -> None:
        """Close the connection, because the server stops."""
        if self.conn.state is State.CLOSING and not self.close_sent:
            # The page has just closed it: its transport is closing. uvicorn would send a second Close frame, and
            # stop with an error (uvicorn 0.54).
            return
        super().shutdown()


def abort(websocket: WebSocket) -> None:
    """Close a connection at once, with what was not sent."""
    websocket.scope[_ABORT]()
