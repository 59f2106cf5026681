"""The server of an endpoint: a WebSocket on the loopback address that speaks CDP for one identity."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import logging
import os
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from playwright.async_api import Error as PlaywrightError
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from hatbox.engines.chromium.endpoint.authorization import Authorization, Authorize
from hatbox.engines.chromium.endpoint.client_activity import CONNECT
from hatbox.engines.chromium.endpoint.connection_gate import CLOSE_SECONDS, ConnectionGate, GuardedConnection
from hatbox.engines.chromium.endpoint.http_requests import (
    EndpointPath,
    is_allowed_host,
    is_allowed_origin,
    is_of_browser,
    parse_path,
)
from hatbox.errors import EngineError, GrantRefused, HatboxError
from hatbox.loopback.peer_user import sockets_between
from hatbox.store.sqlite.lock_holders import hatbox_command
from hatbox.tasks import Tasks

__all__ = ["MAX_CLIENTS", "MAX_CLIENTS_OF_TOKEN", "Endpoint", "EndpointService"]

MAX_CLIENTS: Final = 32
"""The clients of one endpoint at a time."""
MAX_CLIENTS_OF_TOKEN: Final = 16
"""Those with the same token: one program does not take the places of the others."""
_HOST: Final = "127.0.0.1"
_MAX_COMMAND: Final = 64 * 2**20  # bytes; Playwright sends files in commands of up to 50 MB
_MAX_URL: Final = 2000  # characters in the list of pages: a data: URL may have 2 million
_UNAVAILABLE: Final = 1013
_WEBKIT: Final = "537.36"  # of every Chromium

logger = logging.getLogger("hatbox.engines.chromium.endpoint")

_silent: Final = logging.Logger("hatbox.engines.chromium.endpoint.websockets")  # the library logs paths, with tokens
_silent.disabled = True
_PROCESSES: Final = Path("/proc")
_PARENT_FIELD: Final = 1  # in the text after the name of the program


class EndpointService(Protocol):
    """The browser behind an endpoint."""

    async def version(self) -> dict[str, Any]:
        """The result of Browser.getVersion. Raises EngineError if the browser does not run."""

    async def targets(self) -> list[dict[str, Any]]:
        """The pages of the identity that clients may see. Raises EngineError."""

    async def connect(self, socket: ServerConnection, authorization: Authorization, page_id: str) -> None:
        """Serve a client until it leaves. Raises EngineError."""


class _Accepted(NamedTuple):
    path: EndpointPath
    authorization: Authorization


class Endpoint:
    """A running endpoint. Close it when no program needs it; it is closed with the engine."""

    def __init__(self, service: EndpointService, authorize: Authorize, gate: ConnectionGate | None = None) -> None:
        self._service = service
        self._authorize = authorize
        self._gate = gate or ConnectionGate.for_this_user()
        self._accepted: dict[ServerConnection, _Accepted] = {}
        self._tasks = Tasks()
        self._server: Server | None = None
        self._port = 0
        self._needs_token = True
        self._served: list[Authorization] = []
        self.on_clients_changed: Callable[[], None] = lambda: None
        """Called when a client has connected or left."""
        self.on_closed: Callable[[], Awaitable[None]] | None = None
        """Called once, when the endpoint is closed."""

    async def start(self, port: int = 0) -> None:
        """Listen on a free port of 127.0.0.1, or on this one, where clients need no token.

        Raises EngineError if the users of connections are not known then, and OSError if the port is in use.
        """
        if port and not self._gate.checks_users:
            raise EngineError(
                "without a token, other users of this machine could connect: only Linux says whose connections are. "
                "Use the address with a token, without --port."
            )
        self._needs_token = not port
        self._server = await serve(
            self._serve,
            _HOST,
            port,
            process_request=self._process_request,
            logger=_silent,
            compression=None,
            ping_interval=None,
            close_timeout=CLOSE_SECONDS,
            max_size=_MAX_COMMAND,
            server_header=None,
            create_connection=partial(GuardedConnection, self._gate),  # type: ignore[arg-type] # a class, in its types
        )
        self._port = next(iter(self._server.sockets)).getsockname()[1]

    def url(self, token: str) -> str:
        """The address for a client with this token: `ws://127.0.0.1:PORT/TOKEN`. It is a secret, as the token is."""
        return f"ws://{_HOST}:{self._port}/{token}"

    @property
    def port(self) -> int:
        """The port of the server."""
        return self._port

    @property
    def clients(self) -> int:
        """The number of clients that are connected."""
        return len(self._accepted)

    @property
    def programs(self) -> list[tuple[str, str]]:
        """The name and the grant of the program of each client."""
        return [(each.program, each.grant_id) for each in self._served]

    @property
    def is_closed(self) -> bool:
        """Whether it does not listen: it was closed, or never started."""
        return self._server is None

    async def close(self) -> None:
        """Close all connections, and accept no more. Closing twice has no effect."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
            self._gate.close()
            await server.wait_closed()
            if self.on_closed is not None:
                await self.on_closed()

    def __repr__(self) -> str:
        return f"<Endpoint at {_HOST}:{self._port}>"

    # ------------------------------------------------------------------------------------------------------------ HTTP

    async def _process_request(self, connection: ServerConnection, request: Request) -> Response | None:
        try:
            return await self._respond(connection, request)
        except GrantRefused as error:
            return connection.respond(HTTPStatus.FORBIDDEN, f"{error}\n")
        except HatboxError as error:
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n")

    async def _respond(self, connection: ServerConnection, request: Request) -> Response | None:
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        host = hosts[0] if len(hosts) == 1 else None
        if not is_allowed_host(host, self._port):
            return connection.respond(HTTPStatus.FORBIDDEN, f"The host must be {_HOST}:{self._port}.\n")
        if not all(map(is_allowed_origin, origins)):
            return connection.respond(HTTPStatus.FORBIDDEN, "Web pages cannot use this endpoint.\n")
        path = parse_path(request.path, needs_token=self._needs_token)
        if path is not None and not path.token:
            if is_of_browser(request.headers):
                return connection.respond(HTTPStatus.FORBIDDEN, "Web pages cannot use this endpoint.\n")
            if await asyncio.to_thread(_is_of_hatbox, connection.remote_address[1], self._port):
                text = "Programs of Hatbox, and what they have started, need the address with a token.\n"
                return connection.respond(HTTPStatus.FORBIDDEN, text)
        authorization: Authorization | None = await self._gate.check(partial(self._authorization, path))
        if path is None or authorization is None:
            return connection.respond(HTTPStatus.NOT_FOUND, "The address is unknown, or its token has expired.\n")
        self._gate.settle(connection)
        if path.what == "version":
            return _json_response(
                connection, self._version(await self._service.version(), f"ws://{host}/{path.browser}")
            )
        if path.what == "list":
            authorization.record(CONNECT, "")
            targets = await self._service.targets()
            return _json_response(connection, [_listed(each, f"{host}/{path.pages}") for each in targets])
        if len(self._accepted) >= MAX_CLIENTS:
            text = f"{MAX_CLIENTS} clients are connected. Close one first.\n"
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, text)
        of_token = sum(each.path.token == path.token for each in self._accepted.values())
        if path.token and of_token >= MAX_CLIENTS_OF_TOKEN:
            text = f"{MAX_CLIENTS_OF_TOKEN} clients with this token are connected. Close one first.\n"
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, text)
        self._accepted[connection] = _Accepted(path, authorization)
        self._tasks.spawn(self._remove(connection))
        return None

    async def _authorization(self, path: EndpointPath | None) -> Authorization | None:
        found = None if path is None else self._authorize(path.token)
        if inspect.isawaitable(found):
            found = await found
        return None if found is None or found.ended.done() else found

    async def _remove(self, connection: ServerConnection) -> None:
        """Also for a connection whose handshake fails: it is never served."""
        await connection.wait_closed()
        self._accepted.pop(connection, None)

    def _version(self, version: dict[str, Any], url: str) -> dict[str, str]:
        return {
            "Browser": version["product"],
            "Protocol-Version": version["protocolVersion"],
            "User-Agent": version["userAgent"],
            "V8-Version": version["jsVersion"],
            "WebKit-Version": f"{_WEBKIT} ({version['revision']})",  # chromedriver compares it
            "webSocketDebuggerUrl": url,
        }

    # ------------------------------------------------------------------------------------------------------- WebSocket

    async def _serve(self, connection: ServerConnection) -> None:
        path, authorization = self._accepted[connection]
        self._served.append(authorization)
        self.on_clients_changed()
        try:
            await self._service.connect(connection, authorization, path.page_id)
        except (HatboxError, PlaywrightError) as error:
            reason = str(error).partition("\n")[0]
            await connection.close(_UNAVAILABLE, reason.encode()[:120].decode(errors="ignore"))
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - a client must not end the others; the text may contain its messages
            logger.error("endpoint: a connection failed: %s", type(error).__name__)
        finally:
            self._served.remove(authorization)
            if self._server is not None:
                self.on_clients_changed()


