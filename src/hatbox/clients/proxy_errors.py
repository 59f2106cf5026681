"""Errors of a proxy, for all that uses httpx: httpx reports an unreachable proxy as it reports an unreachable site."""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Iterator

import httpx

__all__ = ["ProxyUnreachable", "ProxyUnusable", "causes", "proxy_errors"]


class ProxyUnusable(httpx.ProxyError):
    """The proxy cannot be used, or refuses the request. The message names it."""


class ProxyUnreachable(ProxyUnusable):
    """The proxy is unreachable."""


@contextlib.contextmanager
def proxy_errors(address: str) -> Iterator[None]:
    """Raise errors of requests that are sent through the proxy at this address as errors of the proxy.

    Others are connections to the site behind it: TLS.
    """
    try:
        yield
    except ProxyUnusable:
        raise
    except httpx.ProxyError as error:
        raise _with_request(ProxyUnusable(f"proxy {address}: {error}"), error) from error
    except httpx.ConnectError as error:
        found = [each for each in causes(error) if isinstance(each, OSError)]
        if any(isinstance(each, ssl.SSLError) for each in found):
            raise
        reason = next((_reason(each) for each in reversed(found) if each.errno), str(error))
        raise _with_request(ProxyUnreachable(f"proxy unreachable: {address}: {reason}"), error) from error


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


def _with_request(error: httpx.ProxyError, original: httpx.TransportError) -> httpx.ProxyError:
    with contextlib.suppress(RuntimeError):  # httpx sets it later
        error.request = original.request
    return error
