"""How a bound urllib opener sends the requests of an identity with a proxy setting: below all handlers for proxies.

urllib itself knows HTTP proxies only. A SOCKS proxy needs PySocks, and host names are sent to the proxy. An https://
proxy is refused for https:// URLs, because http.client has no TLS inside of TLS.
"""

from __future__ import annotations

import contextlib
import copy
import http.client
import ssl
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.error import URLError
from urllib.request import BaseHandler, HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from hatbox.clients.setting_headers import proxy_authorization
from hatbox.errors import MissingExtra, SettingNotSupported
from hatbox.identity.proxy_url import ProxyUrl, parse_proxy

__all__ = ["needs_network", "proxy_errors", "send"]

_REMEDY: Final = "unset the proxy: hatbox settings IDENTITY --unset proxy."
_STANDARD: Final = frozenset({HTTPHandler, HTTPSHandler, ProxyHandler})


def needs_network(request: Request) -> bool:
    """Whether the URL of a request is not that of local data: data:, or file: without a host."""
    return request.type != "data" and (request.type != "file" or request.host not in (None, "", "localhost"))


def send(opener: OpenerDirector, request: Request, setting: str) -> Any:
    """Send a request as a proxy setting says. Raises if that is not possible: nothing was sent."""
    if request.type not in ("http", "https"):
        raise SettingNotSupported(f"urllib cannot send {request.type}: requests by the proxy of the identity")
    if request.has_proxy() or request._tunnel_host:  # type: ignore[attr-defined]
        raise SettingNotSupported(
            f"Request.set_proxy() was called, but the identity has a proxy. Omit it, or {_REMEDY}"
        )
    handler = _transport_handler(opener, request.type)
    outgoing = copy.copy(request)
    outgoing.unredirected_hdrs = dict(request.unredirected_hdrs)
    outgoing.headers = {name: value for name, value in request.headers.items() if name != "Proxy-authorization"}
    outgoing.unredirected_hdrs.pop("Proxy-authorization", None)
    proxy = parse_proxy(setting)
    if proxy is None:
        return _open(handler, outgoing)
    if proxy.is_socks:
        with proxy_errors(lambda: proxy.address):
            return handler.do_open(_socks_connection(proxy, request.type), outgoing, **_options(handler))
    if proxy.scheme == "https" and request.type == "https":
        raise SettingNotSupported(f"urllib cannot reach https:// URLs by an https:// proxy. Use httpx, or {_REMEDY}")
    if authorization := proxy_authorization(proxy):
        outgoing.add_unredirected_header("Proxy-authorization", authorization)
    outgoing.set_proxy(proxy.address, proxy.scheme)
    with proxy_errors(lambda: proxy.address):
        return _open(_transport_handler(opener, outgoing.type), outgoing)


@contextlib.contextmanager
def proxy_errors(proxy_of: Callable[[], str]) -> Iterator[None]:
    """Name the proxy in its errors, which urllib reports as those of the site. TLS is that of the site."""
    try:
        yield
    except URLError as error:
        reason, address = error.reason, proxy_of()
        if not address or not isinstance(reason, OSError) or isinstance(reason, ssl.SSLError):
            raise
        if isinstance(reason, TimeoutError):
            if "handshake" in str(reason):  # TLS: ssl raises no SSLError for it
                raise
            raise URLError(TimeoutError(f"proxy {address}: connection timed out")) from error
        found = f"proxy {address}: {reason.strerror or reason}"
        raise URLError(OSError(reason.errno, found) if reason.errno else OSError(found)) from error


def _transport_handler(opener: OpenerDirector, scheme: str) -> Any:
    """The handler of urllib that sends. Raises if another one could send before it, or in its place."""
    handlers = [*opener.handle_open.get("default", ()), *opener.handle_open.get(scheme, ())]  # type: ignore[attr-defined]
    foreign = [type(each).__name__ for each in handlers if type(each) not in _STANDARD]
    if foreign:
        raise SettingNotSupported(
            f"the opener has handlers that may ignore the proxy of the identity: {', '.join(foreign)}. "
            f"Build it without them, or {_REMEDY}"
        )
    found: BaseHandler | None = next((each for each in handlers if type(each) is not ProxyHandler), None)
    if found is None:
        raise SettingNotSupported(f"the opener has no handler for {scheme}:// URLs")
    return found


def _open(handler: Any, request: Request) -> Any:
    return handler.https_open(request) if request.type == "https" else handler.http_open(request)


def _options(handler: Any) -> dict[str, Any]:
    return {"context": handler._context} if type(handler) is HTTPSHandler else {}  # type: ignore[attr-defined]


def _socks_connection(proxy: ProxyUrl, scheme: str) -> Callable[..., http.client.HTTPConnection]:
    try:
        import socks  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise MissingExtra("socks", "PySocks, by which urllib uses SOCKS proxies,") from error
    base = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection

    def create_connection(address: tuple[str, int], timeout: Any, source_address: Any = None) -> Any:
        return socks.create_connection(
            address,
            timeout=timeout,
            source_address=source_address,
            proxy_type=socks.SOCKS5,
            proxy_addr=proxy.host,
            proxy_port=proxy.port,
            proxy_rdns=True,
            proxy_username=proxy.username or None,
            proxy_password=proxy.password or None,
        )

    def connect(host: str, **options: Any) -> http.client.HTTPConnection:
        connection = base(host, **options)
        connection._create_connection = create_connection  # type: ignore[attr-defined]
        return connection

    return connect