def _json_response(connection: ServerConnection, content: object) -> Response:
    response = connection.respond(HTTPStatus.OK, json.dumps(content) + "\n")
    del response.headers["Content-Type"]
    response.headers["Content-Type"] = "application/json; charset=utf-8"
    response.headers["Cache-Control"] = "no-store"
    return response


def _listed(info: dict[str, Any], address: str) -> dict[str, str]:
    socket, url = f"{address}/{info['targetId']}", info["url"]
    return {
        "id": info["targetId"],
        "type": info["type"],
        "title": info["title"],
        "url": url if len(url) <= _MAX_URL else f"{url[:_MAX_URL]}…",
        **({"tabId": str(info["tabId"])} if "tabId" in info else {}),
        "devtoolsFrontendUrl": f"devtools://devtools/bundled/inspector.html?ws={socket}",
        "webSocketDebuggerUrl": f"ws://{socket}",
    }


def _is_of_hatbox(client_port: int, server_port: int) -> bool:
    """Whether a process at the client's end, or one that has started it, is Hatbox; also if none is found.

    A port without a token is for the programs of the user. An agent, an extension or a page reaches it too, by a
    request that Hatbox sends for them, and would see another identity.
    """
    links = {f"socket:[{each}]" for each in sockets_between(client_port, server_port)}
    found = [each for each in _processes() if links & _open_links(each)]
    return not found or any(hatbox_command(each) for process in found for each in _with_parents(process))


def _processes() -> list[int]:
    return [int(name) for name in os.listdir(_PROCESSES) if name.isdigit()]  # noqa: PTH208 - three times as fast


def _open_links(process: int) -> set[str]:
    found = set()
    with contextlib.suppress(OSError):  # it has ended, or is of another user
        for each in (_PROCESSES / str(process) / "fd").iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile
                found.add(os.readlink(each))  # noqa: PTH115 - the text as it is
    return found


def _with_parents(process: int) -> Iterator[int]:
    while process > 1:
        yield process
        try:
            stat = (_PROCESSES / str(process) / "stat").read_text("utf-8", "replace")
        except OSError:
            return
        process = int(stat.rpartition(")")[2].split()[_PARENT_FIELD])
