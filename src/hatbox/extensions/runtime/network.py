"""fetch() and WebSocket of scripts, made here: only to hosts that are permitted, at every step, and without cookies.

Through the host and not by the child, because permissions are patterns and change while an extension runs, and Deno
takes a fixed list of hosts when it starts. Knows nothing of extensions beyond the permissions that it is handed.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final
from weakref import WeakKeyDictionary

import httpx

from hatbox.api.match_patterns import HostPermissions
from hatbox.api.urls import parse_url
from hatbox.clients.empty_jar import EmptyJar
from hatbox.clients.httpx import decoded_body
from hatbox.content_coding import ACCEPT_ENCODING, BodyTooLarge, ContentCodingError
from hatbox.errors import NetworkError
from hatbox.extensions.runtime.host import FetchRequest, FetchResponse, Socket, SocketRequest

__all__ = ["Network"]

_MOST_REDIRECTIONS: Final = 20
_MOST_BYTES: Final = 8 << 20  # in one frame to the child, and as base64
_REDIRECTIONS: Final = frozenset({301, 302, 303, 307, 308})
_BODILESS: Final = frozenset({301, 302, 303})
# Which schemes there are, and one of which a pattern must name.
_FETCH_SCHEMES: Final = {"http": ("http",), "https": ("https",)}
_SOCKET_SCHEMES: Final = {"ws": ("ws", "http"), "wss": ("wss", "https")}
# What a script may not set: forbidden by the standard, or somebody's cookies.
_FORBIDDEN: Final = frozenset(
    {"cookie", "cookie2", "host", "content-length", "connection", "keep-alive", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "via", "expect", "accept-encoding", "date", "dnt", "origin"}
)
_HIDDEN: Final = frozenset({"set-cookie", "set-cookie2", "content-encoding", "content-length", "transfer-encoding"})


class Network:
    """A client without an identity, opened when it is first used."""

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        trusted: Callable[[], ssl.SSLContext] = lambda: httpx.create_ssl_context(trust_env=False),
    ) -> None:
        self._transport = transport
        self._trusted = cache(trusted)
        self._client: httpx.AsyncClient | None = None
        self._sockets: WeakKeyDictionary[Socket, Callable[[], str | None]] = WeakKeyDictionary()
        """Those that are open, and what says why one must not be."""

    async def fetch(self, request: FetchRequest, permissions: Callable[[], HostPermissions]) -> FetchResponse:
        """Make a request and follow its redirections as it says. `permissions` is asked before each step."""
        url, method, body = request.url, request.method, request.body
        headers = [(name, value) for name, value in request.headers if name.lower() not in _FORBIDDEN]
        for step in range(_MOST_REDIRECTIONS + 1):
            url = _permitted(url, permissions())
            response, content = await self._once(method, url, headers, body)
            location = response.headers.get("location")
            if response.status_code not in _REDIRECTIONS or location is None or request.redirect == "manual":
                return _answer(response, content, url, redirected=step > 0)
            if request.redirect == "error":
                raise NetworkError(f"{url} redirects to {location}, and the request does not allow it")
            if response.status_code == 303 or (response.status_code in _BODILESS and method == "POST"):
                method, body = "GET", None
            target = str(response.url.join(location))
            if _origin(target) != _origin(url):
                headers = [(name, value) for name, value in headers if name.lower() != "authorization"]
            url = target
        raise NetworkError(f"{request.url} redirects more than {_MOST_REDIRECTIONS} times")

    async def connect(self, request: SocketRequest, permissions: Callable[[], HostPermissions]) -> Socket:
        """Open a WebSocket. `permissions` is asked before and after, and whenever they change."""
        from hatbox.extensions.runtime.web_socket import WebSocket  # only now: most extensions open none

        def refusal() -> str | None:
            try:
                _permitted(url, permissions(), _SOCKET_SCHEMES)
            except NetworkError as error:
                return str(error)
            return None

        url = _permitted(request.url, permissions(), _SOCKET_SCHEMES)
        socket = await WebSocket.open(request._replace(url=url), self._trusted)
        self._sockets[socket] = refusal
        self.permissions_changed()
        return socket

    def permissions_changed(self) -> None:
        """Cut off the WebSockets to hosts that are not permitted any more."""
        for socket, refusal in list(self._sockets.items()):
            if why := refusal():
                socket.drop(why)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _once(
        self, method: str, url: str, headers: list[tuple[str, str]], body: bytes | None
    ) -> tuple[httpx.Response, bytes]:
        if self._client is None:
            # trust_env: neither proxies nor .netrc, whose passwords are somebody's identity as well
            self._client = httpx.AsyncClient(
                cookies=EmptyJar(),
                transport=self._transport,
                trust_env=False,
                headers={"Accept-Encoding": ACCEPT_ENCODING},
            )
        try:
            sent = self._client.build_request(method, url, headers=headers, content=body)
            response = await self._client.send(sent, stream=True, follow_redirects=False)
            try:
                content = bytearray()
                async with contextlib.aclosing(decoded_body(response, _MOST_BYTES)) as pieces:
                    async for piece in pieces:
                        content += piece
            finally:
                await response.aclose()
        except BodyTooLarge:
            raise NetworkError(f"the answer of {url} has more than {_MOST_BYTES} bytes") from None
        except ContentCodingError as error:
            raise NetworkError(f"{url}: {error}") from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError) as error:
            raise NetworkError(f"{url}: {str(error) or type(error).__name__}") from error
        return response, bytes(content)


def _permitted(url: str, permissions: HostPermissions, schemes: Mapping[str, tuple[str, ...]] = _FETCH_SCHEMES) -> str:
    """The URL, written so that whoever connects reads the same host in it as was looked up among the permissions."""
    parsed = parse_url(url)
    if parsed is None or parsed.scheme not in schemes:
        raise NetworkError(f"{url} is not {' or '.join(schemes)}")
    if not any(permissions.allow_url(scheme, parsed.host) for scheme in schemes[parsed.scheme]):
        raise NetworkError(f"there is no permission for the host {parsed.host}")
    return parsed.text


def _origin(url: str) -> tuple[str, str, int | None]:
    parsed = httpx.URL(url)
    return parsed.scheme, parsed.host, parsed.port


def _answer(response: httpx.Response, content: bytes, url: str, *, redirected: bool) -> FetchResponse:
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _HIDDEN]
    return FetchResponse(url, response.status_code, response.reason_phrase, headers, redirected, content)
