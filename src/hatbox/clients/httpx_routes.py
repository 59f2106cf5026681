"""The transports by which the requests of an identity with a proxy setting leave: one pool for the current proxy.

A client has one object of this module. When the proxy changes, the next request gets a new pool, and the old one is
closed after its last response. Proxies of the environment and of the client's own options are used by the transports of
httpx; only their errors are named here.
"""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeVar

import httpx

from hatbox.clients.proxy_errors import address_of, is_of_socks, proxy_errors
from hatbox.errors import MissingExtra, SettingNotSupported
from hatbox.identity.proxy_url import ProxyUrl, parse_proxy
from hatbox.identity.settings import IdentitySettings

__all__ = ["PROXY_KEY", "AsyncProxyRoutes", "IsNamed", "RoutedAsyncTransport", "RoutedTransport", "SyncProxyRoutes"]

T = TypeVar("T")

IsNamed: TypeAlias = Callable[[str, int], bool]
"""Whether a host, with a port, may have an address of this machine or of a private network."""

PROXY_KEY: Final = "hatbox.proxy"
"""httpx request extension with the proxy setting of the identity, which no other choice of a proxy may replace."""

_OWN_TRANSPORTS: Final = ("transport", "mounts")
_POOL_OPTIONS: Final = ("http1", "http2", "limits")


class _Pool:
    """A transport, and the number of responses that it still serves."""

    def __init__(self, proxy: str, transport: Any) -> None:
        self.proxy = proxy
        self.transport = transport
        self.users = 0
        self.retired = False

    @property
    def is_unused(self) -> bool:
        return self.retired and not self.users


class _ProxyRoutes:
    """What both kinds of clients share: the options of a client, and the pool of the current proxy."""

    _transport_class: type[httpx.HTTPTransport | httpx.AsyncHTTPTransport]
    _is_async: bool

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._own = next((name for name in _OWN_TRANSPORTS if options.get(name)), "")
        self._pool_options = {name: options[name] for name in _POOL_OPTIONS if name in options}
        self._tls_options = {name: options[name] for name in ("verify", "cert", "trust_env") if name in options}
        self._tls: ssl.SSLContext | None = None
        self._lock = threading.Lock()
        self._pool: _Pool | None = None

    def checked(self, transport: T) -> T:
        """A transport that checks the addresses that it connects to, if the client may not use all of them."""
        return transport

    def extensions(self, settings: IdentitySettings) -> dict[str, str]:
        """The extension PROXY_KEY, if a proxy is set. Raises if the proxy cannot be used: nothing was sent."""
        if settings.proxy is None:
            return {}
        if self._own:
            raise SettingNotSupported(
                f"the client was created with {self._own}=, which may ignore the proxy of its identity. "
                f"Create it without {self._own}=, or unset the proxy: hatbox settings IDENTITY --unset proxy."
            )
        proxy = parse_proxy(settings.proxy)
        if proxy is not None and proxy.is_socks:
            _httpx_socks()
        return {PROXY_KEY: settings.proxy}

    def _use(self, proxy: str) -> tuple[_Pool, _Pool | None]:
        """The pool of this proxy, in use by one request more; and an old one that is to be closed."""
        with self._lock:
            old = self._pool
            if old is None or old.proxy != proxy:
                self._pool = _Pool(proxy, self._transport(proxy))
                if old is not None:
                    old.retired = True
            assert self._pool is not None  # noqa: S101 - set above
            self._pool.users += 1
            return self._pool, old if old is not None and old.is_unused else None

    def _leave(self, pool: _Pool) -> bool:
        """One request less. Returns whether the pool is to be closed."""
        with self._lock:
            pool.users -= 1
            return pool.is_unused

    def _take(self) -> _Pool | None:
        with self._lock:
            pool, self._pool = self._pool, None
            return pool

    def _transport(self, setting: str) -> Any:
        if self._tls is None:
            self._tls = httpx.create_ssl_context(**self._tls_options)
        proxy = parse_proxy(setting)
        if proxy is None:
            return self.checked(self._transport_class(**self._pool_options, verify=self._tls))
        if proxy.is_socks:
            return self._socks_transport(proxy)
        server = httpx.Proxy(
            proxy.server,
            auth=(proxy.username, proxy.password) if proxy.username else None,
            # A context of its own: httpcore sets its ALPN protocols.
            ssl_context=httpx.create_ssl_context(**self._tls_options) if proxy.scheme == "https" else None,
        )
        return self._transport_class(**self._pool_options, verify=self._tls, proxy=server)

    def _socks_transport(self, proxy: ProxyUrl) -> Any:
        package = _httpx_socks()
        kind = package.AsyncProxyTransport if self._is_async else package.SyncProxyTransport
        return kind(
            **self._pool_options,
            proxy_type=package.ProxyType.SOCKS5,
            proxy_host=proxy.host.strip("[]"),
            proxy_port=proxy.port,
            username=proxy.username or None,
            password=proxy.password or None,
            rdns=True,  # the proxy resolves host names
            verify=self._tls,
        )


