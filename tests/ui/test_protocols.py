"""A server that stops while pages are closing their connections."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from websockets.asyncio.client import connect
from websockets.frames import CloseCode, Frame, Opcode

from hatbox.loopback.in_process_server import InProcessServer, listen
from hatbox.ui.protocols import WebSocketProtocol


async def _accept(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def test_a_server_stops_without_an_error_while_a_page_closes_its_connection() -> None:
    listener = listen(0)
    server = InProcessServer(uvicorn.Config(_accept, ws=WebSocketProtocol, lifespan="off", log_config=None))
    await server.start(listener)
    async with connect(f"ws://127.0.0.1:{listener.getsockname()[1]}/"):
        (connection,) = server.server_state.connections
        assert isinstance(connection, WebSocketProtocol)
        code = int(CloseCode.GOING_AWAY).to_bytes(2, "big")
        connection.data_received(Frame(Opcode.CLOSE, code).serialize(mask=True))  # as if it arrived just now
        connection.shutdown()  # as the server does with open connections when it stops
        await asyncio.wait_for(server.stop(), 60)
