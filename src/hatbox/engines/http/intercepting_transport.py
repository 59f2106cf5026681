"""Where the requests of the HTTP engine leave the process, and their responses come in: below the identity's cookies.

So listeners see, and may change, the Cookie header of a request, and the Set-Cookie headers of a response before any is
kept. Here too requests go through the proxies that listeners choose. Connections are those of one identity.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

import httpx

from hatbox.engines.load_errors import ProxyUnreachable, ProxyUnusable
from hatbox.web_requests import ProxyInfo, RequestLifecycle, RequestRedirected
from hatbox.web_requests.headers import merge_duplicates, split_values
from hatbox.web_requests.proxies import DIRECT, is_loopback
from hatbox.web_requests.request_model import Headers

__all__ = ["EXCHANGE", "REDIRECT_URL", "TUNNEL_ERROR", "InterceptingTransport"]

EXCHANGE: Final = "hatbox.exchange"
"""The extension of a request that has its exchange; without one a request just goes through."""
REDIRECT_URL: Final = "hatbox.elsewhere"
"""The extension of a response that a listener has made a redirect: where it leads. Its cookies count all the same."""
TUNNEL_ERROR: Final = "hatbox.refused"
"""The extension of a response that is none: a proxy has refused a tunnel. It is the error."""

_TRANSPORT_OPTIONS: Final = ("verify", "cert", "http1", "http2", "limits", "trust_env")
_CONNECT_RESPONSE_EVENT: Final = "http11.receive_response_headers.complete"
PROXY_AUTHENTICATION_REQUIRED: Final = 407


class InterceptingTransport(httpx.AsyncBaseTransport):
    """The transport around another one, which is the way out where nobody chooses a proxy."""

    def __init__(self, inner: httpx.AsyncBaseTransport, options: Mapping[str, Any]) -> None:
        self._inner = inner
        self._options = {name: options[name] for name in _TRANSPORT_OPTIONS if name in options}
        self._proxy_transports: dict[tuple[ProxyInfo, str | None], httpx.AsyncBaseTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx."""
        exchange = request.extensions.get(EXCHANGE)
        if not isinstance(exchange, RequestLifecycle):
            return await self._inner.handle_async_request(request)
        if (who := exchange.proxy_credentials) and request.url.scheme == "http":
            request.headers["Proxy-Authorization"] = _basic(who.username, who.password)
        sent = await exchange.before_send_headers(_seen(request.headers))
        response = await self._send(exchange, _with_headers(request, sent))
        try:
            headers = _seen(response.headers)
            kept = await exchange.headers_received(response.status_code, _line(response), headers, _ip(response))
        except RequestRedirected as redirected:
            kept = headers
            response.extensions[REDIRECT_URL] = redirected.url
        except BaseException:
            await response.aclose()
            raise
        if kept != headers:
            response.headers = httpx.Headers(_raw(kept))
        return response

    async def _send(self, exchange: RequestLifecycle, request: httpx.Request) -> httpx.Response:
        """Through the first proxy that can be reached; the others are for when it cannot."""
        if exchange.proxies is None:
            return await self._inner.handle_async_request(request)
        if is_loopback(request.url.host):
            exchange.use_proxy(DIRECT)
            return await self._proxy_transport(DIRECT).handle_async_request(request)
        *others, last = exchange.proxies
        for proxy in others:
            try:
                return await self._send_via(proxy, exchange, request)
            except ProxyUnreachable:
                continue
        return await self._send_via(last, exchange, request)

    async def _send_via(self, proxy: ProxyInfo, exchange: RequestLifecycle, request: httpx.Request) -> httpx.Response:
        exchange.use_proxy(proxy)
        if proxy.type == "direct":
            return await self._proxy_transport(DIRECT).handle_async_request(request)
        authorization, refusal = None, _ConnectTrace()
        if request.url.scheme == "https":  # there will be a tunnel
            who = exchange.proxy_credentials
            authorization = _basic(who.username, who.password) if who else proxy.authorization
            request.extensions["trace"] = refusal.trace
        try:
            return await self._proxy_transport(proxy, authorization).handle_async_request(request)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise ProxyUnreachable(f"the proxy {proxy.host}:{proxy.port} cannot be reached") from error
        except httpx.ProxyError as error:
            if refusal.headers is None:
                raise
            nothing = httpx.ByteStream(b"")
            return httpx.Response(
                PROXY_AUTHENTICATION_REQUIRED, headers=refusal.headers, stream=nothing, extensions={TUNNEL_ERROR: error}
            )

    def _proxy_transport(self, proxy: ProxyInfo, authorization: str | None = None) -> httpx.AsyncBaseTransport:
        if (proxy, authorization) not in self._proxy_transports:
            self._proxy_transports[proxy, authorization] = _transport(proxy, authorization, self._options)
        return self._proxy_transports[proxy, authorization]

    async def __aenter__(self) -> InterceptingTransport:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._close_proxy_transports()
        await self._inner.__aexit__(*error)

    async def aclose(self) -> None:
        """See httpx."""
        await self._close_proxy_transports()
        await self._inner.aclose()

    async def _close_proxy_transports(self) -> None:
        ways, self._proxy_transports = self._proxy_transports, {}
        for way in ways.values():
            await way.aclose()