class AsyncProxyRoutes(_ProxyRoutes):
    """The routes of an httpx.AsyncClient."""

    _transport_class = httpx.AsyncHTTPTransport
    _is_async = True

    def __init__(self, options: Mapping[str, Any], is_named: IsNamed | None) -> None:
        super().__init__(options)
        self._is_named = is_named

    def checked(self, transport: T) -> T:
        """See _ProxyRoutes."""
        if self._is_named is not None:
            from hatbox.clients.checked_network import check_addresses

            check_addresses(transport, self._is_named)
        return transport

    async def send(self, proxy: str, request: httpx.Request) -> httpx.Response:
        """Send a request through this proxy, or without one if it is `direct`."""
        pool, unused = self._use(proxy)

        async def leave() -> None:
            if self._leave(pool):
                await pool.transport.aclose()

        try:
            if unused is not None:
                await unused.transport.aclose()
            with proxy_errors(_address(proxy), request, is_async=True), _socks_errors(request):
                response: httpx.Response = await pool.transport.handle_async_request(request)
        except BaseException:
            await leave()
            raise
        response.stream = _AsyncPoolStream(response.stream, leave)
        return response

    async def aclose(self) -> None:
        """Close the pool."""
        if pool := self._take():
            await pool.transport.aclose()


class SyncProxyRoutes(_ProxyRoutes):
    """The routes of an httpx.Client."""

    _transport_class = httpx.HTTPTransport
    _is_async = False

    def send(self, proxy: str, request: httpx.Request) -> httpx.Response:
        """Send a request through this proxy, or without one if it is `direct`."""
        pool, unused = self._use(proxy)

        def leave() -> None:
            if self._leave(pool):
                pool.transport.close()

        try:
            if unused is not None:
                unused.transport.close()
            with proxy_errors(_address(proxy), request, is_async=False), _socks_errors(request):
                response: httpx.Response = pool.transport.handle_request(request)
        except BaseException:
            leave()
            raise
        response.stream = _PoolStream(response.stream, leave)
        return response

    def close(self) -> None:
        """Close the pool."""
        if pool := self._take():
            pool.transport.close()


class RoutedAsyncTransport(httpx.AsyncBaseTransport):
    """A transport of a client, for requests without PROXY_KEY; those with it take the routes."""

    def __init__(self, inner: httpx.AsyncBaseTransport, routes: AsyncProxyRoutes) -> None:
        self._inner = inner
        self._routes = routes
        self._address = address_of(inner)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx."""
        proxy = request.extensions.get(PROXY_KEY)
        if proxy is not None:
            return await self._routes.send(proxy, request)
        with proxy_errors(self._address, request, is_async=True):
            return await self._inner.handle_async_request(request)

    async def __aenter__(self) -> RoutedAsyncTransport:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._routes.aclose()
        await self._inner.__aexit__(*error)

    async def aclose(self) -> None:
        """See httpx."""
        await self._routes.aclose()
        await self._inner.aclose()


class RoutedTransport(httpx.BaseTransport):
    """A transport of a client, for requests without PROXY_KEY; those with it take the routes."""

    def __init__(self, inner: httpx.BaseTransport, routes: SyncProxyRoutes) -> None:
        self._inner = inner
        self._routes = routes
        self._address = address_of(inner)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx."""
        proxy = request.extensions.get(PROXY_KEY)
        if proxy is not None:
            return self._routes.send(proxy, request)
        with proxy_errors(self._address, request, is_async=False):
            return self._inner.handle_request(request)

    def __enter__(self) -> RoutedTransport:
        self._inner.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._routes.close()
        self._inner.__exit__(*error)

    def close(self) -> None:
        """See httpx."""
        self._routes.close()
        self._inner.close()


class _AsyncPoolStream(httpx.AsyncByteStream):
    def __init__(self, inner: Any, leave: Callable[[], Awaitable[None]]) -> None:
        self._inner = inner
        self._leave: Callable[[], Awaitable[None]] | None = leave

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with contextlib.aclosing(self._inner.__aiter__()) as chunks:
            async for chunk in chunks:
                yield chunk

    async def aclose(self) -> None:
        leave, self._leave = self._leave, None
        try:
            await self._inner.aclose()
        finally:
            if leave is not None:
                await leave()


class _PoolStream(httpx.SyncByteStream):
    def __init__(self, inner: Any, leave: Callable[[], None]) -> None:
        self._inner = inner
        self._leave: Callable[[], None] | None = leave

    def __iter__(self) -> Iterator[bytes]:
        yield from self._inner

    def close(self) -> None:
        leave, self._leave = self._leave, None
        try:
            self._inner.close()
        finally:
            if leave is not None:
                leave()


def _httpx_socks() -> Any:
    """httpx itself gives the handshake with a SOCKS proxy no timeout, and expects each reply in one piece."""
    try:
        import httpx_socks
    except ModuleNotFoundError as error:
        raise MissingExtra("socks", "httpx-socks, by which httpx uses SOCKS proxies,") from error
    return httpx_socks


def _address(setting: str) -> str:
    proxy = parse_proxy(setting)
    return proxy.address if proxy else ""


@contextlib.contextmanager
def _socks_errors(request: httpx.Request) -> Iterator[None]:
    """Raise errors of connections through a SOCKS proxy, other than those of the proxy, as those of httpx."""
    try:
        yield
    except (httpx.HTTPError, RuntimeError):
        raise
    except OSError as error:  # includes TLS and TimeoutError
        if is_of_socks(error):
            raise
        kind = httpx.ConnectTimeout if isinstance(error, TimeoutError) else httpx.ConnectError
        raise kind(str(error), request=request) from error
