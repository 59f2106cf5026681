"""A proxy in front of Deno's inspector that accepts only clients with a secret.

A client of the inspector can do all that the extension can, and Deno accepts every local user and every web page. The
proxy requires a token in the path, a loopback Host (against DNS rebinding), and no Origin but that of DevTools. The
path of Deno's own inspector is random as well, and Deno writes it only to stderr, which the host reads.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from contextlib import suppress
from typing import Final

from hatbox.tasks import Tasks

__all__ = ["InspectorProxy", "devtools_url"]

_TARGET: Final = re.compile(r"ws://127\.0\.0\.1:(\d+)/(\S+)\s")
_MAX_HEAD_BYTES: Final = 16384
_HEAD_TIMEOUT: Final = 10.0
_MAX_CONNECTIONS: Final = 32
_READ_BYTES: Final = 1 << 16
_ORIGIN: Final = "devtools://devtools"
# The headers of the client that the WebSocket handshake needs. The proxy writes all others.
_FORWARDED: Final = ("sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions", "sec-websocket-protocol")
_LINE: Final = re.compile(r"GET (/[!-~]*) HTTP/1\.1")
_HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~]*?)[ \t]*")


def devtools_url(address: str) -> str:
    """The URL that opens Chrome DevTools on the WebSocket at an address."""
    return f"devtools://devtools/bundled/js_app.html?experiments=true&v8only=true&ws={address.removeprefix('ws://')}"


class InspectorProxy:
    """Listens on loopback, for one extension process."""

    def __init__(self) -> None:
        self._token = secrets.token_urlsafe(32)
        self._target: tuple[int, str] | None = None
        self._connections = Tasks()
        self._connection_count = 0
        self._server: asyncio.Server

    @classmethod
    async def listen(cls) -> InspectorProxy:
        """Listen on a free port."""
        proxy = cls()
        proxy._server = await asyncio.start_server(proxy._accept, "127.0.0.1", 0, limit=_MAX_HEAD_BYTES)
        return proxy

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def address(self) -> str:
        """The URL of the WebSocket, with the token."""
        return f"ws://127.0.0.1:{self.port}/{self._token}"

    def learn_target(self, output: str) -> bool:
        """Find the URL of Deno's inspector in the output of Deno; False if it does not contain it yet."""
        if self._target is None and (found := _TARGET.search(output)):
            self._target = int(found[1]), found[2]
        return self._target is not None

    def close(self) -> None:
        """Stop listening, and close all connections."""
        self._server.close()
        self._connections.cancel()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.spawn(self._serve(reader, writer))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connection_count += 1
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            try:
                if self._connection_count > _MAX_CONNECTIONS:
                    return
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _HEAD_TIMEOUT)
                status = self._rejection(headers := _parse(head))
                if status is not None or headers is None or self._target is None:
                    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
                    await writer.drain()
                    return
                await self._forward(headers, self._target, reader, writer)
            finally:
                self._connection_count -= 1
                writer.close()

    def _rejection(self, headers: dict[str, str] | None) -> str | None:
        """The status of a rejected request; None if the client may attach."""
        if headers is None or headers.get("upgrade", "").lower() != "websocket":
            return "400 Bad Request"
        if headers.get("host") not in (f"127.0.0.1:{self.port}", f"localhost:{self.port}"):
            return "403 Forbidden"
        if headers.get("origin", _ORIGIN) != _ORIGIN:
            return "403 Forbidden"
        if not hmac.compare_digest(headers[""].encode(), f"/{self._token}".encode()):
            return "403 Forbidden"
        return "503 Service Unavailable" if self._target is None else None

    async def _forward(
        self,
        headers: dict[str, str],
        target: tuple[int, str],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        port, path = target
        lines = [f"GET /{path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: Upgrade", "Upgrade: websocket"]
        lines += [f"{name}: {headers[name]}" for name in _FORWARDED if name in headers]
        target_reader, target_writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            target_writer.write("\r\n".join([*lines, "", ""]).encode())
            copies = [
                asyncio.ensure_future(_copy(reader, target_writer)),
                asyncio.ensure_future(_copy(target_reader, writer)),
            ]
            try:  # a WebSocket is over when either side closes
                await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for copy in copies:
                    copy.cancel()
                await asyncio.wait(copies)
        finally:
            target_writer.close()


def _parse(head: bytes) -> dict[str, str] | None:
    """The headers of a request by lower-case names, and its path under the empty name; None if it is invalid.

    A repeated header is invalid: proxy and Deno could read different ones.
    """
    line, *rest = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    request = _LINE.fullmatch(line)
    if request is None:
        return None
    headers = {"": request[1]}
    for each in rest:
        header = _HEADER.fullmatch(each)
        if header is None or header[1].lower() in headers:
            return None
        headers[header[1].lower()] = header[2]
    return headers


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_READ_BYTES):
            writer.write(data)
            await writer.drain()
