"""The server of the manager page: Starlette and uvicorn in this process, on loopback only.

The page is a client of the API, with the permissions below. The server has no other routes to the profile.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from types import TracebackType
from typing import Final

import uvicorn

from hatbox.profile import Profile
from hatbox.ui.access_keys import AccessKeys
from hatbox.ui.page_bridge import PageBridge
from hatbox.ui.page_limits import PageLimits
from hatbox.ui.page_session import PageSession
from hatbox.ui.page_sockets import PageSockets
from hatbox.ui.protocols import HttpProtocol, WebSocketProtocol
from hatbox.ui.request_checks import allowed_hosts
from hatbox.ui.static_files import StaticFiles
from hatbox.ui.web_app import create_app

__all__ = ["CALLER", "PERMISSIONS", "ManagerServer"]

CALLER: Final = "hatbox ui"
"""The caller in the API."""

PERMISSIONS: Final = ("contextualIdentities", "cookies", "hatbox")
"""What the page needs. contextualIdentities needs cookies, which gives no access to a site without host permissions."""

_ADDRESS: Final = "127.0.0.1"
_BACKLOG: Final = 128


class ManagerServer:
    """Serves the manager page of an open profile, for `async with`. Port 0 is any free port.

    Raises OSError if the port cannot be used.
    """

    def __init__(self, profile: Profile, *, port: int = 0, limits: PageLimits | None = None) -> None:
        self._profile = profile
        self._limits = limits or PageLimits()
        self._wanted_port = port
        self.port = port
        """The port, once it is started."""
        self.keys = AccessKeys()
        """The tokens and cookies."""
        self.sockets = PageSockets(self._create_bridge, self._limits)
        """The connected pages."""

    @property
    def url(self) -> str:
        """The address of the page, for a browser that has the cookie."""
        return f"http://{_ADDRESS}:{self.port}/{self.keys.prefix}/"

    def create_link(self) -> str:
        """A link that opens the page once."""
        return f"http://{_ADDRESS}:{self.port}/open/{self.keys.create_token()}"

    async def start(self) -> None:
        """Accept connections from now on."""
        listener = _listen(self._wanted_port)
        try:
            self.port = listener.getsockname()[1]
            app = create_app(self.keys, StaticFiles(), self.sockets, allowed_hosts(self.port))
            config = uvicorn.Config(
                app,
                http=HttpProtocol,
                ws=WebSocketProtocol,
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="warning",  # paths contain tokens
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                limit_concurrency=self._limits.connections,
                h11_max_incomplete_event_size=self._limits.request,
                ws_max_size=self._limits.text,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=1,
            )
            self._server = _InProcessServer(config)
            self._serving = asyncio.ensure_future(self._server.serve([listener]))
            await asyncio.wait(
                [self._serving, asyncio.ensure_future(self._server.ready.wait())],
                return_when=asyncio.FIRST_COMPLETED,
            )
        except BaseException:
            listener.close()
            raise

    async def stop(self) -> None:
        """End all sessions, and close all connections."""
        await self.sockets.close()
        self._server.stop()
        await self._serving

    async def __aenter__(self) -> ManagerServer:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _create_bridge(self, session: PageSession) -> PageBridge:
        return PageBridge(self._profile.script_host(PERMISSIONS, CALLER), session, CALLER, self._limits)


class _InProcessServer(uvicorn.Server):
    """A server on the running event loop, which handles no signals and does not poll."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """End `serve`."""
        self.should_exit = True
        self._stopping.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        await self._stopping.wait()


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # a server that was killed can be started again at once
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_ADDRESS, port))
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener
