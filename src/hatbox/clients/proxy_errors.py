"""Errors of a proxy, for all that uses httpx: httpx reports an unreachable proxy as it reports an unreachable site.

Applies to the proxy of an identity, of the client's options and of the environment alike. Messages have the address of
the proxy, never its credentials.
"""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Iterator, Mapping
from typing import Any, Final

import httpx

__all__ = ["ProxyTimedOut", "ProxyUnreachable", "ProxyUnusable", "address_of", "causes", "is_of_socks", "proxy_errors"]

_SOCKS_PACKAGES: Final = ("python_socks", "socksio")  # of httpx-socks and of httpx
_TLS_OF_SITE: Final = ("proxy.start_tls.started", "socks.start_tls.started")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_SOCKS_PORT: Final = 1080


class ProxyUnusable(httpx.ProxyError):
    """The proxy cannot be used, or refuses the request. The message names it."""


class ProxyUnreachable(ProxyUnusable):
    """The proxy is unreachable."""


class ProxyTimedOut(ProxyUnusable, httpx.ConnectTimeout):
    """The connection to the proxy, or through it, was not made in time."""


def address_of(transport: object) -> str:
    """Host and port of the proxy of an httpx transport; empty without one, and for transports of other packages."""
    url: Any = getattr(getattr(transport, "_pool", None), "_proxy_url", None)
    if url is None:
        return ""
    return f"{url.host.decode('ascii')}:{url.port or _DEFAULT_PORTS.get(url.scheme.decode('ascii'), _SOCKS_PORT)}"


@contextlib.contextmanager
def proxy_errors(address: str, request: httpx.Request, *, is_async: bool) -> Iterator[None]:
    """Raise errors of the connection to the proxy at this address as errors of the proxy. None without an address.

    Others are of the site behind it: TLS, and what fails after a request was sent.
    """
    if not address:
        yield
        return
    connection = _Connection(request, is_async=is_async)
    try:
        yield
    except ProxyUnusable:
        raise
    except httpx.ProxyError as error:
        raise ProxyUnusable(f"proxy {address}: {error}", request=request) from error
    except httpx.TransportError as error:
        if not connection.is_pending:
            raise
        raise _failed(address, request, error) from error
    except Exception as error:
        if not is_of_socks(error):
            raise
        raise _failed(address, request, error) from error


class _Connection:
    """Observes by httpx's trace whether the connection through the proxy is still being made."""

    def __init__(self, request: httpx.Request, *, is_async: bool) -> None:
        self.is_pending = False  # httpx takes an idle connection if it has one
        self._traced = request.extensions.get("trace")
        request.extensions = {**request.extensions, "trace": self._observe_async if is_async else self._observe}

    def _observe(self, event: str, info: Mapping[str, Any]) -> None:
        self._note(event, info)
        if self._traced is not None:
            self._traced(event, info)

    async def _observe_async(self, event: str, info: Mapping[str, Any]) -> None:
        self._note(event, info)
        if self._traced is not None:
            await self._traced(event, info)

    def _note(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith(".connect_tcp.started"):
            self.is_pending = True
        elif event in _TLS_OF_SITE or (
            event.endswith(".send_request_headers.started") and info["request"].method != b"CONNECT"
        ):
            self.is_pending = False


def is_of_socks(error: Exception) -> bool:
    """Whether an error is that of a package that connects through SOCKS proxies: httpx does not translate those."""
    return type(error).__module__.partition(".")[0] in _SOCKS_PACKAGES


def _failed(address: str, request: httpx.Request, error: Exception) -> ProxyUnusable:
    found = list(causes(error))
    if any(isinstance(each, (httpx.TimeoutException, TimeoutError)) for each in found):
        return ProxyTimedOut(f"proxy {address}: connection timed out", request=request)
    if any(isinstance(each, ssl.SSLError) for each in found):
        return ProxyUnusable(f"no secure connection to the proxy {address}: {error}", request=request)
    reason = next((_reason(each) for each in reversed(found) if isinstance(each, OSError) and each.errno), "")
    if reason or isinstance(error, httpx.ConnectError):
        return ProxyUnreachable(f"proxy unreachable: {address}: {reason or error}", request=request)
    return ProxyUnusable(f"proxy {address}: {error}", request=request)


def _reason(error: OSError) -> str:
    """What the system says: asyncio has its own words, and numbers of the resolver are negative."""
    number = error.errno or 0
    return os.strerror(number) if number > 0 else error.strerror or str(error)


def causes(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes."""
    left, seen = [error], set[int]()
    while left:
        each = left.pop(0)
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            left += [cause for cause in (each.__cause__, each.__context__) if cause is not None]
            if isinstance(each, BaseExceptionGroup):
                left += each.exceptions
