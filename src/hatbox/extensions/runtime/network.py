"""fetch() and WebSocket of scripts: without cookies, and with host permissions checked for each redirect.

The host makes the requests, because permissions are patterns and change at run time, and Deno takes a fixed list of
hosts when it starts. webRequest and proxy listeners observe each fetch() as in Firefox: type xmlhttprequest, no tab.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import ssl
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final
from urllib.parse import unquote_to_bytes
from weakref import WeakKeyDictionary

import httpx

from hatbox.clients.disabled_cookie_jar import DisabledCookieJar
from hatbox.clients.httpx import decoded_body
from hatbox.content_coding import BodyTooLarge, ContentCodingError, accept_encoding
from hatbox.engines.http.http_auth import answer_challenge
from hatbox.engines.http.intercepting_transport import LIFECYCLE, REDIRECT_URL, InterceptingTransport
from hatbox.engines.load_errors import firefox_error_name
from hatbox.errors import NetworkError
from hatbox.extensions.runtime.host import FetchRequest, FetchResponse, Socket, SocketRequest
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.urls.match_patterns import HostPermissions
from hatbox.urls.protected_pages import is_protected_page
from hatbox.urls.url import parse_url
from hatbox.web_requests import RequestCancelled, RequestEvents, RequestFrame, RequestLifecycle, RequestRedirected
from hatbox.web_requests.bodies import parse_request_body
from hatbox.web_requests.headers import merge_duplicates

__all__ = ["Network"]

_MAX_REDIRECTS: Final = 20
_MAX_BODY_BYTES: Final = 8 << 20
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_METHOD_CHANGING: Final = frozenset({301, 302, 303})
# URL scheme → schemes of the match patterns that permit it.
_FETCH_SCHEMES: Final = {"http": ("http",), "https": ("https",)}
_SOCKET_SCHEMES: Final = {"ws": ("ws", "http"), "wss": ("wss", "https")}
# Request headers that scripts may not set: forbidden by the Fetch standard, or cookies.
_FORBIDDEN_HEADERS: Final = frozenset(
    {"cookie", "cookie2", "host", "content-length", "connection", "keep-alive", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "via", "expect", "accept-encoding", "date", "dnt", "origin"}
)
_NO_TAB: Final = RequestFrame(-1, -1, DEFAULT_COOKIE_STORE_ID)
_FORBIDDEN_URL: Final = "NS_ERROR_DOM_BAD_URI"
_HIDDEN_HEADERS: Final = frozenset(
    {"set-cookie", "set-cookie2", "content-encoding", "content-length", "transfer-encoding"}
)


class Network:
    """An HTTP client without an identity, opened when it is first used."""

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        trusted: Callable[[], ssl.SSLContext] = lambda: httpx.create_ssl_context(trust_env=False),
        requests: RequestEvents | None = None,
        page: Callable[[], str | None] = lambda: None,
    ) -> None:
        """`requests` has the listeners; `page` returns the URL of the page whose scripts these are."""
        self._requests = requests or RequestEvents()
        self._page = page
        self._transport = transport
        self._trusted = cache(trusted)
        self._client: httpx.AsyncClient | None = None
        self._sockets: WeakKeyDictionary[Socket, Callable[[], str | None]] = WeakKeyDictionary()
        """Open sockets, and a function that returns why each is not permitted any more."""

    async def fetch(self, request: FetchRequest, permissions: Callable[[], HostPermissions]) -> FetchResponse:
        """Make a request, and follow redirects if it says so. `permissions` is called before each hop."""
        page = self._page()
        exchange = self._requests.start_request(_NO_TAB, request.url, "xmlhttprequest", page, page)
        exchange.follows_redirects = request.redirect == "follow"
        try:
            return await self._follow(exchange, request, permissions)
        except RequestCancelled as error:
            raise NetworkError(f"{exchange.url}: {error}") from error
        except BaseException as error:
            exchange.failed(
                _FORBIDDEN_URL if isinstance(error, NetworkError) else firefox_error_name(error, exchange.url)
            )
            raise

    async def _follow(
        self, exchange: RequestLifecycle, request: FetchRequest, permissions: Callable[[], HostPermissions]
    ) -> FetchResponse:
        url, method, body = request.url, request.method, request.body
        headers = [(name, value) for name, value in request.headers if name.lower() not in _FORBIDDEN_HEADERS]
        redirected = False
        retry: httpx.Request | None = None
        for step in range(_MAX_REDIRECTS + 1):
            url = _permitted(url, permissions())
            with _network_errors(exchange, url):
                sent = retry or self._opened().build_request(method, url, headers=headers, content=body)
            retry = None
            try:
                response = await self._send(exchange, sent, body, permissions)
            except RequestRedirected as redirect:  # by a listener
                redirected, target = True, redirect.url
                if target.startswith("data:"):
                    return _data(target)
            else:
                if (retry := await self._with_credentials(exchange, sent, response)) is not None:
                    continue
                location = response.headers.get("location")
                if response.status_code not in _REDIRECTS or location is None or not exchange.follows_redirects:
                    content = await self._read(exchange, url, response)
                    exchange.completed()
                    if response.status_code in _REDIRECTS and location is not None and request.redirect == "error":
                        raise NetworkError(f"{url} redirects to {location}, and the request does not allow redirects")
                    return _fetch_response(response, content, url, redirected=redirected)
                if step == _MAX_REDIRECTS:
                    await response.aclose()
                    break
                await self._read(exchange, url, response, shown=False)
                with _network_errors(exchange, url):
                    redirected, target = True, str(response.url.join(location))
                exchange.server_redirected(target)
                if response.status_code == 303 or (response.status_code in _METHOD_CHANGING and method == "POST"):
                    method, body = "GET", None
            with _network_errors(exchange, url):
                crosses = _origin(target) != _origin(url)
            if crosses:
                headers = [(name, value) for name, value in headers if name.lower() != "authorization"]
            url = target
        exchange.failed("NS_ERROR_REDIRECT_LOOP")
        raise NetworkError(f"{request.url} redirects more than {_MAX_REDIRECTS} times")

    async def connect(self, request: SocketRequest, permissions: Callable[[], HostPermissions]) -> Socket:
        """Open a WebSocket. `permissions` is called before and after, and whenever they change."""
        from hatbox.extensions.runtime.web_socket import WebSocket  # most extensions do not need it

        def denial() -> str | None:
            try:
                _permitted(url, permissions(), _SOCKET_SCHEMES)
            except NetworkError as error:
                return str(error)
            return None

        url = _permitted(request.url, permissions(), _SOCKET_SCHEMES)
        socket = await WebSocket.open(request._replace(url=url), self._trusted)
        self._sockets[socket] = denial
        self.permissions_changed()
        return socket

    def permissions_changed(self) -> None:
        """Abort WebSockets to hosts that are not permitted any more."""
        for socket, denial in list(self._sockets.items()):
            if error := denial():
                socket.abort(error)

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _opened(self) -> httpx.AsyncClient:
        if self._client is None:
            # trust_env=False: no proxies, and no .netrc, whose passwords belong to the user
            options: dict[str, Any] = {"verify": self._trusted(), "trust_env": False}
            transport = InterceptingTransport(self._transport or httpx.AsyncHTTPTransport(**options), options)
            self._client = httpx.AsyncClient(
                cookies=DisabledCookieJar(),
                transport=transport,
                trust_env=False,
                headers={"Accept-Encoding": accept_encoding()},
            )
        return self._client

    async def _send(
        self,
        exchange: RequestLifecycle,
        request: httpx.Request,
        body: bytes | None,
        permissions: Callable[[], HostPermissions],
    ) -> httpx.Response:
        """The response without its body. Raises RequestRedirected and RequestCancelled if a listener does that."""
        url = str(request.url)
        shown = None if body is None else parse_request_body(request.headers.get("content-type", ""), [body])
        exchange.start_hop(url, request.method, body=shown)
        await exchange.choose_proxy(merge_duplicates(request.headers.multi_items()))
        await exchange.before_request()
        _permitted(url, permissions())  # permissions may have changed while listeners ran
        request.extensions[LIFECYCLE] = exchange
        with _network_errors(exchange, url):
            response = await self._opened().send(request, stream=True, follow_redirects=False)
        if target := response.extensions.get(REDIRECT_URL):
            await response.aclose()
            raise RequestRedirected(target)
        return response

    async def _with_credentials(
        self, exchange: RequestLifecycle, request: httpx.Request, response: httpx.Response
    ) -> httpx.Request | None:
        """The request with credentials, if the response requires them and a listener supplies them."""
        try:
            with _network_errors(exchange, str(request.url)):
                retry = await answer_challenge(exchange, request, response)
        except BaseException:
            await response.aclose()
            raise
        if retry is not None:
            await response.aclose()
        return retry

    async def _read(
        self, exchange: RequestLifecycle, url: str, response: httpx.Response, *, shown: bool = True
    ) -> bytes:
        """Read the body. `shown`: whether listeners observe its start, which they do not for a redirect."""
        if shown:
            exchange.response_started()
        content = bytearray()
        try:
            with _network_errors(exchange, url):
                async with contextlib.aclosing(decoded_body(response, _MAX_BODY_BYTES)) as chunks:
                    async for chunk in exchange.filter_body(chunks) if shown else chunks:
                        content += chunk
                        if len(content) > _MAX_BODY_BYTES:
                            raise BodyTooLarge("the filtered body is too large")
        finally:
            await response.aclose()
        return bytes(content)


@contextlib.contextmanager
def _network_errors(exchange: RequestLifecycle, url: str) -> Iterator[None]:
    """Map errors of httpx to NetworkError, and report them to listeners by Firefox's name."""
    try:
        yield
    except BodyTooLarge:
        exchange.failed("NS_ERROR_FILE_TOO_BIG")
        raise NetworkError(f"the response of {url} has more than {_MAX_BODY_BYTES} bytes") from None
    except ContentCodingError as error:
        exchange.failed("NS_ERROR_INVALID_CONTENT_ENCODING")
        raise NetworkError(f"{url}: {error}") from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError) as error:
        exchange.failed(firefox_error_name(error, url))
        raise NetworkError(f"{url}: {str(error) or type(error).__name__}") from error


