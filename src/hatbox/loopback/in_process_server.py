"""A server of uvicorn on the running event loop: it handles no signals, and does not poll."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from typing import Final

import uvicorn

__all__ = ["ADDRESS", "InProcessServer", "listen"]

ADDRESS: Final = "127.0.0.1"
_BACKLOG: Final = 128


class InProcessServer(uvicorn.Server):
    """Serves until `stop`."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ready = asyncio.Event()
        self._stopping = asyncio.Event()
        self._serving: asyncio.Future[None] | None = None

    async def start(self, listener: socket.socket) -> None:
        """Accept connections from now on."""
        self._serving = serving = asyncio.ensure_future(self.serve([listener]))
        ready = asyncio.ensure_future(self._ready.wait())
        await asyncio.wait([serving, ready], return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if serving.done():
            serving.result()

    async def stop(self) -> None:
        """Accept no more connections, and close those that are open, after their requests or a second."""
        self.should_exit = True
        self._stopping.set()
        if self._serving is not None:
            await self._serving

    def abort_connections(self) -> None:
        """Close all connections at once, with what was not sent."""
        for each in list(self.server_state.connections):
            if (transport := getattr(each, "transport", None)) is not None:
                transport.abort()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the program."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn.Server."""
        await super().startup(sockets)
        self._ready.set()

    async def main_loop(self) -> None:
        """See uvicorn.Server."""
        await self._stopping.wait()


def listen(port: int) -> socket.socket:
    """A socket that listens on a port of loopback; 0 for any free one. Raises OSError."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # a server that was killed can be started again at once
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener
