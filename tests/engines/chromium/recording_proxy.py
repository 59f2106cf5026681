"""Proxies on loopback that record what they are asked for: `async with RecordingProxy(site_port) as proxy`.

Every host is answered by the server at `site_port`, so what reached another server went past the proxy.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
from types import TracebackType
from typing import Final, NamedTuple, Self
from urllib.parse import urlsplit

UP, HANGS, DROPS, REFUSES = "up", "hangs", "drops", "refuses"
MODES: Final = (UP, REFUSES, HANGS, DROPS)


class Asked(NamedTuple):
    """One request to the proxy: the host and port that were asked for, and the credentials."""

    host: str
    port: int
    path: str = ""
    user: str = ""


class RecordingProxy:
    """An HTTP proxy, or with `socks` a SOCKS 5 proxy that demands `user` and `password` if they are given."""

    def __init__(
        self, site_port: int, mode: str = UP, *, socks: bool = False, user: str = "", password: str = ""
    ) -> None:
        self.asked: list[Asked] = []
        """Every request, in the order in which they came."""
        self.mode = mode
        self._site_port = site_port
        self._socks = socks
        self._user, self._password = user, password
        self._tasks: set[asyncio.Future[None]] = set()

    @property
    def url(self) -> str:
        """The setting, without credentials."""
        return f"{'socks5' if self._socks else 'http'}://127.0.0.1:{self.port}"

    @property
    def url_with_credentials(self) -> str:
        """The setting, with credentials."""
        return self.url.replace("://", f"://{self._user}:{self._password}@")

    def paths(self) -> set[str]:
        """The paths of plain requests so far."""
        return {each.path for each in self.asked}

    async def __aenter__(self) -> Self:
        if self.mode == REFUSES:
            with socket.socket() as unused:
                unused.bind(("127.0.0.1", 0))
                self.port = unused.getsockname()[1]
            return self
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.mode != REFUSES:
            self._server.close()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # aborted transports are closed in the next turn of the event loop

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError, EOFError, ValueError):
                await (self._serve_socks(reader, writer) if self._socks else self._serve_http(reader, writer))
                writer.close()
                await writer.wait_closed()
        finally:
            writer.transport.abort()

    async def _serve_http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, _, rest = head.partition(b"\r\n")
        method, target, _ = line.decode().split()
        url = urlsplit(target if "://" in target else f"//{target}")
        user = _user_of(rest)
        self.asked.append(Asked(url.hostname or "", url.port or 80, url.path, user))
        if self._user and user != f"{self._user}:{self._password}":
            writer.write(b"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=p\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return
        if await self._misbehave(writer, b"HTTP/1.1 200 OK\r\nContent-Le"):
            return
        site_reader, site = await asyncio.open_connection("127.0.0.1", self._site_port)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            path = url.path + (f"?{url.query}" if url.query else "")
            upgrade = b"upgrade:" in rest.lower()
            site.write(f"{method} {path or '/'} HTTP/1.1\r\n".encode())
            site.write(
                rest if upgrade else b"Connection: close\r\n" + _without(rest, b"connection", b"proxy-connection")
            )
        await _pipe_both(reader, writer, site_reader, site)

    async def _serve_socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        methods, user = await reader.readexactly(count), ""
        wanted = 2 if self._user else 0
        writer.write(bytes((5, wanted if wanted in methods else 255)))
        if wanted not in methods:
            self.asked.append(Asked("", 0))
            return
        if self._user:
            name = await reader.readexactly((await reader.readexactly(2))[1])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            user = f"{name.decode()}:{password.decode()}"
            is_right = user == f"{self._user}:{self._password}"
            writer.write(bytes((1, 0 if is_right else 1)))
            if not is_right:
                return
        *_, kind = await reader.readexactly(4)
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            family, size = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
            host = socket.inet_ntop(family, await reader.readexactly(size))
        self.asked.append(Asked(host, int.from_bytes(await reader.readexactly(2)), user=user))
        if await self._misbehave(writer, b"\x05\x00\x00"):
            return
        site_reader, site = await asyncio.open_connection("127.0.0.1", self._site_port)
        writer.write(bytes((5, 0, 0, 1, 0, 0, 0, 0, 0, 0)))
        await _pipe_both(reader, writer, site_reader, site)

    async def _misbehave(self, writer: asyncio.StreamWriter, half: bytes) -> bool:
        if self.mode == HANGS:
            await asyncio.Event().wait()
        if self.mode == DROPS:
            writer.write(half)
            await writer.drain()
            writer.transport.abort()
        return self.mode == DROPS


def _user_of(head: bytes) -> str:
    for line in head.decode().split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "proxy-authorization":
            return base64.b64decode(value.split()[-1]).decode()
    return ""


def _without(head: bytes, *names: bytes) -> bytes:
    return b"\r\n".join(line for line in head.split(b"\r\n") if line.partition(b":")[0].lower() not in names)


async def _pipe_both(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    others: asyncio.StreamReader,
    other: asyncio.StreamWriter,
) -> None:
    there = asyncio.ensure_future(_pipe(reader, other))
    try:
        await _pipe(others, writer)
    finally:
        there.cancel()
        other.transport.abort()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