class _ConnectTrace:
    """Hears what a proxy answers to a request for a tunnel: httpx tells only that it was not friendly."""

    def __init__(self) -> None:
        self.headers: list[tuple[bytes, bytes]] | None = None

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event == _CONNECT_RESPONSE_EVENT and info["return_value"][1] == PROXY_AUTHENTICATION_REQUIRED:
            self.headers = list(info["return_value"][3])


def _transport(proxy: ProxyInfo, authorization: str | None, options: Mapping[str, Any]) -> httpx.AsyncBaseTransport:
    if proxy.type == "direct":
        return httpx.AsyncHTTPTransport(**options)
    if proxy.type == "socks4":
        raise ProxyUnusable("a SOCKS 4 proxy was chosen, and only those of SOCKS 5 can be used")
    if proxy.type == "masque":
        raise ProxyUnusable("a MASQUE proxy was chosen, and only HTTP, HTTPS and SOCKS 5 proxies can be used")
    host = f"[{proxy.host}]" if ":" in proxy.host else proxy.host
    if proxy.type == "socks":
        auth = (proxy.username, proxy.password) if proxy.username else None
        server = httpx.Proxy(f"socks5://{host}:{proxy.port}", auth=auth)
    else:
        server = httpx.Proxy(f"{proxy.type}://{host}:{proxy.port}")
        if authorization is not None:
            server.headers["Proxy-Authorization"] = authorization
    try:
        return httpx.AsyncHTTPTransport(**options, proxy=server)
    except ImportError as error:
        raise ProxyUnusable("a SOCKS proxy was chosen, and these need: pip install 'httpx[socks]'") from error


def _seen(headers: httpx.Headers) -> Headers:
    return merge_duplicates((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.raw)


def _raw(headers: Headers) -> list[tuple[bytes, bytes]]:
    return [
        (name.encode("latin-1"), line.encode("latin-1"))
        for name, value in headers
        for line in split_values(name, value)
    ]


def _with_headers(request: httpx.Request, headers: Headers) -> httpx.Request:
    if headers == _seen(request.headers):
        return request
    return httpx.Request(
        request.method, request.url, headers=_raw(headers), stream=request.stream, extensions=request.extensions
    )


def _line(response: httpx.Response) -> str:
    version = response.extensions.get("http_version", b"HTTP/1.1").decode("ascii", "replace")
    return f"{version} {response.status_code} {response.reason_phrase}"


def _ip(response: httpx.Response) -> str | None:
    stream = response.extensions.get("network_stream")
    address = stream.get_extra_info("server_addr") if stream is not None else None
    return str(address[0]) if isinstance(address, tuple) and address else None


def _basic(username: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode("ascii")
