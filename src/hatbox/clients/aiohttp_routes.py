"""The connector of a bound aiohttp.ClientSession: connects each request as the settings of the identity say.

Proxies of the environment, of the session and of the request are set on a request before it gets here, and replaced.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import aiohttp
from aiohttp import ClientRequest, ClientTimeout, hdrs
from aiohttp.connector import Connection
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from hatbox.clients.identity_binding import IdentityBinding
from hatbox.clients.setting_headers import proxy_authorization
from hatbox.errors import MissingExtra, SettingNotSupported
from hatbox.identity.proxy_url import ProxyUrl, parse_proxy

if TYPE_CHECKING:
    from aiohttp.tracing import Trace

__all__ = ["RoutedConnector", "forget_authorization", "proxy_timeouts"]

_SOCKS_PACKAGES: Final = ("aiohttp_socks", "python_socks")


class RoutedConnector:
    """Wraps the connector of a session. SOCKS proxies have a connector of their own, with the same options."""

    def __init__(self, inner: aiohttp.BaseConnector, binding: IdentityBinding) -> None:
        self._inner = inner
        self._binding = binding
        self._socks: tuple[str, aiohttp.BaseConnector] | None = None
        self._retired: list[aiohttp.BaseConnector] = []

    async def connect(self, req: ClientRequest, traces: list[Trace], timeout: ClientTimeout) -> Connection:
        """See aiohttp. Raises if the proxy of the identity cannot be used: nothing was sent."""
        setting = (await self._binding.settings()).proxy
        if setting is None:
            with _proxy_errors(req):
                return await self._inner.connect(req, traces, timeout)
        if type(self._inner) is not aiohttp.TCPConnector:
            raise SettingNotSupported(
                f"the session has a connector of the type {type(self._inner).__name__}, which may ignore the proxy of "
                "the identity. Use an aiohttp.TCPConnector, or unset the proxy: "
                "hatbox settings IDENTITY --unset proxy."
            )
        proxy = parse_proxy(setting)
        req.headers.pop(hdrs.PROXY_AUTHORIZATION, None)
        if proxy is None or proxy.is_socks:
            req.update_proxy(None, None, None)
            connector = self._inner if proxy is None else await self._socks_connector(setting, proxy)
            with _proxy_errors(req, proxy):
                return await connector.connect(req, traces, timeout)
        authorization = proxy_authorization(proxy)
        headers: CIMultiDict[str] = CIMultiDict()
        if authorization is not None and req.is_ssl():
            headers[hdrs.PROXY_AUTHORIZATION] = authorization  # of the CONNECT request
        elif authorization is not None:
            req.headers[hdrs.PROXY_AUTHORIZATION] = authorization  # until it is written: see forget_authorization()
            req._hatbox_authorization = authorization  # type: ignore[attr-defined]
        req.update_proxy(URL(proxy.server), None, headers)
        with _proxy_errors(req):
            return await self._inner.connect(req, traces, timeout)

    async def close(self) -> None:
        """See aiohttp."""
        connectors, self._retired = self._retired, []
        if self._socks is not None:
            connectors.append(self._socks[1])
            self._socks = None
        for each in connectors:
            await each.close()
        await self._inner.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def _socks_connector(self, setting: str, proxy: ProxyUrl) -> aiohttp.BaseConnector:
        await self._close_retired()
        if self._socks is None or self._socks[0] != setting:
            if self._socks is not None:
                self._retired.append(self._socks[1])
            self._socks = setting, _socks_connector(proxy, self._inner)
        return self._socks[1]

    async def _close_retired(self) -> None:
        """Close connectors of earlier proxies that serve no response any more."""
        unused = [each for each in self._retired if not each._acquired]
        self._retired = [each for each in self._retired if each not in unused]
        for each in unused:
            await each.close()


class ProxyConnectionError(aiohttp.ClientProxyConnectionError):
    """The proxy is unreachable, or refuses the connection. The message names it."""

    def __str__(self) -> str:
        return f"proxy {self.host}:{self.port}: {self.os_error.strerror or self.os_error}"


@contextlib.contextmanager
def _proxy_errors(req: ClientRequest, socks: ProxyUrl | None = None) -> Iterator[None]:
    """Name the proxy in its errors, and show no password in them."""
    try:
        yield
    except aiohttp.ClientHttpProxyError as error:
        _remove_authorization(error)
        raise
    except aiohttp.ClientProxyConnectionError as error:
        raise ProxyConnectionError(error._conn_key, error.os_error) from error
    except TimeoutError:
        req._hatbox_timed_out = _place(req, socks)  # type: ignore[attr-defined]
        raise
    except Exception as error:
        place = _place(req, socks)
        is_drop = isinstance(error, (aiohttp.ServerDisconnectedError, EOFError))
        if place is None or not (is_drop or type(error).__module__.partition(".")[0] in _SOCKS_PACKAGES):
            raise
        cause = error if isinstance(error, OSError) else OSError(str(error))
        raise ProxyConnectionError(req.connection_key._replace(host=place[0], port=place[1]), cause) from error


def _place(req: ClientRequest, socks: ProxyUrl | None) -> tuple[str, int | None] | None:
    """Host and port of the proxy of a request; None without one."""
    if socks is not None:
        return socks.host, socks.port
    return None if req.proxy is None else (req.proxy.host or "", req.proxy.port)


@contextlib.contextmanager
def proxy_timeouts(req: ClientRequest) -> Iterator[None]:
    """Name the proxy in the timeout of a connection, which aiohttp reports as one of the site."""
    try:
        yield
    except aiohttp.ConnectionTimeoutError as error:
        if not (place := getattr(req, "_hatbox_timed_out", None)):
            raise
        raise aiohttp.ConnectionTimeoutError(f"{error} through the proxy {place[0]}:{place[1]}") from error


def forget_authorization(req: ClientRequest) -> None:
    """Remove the password of the proxy from a request that was written: responses and errors show its headers."""
    if getattr(req, "_hatbox_authorization", None) is not None:
        req.headers.popall(hdrs.PROXY_AUTHORIZATION, None)


def _remove_authorization(error: aiohttp.ClientHttpProxyError) -> None:
    """Remove the password of the proxy from an error, which shows the headers of the CONNECT request."""
    info = error.request_info
    headers = CIMultiDict(info.headers)
    headers.popall(hdrs.PROXY_AUTHORIZATION, None)
    error.request_info = aiohttp.RequestInfo(info.url, info.method, CIMultiDictProxy(headers), info.real_url)
    error.args = (error.request_info, error.history)


def _socks_connector(proxy: ProxyUrl, like: Any) -> aiohttp.BaseConnector:
    try:
        from aiohttp_socks import ProxyConnector, ProxyType
    except ModuleNotFoundError as error:
        raise MissingExtra("socks", "aiohttp-socks, by which aiohttp uses SOCKS proxies,") from error
    return ProxyConnector(
        proxy.host.strip("[]"),
        proxy.port,
        ProxyType.SOCKS5,
        proxy.username or None,
        proxy.password or None,
        rdns=True,
        ssl=like._ssl,
        limit=like.limit,
        limit_per_host=like.limit_per_host,
        force_close=like.force_close,
    )
