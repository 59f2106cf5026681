"""A relay on loopback that adds the credentials of a proxy.

Chromium cannot send any to a SOCKS proxy, and asks the user for those of an HTTP proxy.

It forwards to one proxy only, and connects to nothing else. Programs of other users of the machine are refused. An HTTP
proxy gets each request with a Proxy-Authorization header; the response is passed on unchanged.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import ssl
from collections.abc import Callable
from typing import Final, Self

from hatbox.engines.chromium.context_settings import needs_relay
from hatbox.errors import EngineError
from hatbox.identity.proxy_url import ProxyUrl
from hatbox.identity.settings import IdentitySettings
from hatbox.loopback.peer_user import can_check_users, is_of_this_user

__all__ = ["ProxyRelay", "relay_for"]

logger = logging.getLogger("hatbox.engines.chromium")

_HOST: Final = "127.0.0.1"
_CHUNK: Final = 65536
_MAX_HEAD: Final = 1 << 18
_CONNECT_TIMEOUT: Final = 60.0
_NO_AUTH, _PASSWORD = 0, 2  # RFC 1928
_REFUSED: Final = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


async def relay_for(settings: IdentitySettings) -> ProxyRelay | None:
    """A relay for the proxy of these settings; None if it needs none. Raises EngineError where none can be safe."""
    proxy = settings.proxy_url
    if proxy is None or not needs_relay(proxy):
        return None
    if not can_check_users():
        raise EngineError(
            f"Chromium cannot use the proxy {proxy.masked} on this system: a local relay adds the credentials, and has "
            "to know which user connects to it. Use a proxy without a password, such as one on loopback that forwards "
            "to this one."
        )
    return await ProxyRelay.start(proxy)


class ProxyRelay:
    """Runs from `start` to `close`."""

    def __init__(self, proxy: ProxyUrl, is_allowed: Callable[[int, int], bool]) -> None:
        self._proxy = proxy
        self._is_allowed = is_allowed
        self._server: asyncio.Server
        self._writers: set[asyncio.StreamWriter] = set()

    @classmethod
    async def start(cls, proxy: ProxyUrl, is_allowed: Callable[[int, int], bool] = is_of_this_user) -> Self:
        """Listen on loopback. `is_allowed` gets the port of a client and that of the relay."""
        relay = cls(proxy, is_allowed)
        relay._server = await asyncio.start_server(relay._serve, _HOST, 0, limit=_MAX_HEAD)
        return relay

    @property
    def port(self) -> int:
        """The port on loopback."""
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def url(self) -> str:
        """The proxy server for Chromium."""
        return f"{'socks5' if self._proxy.is_socks else 'http'}://{_HOST}:{self.port}"

    async def close(self) -> None:
        """Stop listening, and end all connections at once."""
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        upstream: asyncio.StreamWriter | None = None
        try:
            if not self._is_allowed(writer.get_extra_info("peername")[1], self.port):
                logger.warning("proxy relay: refused a connection of another user of this machine")
                return
            try:
                async with asyncio.timeout(_CONNECT_TIMEOUT):
                    answers, upstream = await self._connect()
            except (OSError, TimeoutError, ssl.SSLError) as error:
                logger.debug("proxy relay: %s: %s", self._proxy.masked, error)
                if not self._proxy.is_socks:
                    writer.write(_REFUSED)
                    await writer.drain()
                return
            self._writers.add(upstream)
            if self._proxy.is_socks:
                await _sign_in(reader, writer, answers, upstream, self._proxy)
                await _pipe_both(reader, writer, answers, upstream)
            else:
                await _pipe_both(reader, writer, answers, upstream, _authorization(self._proxy))
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            logger.debug("proxy relay: %s: connection ended: %r", self._proxy.masked, error)
        finally:
            for each in (writer, upstream):
                if each is not None:
                    self._writers.discard(each)
                    each.transport.abort() if each.transport.is_closing() else each.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        tls = ssl.create_default_context() if self._proxy.scheme == "https" else None
        return await asyncio.open_connection(self._proxy.host.strip("[]"), self._proxy.port, ssl=tls, limit=_MAX_HEAD)


def _authorization(proxy: ProxyUrl) -> bytes:
    credentials = base64.b64encode(f"{proxy.username}:{proxy.password}".encode())
    return b"Proxy-Authorization: Basic " + credentials + b"\r\n"


async def _pipe_both(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    answers: asyncio.StreamReader,
    upstream: asyncio.StreamWriter,
    authorization: bytes | None = None,
) -> None:
    """Forward both directions until the proxy has closed its side, or one of them fails."""
    to_proxy = _pipe(reader, upstream) if authorization is None else _pipe_requests(reader, upstream, authorization)
    requests = asyncio.ensure_future(to_proxy)
    try:
        await _pipe(answers, writer)
    finally:
        requests.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            await requests


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


# ------------------------------------------------------------------------------------------------------------- HTTP


async def _pipe_requests(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, authorization: bytes) -> None:
    """Forward requests with a header added to each. After CONNECT or an upgrade, everything is forwarded unchanged."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            line, _, rest = head.partition(b"\r\n")
            writer.write(line + b"\r\n" + authorization + rest)
            headers = _headers(rest)
            if line.startswith(b"CONNECT ") or b"upgrade" in headers:
                await _pipe(reader, writer)
                return
            await _pipe_body(reader, writer, headers)
            await writer.drain()
    except asyncio.IncompleteReadError:
        if writer.can_write_eof():
            writer.write_eof()


def _headers(lines: bytes) -> dict[bytes, bytes]:
    pairs = (line.partition(b":") for line in lines.split(b"\r\n") if line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _pipe_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: dict[bytes, bytes]) -> None:
    if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
        while True:
            size = await reader.readuntil(b"\r\n")
            writer.write(size)
            length = int(size.partition(b";")[0], 16)
            if length == 0:
                break
            await _copy(reader, writer, length + 2)
        while (trailer := await reader.readuntil(b"\r\n")) != b"\r\n":
            writer.write(trailer)
        writer.write(b"\r\n")
    elif length := int(headers.get(b"content-length", b"0")):
        await _copy(reader, writer, length)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int) -> None:
    while length > 0:
        data = await reader.readexactly(min(length, _CHUNK))
        writer.write(data)
        await writer.drain()
        length -= len(data)


# ------------------------------------------------------------------------------------------------------------ SOCKS


async def _sign_in(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    answers: asyncio.StreamReader,
    upstream: asyncio.StreamWriter,
    proxy: ProxyUrl,
) -> None:
    """Accept the client without authentication, and sign in to the proxy (RFC 1928, RFC 1929)."""
    version, count = await reader.readexactly(2)
    methods = await reader.readexactly(count)
    if version != 5 or _NO_AUTH not in methods:
        raise ValueError("not a SOCKS 5 client")
    async with asyncio.timeout(_CONNECT_TIMEOUT):
        upstream.write(bytes((5, 1, _PASSWORD)))
        if await answers.readexactly(2) != bytes((5, _PASSWORD)):
            raise ValueError("the proxy does not accept a user name and a password")
        name, password = proxy.username.encode(), proxy.password.encode()
        upstream.write(bytes((1, len(name))) + name + bytes((len(password),)) + password)
        if (await answers.readexactly(2))[1] != 0:
            raise ValueError("the proxy has rejected the user name or the password")
    writer.write(bytes((5, _NO_AUTH)))
