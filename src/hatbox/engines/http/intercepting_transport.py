"""httpx transport that runs webRequest and proxy listeners.

It sits below the cookie transport, so listeners see and can change Cookie and Set-Cookie. Connections are not shared
between identities.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import httpx

from hatbox.clients.httpx_routes import PROXY_KEY
from hatbox.clients.proxy_errors import ProxyUnreachable, ProxyUnusable
from hatbox.web_requests import ProxyInfo, RequestLifecycle, RequestRedirected
from hatbox.web_requests.headers import merge_duplicates, split_values
from hatbox.web_requests.proxies import DIRECT, is_loopback
from hatbox.web_requests.request_model import Headers

__all__ = ["LIFECYCLE", "REDIRECT_URL", "TUNNEL_ERROR", "InterceptingTransport"]

LIFECYCLE: Final = "hatbox.lifecycle"
"""httpx request extension with the RequestLifecycle. Without it, listeners are not called."""
REDIRECT_URL: Final = "hatbox.redirect_url"
"""httpx response extension with the URL of a redirect by a listener. Cookies of the response are stored."""
TUNNEL_ERROR: Final = "hatbox.tunnel_error"
"""httpx response extension with the error of a proxy that rejected CONNECT."""

_TRANSPORT_OPTIONS: Final = ("verify", "cert", "http1", "http2", "limits", "trust_env")
_CONNECT_RESPONSE_EVENT: Final = "http11.receive_response_headers.complete"
_PROXY_TLS_EVENT: Final = "connection.start_tls.failed"


class InterceptingTransport(httpx.AsyncBaseTransport):
    """Wraps a transport, which is used unless a listener chooses a proxy."""

    def __init__(self, inner: httpx.AsyncBaseTransport, options: Mapping[str, Any]) -> None:
        self._inner = inner
        self._options = {name: options[name] for name in _TRANSPORT_OPTIONS if name in options}
        self._proxy_transports: dict[tuple[ProxyInfo, str | None], httpx.AsyncBaseTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx."""
        lifecycle = request.extensions.get(LIFECYCLE)
        if not isinstance(lifecycle, RequestLifecycle):
            return await self._inner.handle_async_request(request)
        if (credentials := lifecycle.proxy_credentials) and request.url.scheme == "http":
            request.headers["Proxy-Authorization"] = _basic(*credentials)
        sent = await lifecycle.before_send_headers(_seen(request.headers))
        response = await self._send(lifecycle, _with_headers(request, sent))
        try:
            headers = _seen(response.headers)
            received = await lifecycle.headers_received(response.status_code, _line(response), headers, _ip(response))
        except RequestRedirected as redirected:
            received = headers
            response.extensions[REDIRECT_URL] = redirected.url
        except BaseException:
            await response.aclose()
            raise
        if received != headers:
            response.headers = httpx.Headers(_raw(received))
        return response

    async def _send(self, lifecycle: RequestLifecycle, request: httpx.Request) -> httpx.Response:
        """Send through the first reachable proxy. That of the identity wins over those of proxy.onRequest.

        The next one is used only if no connection to a proxy can be made, as in Firefox. After every other error, such
        as an invalid certificate of the server, it would see a request that is not meant for it.
        """
        if lifecycle.proxies is None or PROXY_KEY in request.extensions:
            return await self._inner.handle_async_request(request)
        if is_loopback(request.url.host):
            lifecycle.use_proxy(DIRECT)
            return await self._proxy_transport(DIRECT).handle_async_request(request)
        *others, last = lifecycle.proxies
        for proxy in others:
            try:
                return await self._send_via(proxy, lifecycle, request)
            except ProxyUnreachable:
                continue
        return await self._send_via(last, lifecycle, request)

    async def _send_via(self, proxy: ProxyInfo, lifecycle: RequestLifecycle, request: httpx.Request) -> httpx.Response:
        lifecycle.use_proxy(proxy)
        if proxy.type == "direct":
            return await self._proxy_transport(DIRECT).handle_async_request(request)
        authorization, connect = None, _ConnectTrace()
        request.extensions["trace"] = connect.trace
        if request.url.scheme == "https":  # sent through a CONNECT tunnel
            credentials = lifecycle.proxy_credentials
            authorization = _basic(*credentials) if credentials else proxy.authorization
        try:
            return await self._proxy_transport(proxy, authorization).handle_async_request(request)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            if connect.is_unreachable:
                raise ProxyUnreachable(f"proxy unreachable: {proxy.host}:{proxy.port}") from error
            if connect.is_insecure:
                raise ProxyUnusable(f"no secure connection to the proxy {proxy.host}:{proxy.port}") from error
            raise  # an error of the server behind the proxy, such as an invalid certificate
        except httpx.ProxyError as error:
            if connect.headers is None:
                raise
            return httpx.Response(
                HTTPStatus.PROXY_AUTHENTICATION_REQUIRED,
                headers=connect.headers,
                stream=httpx.ByteStream(b""),
                extensions={TUNNEL_ERROR: error},
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
        transports, self._proxy_transports = self._proxy_transports, {}
        for transport in transports.values():
            await transport.aclose()


class _ConnectTrace:
    """Records which step of a request failed: httpx reports errors of a proxy and of the server behind it alike."""

    def __init__(self) -> None:
        self.headers: list[tuple[bytes, bytes]] | None = None
        """The headers of a proxy that rejected CONNECT for lack of credentials."""
        self.is_unreachable = False
        self.is_insecure = False

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith(".connect_tcp.failed"):
            self.is_unreachable = True
        elif event == _PROXY_TLS_EVENT:
            self.is_insecure = True
        elif event == _CONNECT_RESPONSE_EVENT and info["return_value"][1] == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            self.headers = list(info["return_value"][3])


def _transport(proxy: ProxyInfo, authorization: str | None, options: Mapping[str, Any]) -> httpx.AsyncBaseTransport:
    if proxy.type == "direct":
        return httpx.AsyncHTTPTransport(**options)
    if proxy.type == "socks4":
        raise ProxyUnusable("SOCKS 4 proxies are not supported; use HTTP, HTTPS or SOCKS 5")
    if proxy.type == "masque":
        raise ProxyUnusable("MASQUE proxies are not supported; use HTTP, HTTPS or SOCKS 5")
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
        raise ProxyUnusable("SOCKS proxies need: pip install 'hatbox[socks]'") from error


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