def _permitted(url: str, permissions: HostPermissions, schemes: Mapping[str, tuple[str, ...]] = _FETCH_SCHEMES) -> str:
    """Check the permission for a URL. Returns it normalized, so that the client connects to the checked host."""
    parsed = parse_url(url)
    if parsed is None or parsed.scheme not in schemes:
        raise NetworkError(f"URL scheme must be {' or '.join(schemes)}: {url}")
    is_allowed = any(permissions.allow_url(scheme, parsed.host) for scheme in schemes[parsed.scheme])
    if not is_allowed or is_protected_page(parsed):
        raise NetworkError(f"missing host permission for {parsed.host}")
    return parsed.text


def _origin(url: str) -> tuple[str, str, int | None]:
    parsed = httpx.URL(url)
    return parsed.scheme, parsed.host, parsed.port


def _data(url: str) -> FetchResponse:
    """The contents of a data: URL that a listener has redirected to."""
    head, comma, text = url.removeprefix("data:").partition("#")[0].partition(",")
    kind, _, encoding = head.rpartition(";")
    content = unquote_to_bytes(text)
    if encoding.strip().lower() == "base64":
        try:
            content = base64.b64decode(b"".join(content.split()), validate=True)
        except binascii.Error:
            comma = ""
    else:
        kind = head
    if not comma:
        raise NetworkError(f"{url[:200]} is not a data: URL")
    return FetchResponse(url, 200, "OK", [("content-type", kind or "text/plain;charset=US-ASCII")], True, content)


def _fetch_response(response: httpx.Response, content: bytes, url: str, *, redirected: bool) -> FetchResponse:
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _HIDDEN_HEADERS]
    return FetchResponse(url, response.status_code, response.reason_phrase, headers, redirected, content)
