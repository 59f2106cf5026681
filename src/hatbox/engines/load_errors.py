"""Why a page could not be loaded over HTTP, in words for people. Knows errors, and nothing of tabs."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator

import httpx

from hatbox.errors import IdentityRemoved, InvalidIdentity, ProfileError

__all__ = ["ProxyUnreachable", "ProxyUnusable", "firefox_error_name", "format_bytes", "load_error_message"]


class ProxyUnusable(httpx.ProxyError):
    """A proxy that a listener has chosen cannot be used. It says why, in words for people."""


class ProxyUnreachable(ProxyUnusable):
    """There is no connection to it."""


def load_error_message(error: BaseException, url: str) -> str:
    """What to tell of an error that ended a load of this URL; empty for one that nobody has thought of."""
    if isinstance(error, (InvalidIdentity, IdentityRemoved)):
        return "the identity was removed"
    if isinstance(error, (ProfileError, ProxyUnusable)):
        return str(error)
    if isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
        return f"{url} is not an address that can be loaded"
    for cause in _causes(error):
        if said := _os_error_message(cause, url):
            return said
    return next((said for kind, said in _HTTPX_MESSAGES if isinstance(error, kind)), "")


def firefox_error_name(error: BaseException, url: str) -> str:
    """What Firefox calls it; for what is wrong with a certificate, a sentence, as there."""
    if isinstance(error, ProxyUnusable):
        return "NS_ERROR_PROXY_CONNECTION_REFUSED"
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError):
            return _os_error_message(cause, url)
        if name := next((name for kind, name in _NAMES if isinstance(cause, kind)), ""):
            return name
    return "NS_ERROR_FAILURE"


def format_bytes(size: int) -> str:
    """A number of bytes, for people."""
    for unit, bytes_ in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_:
            return f"{size / bytes_:.3g} {unit}"
    return f"{size} bytes"


_NAMES: tuple[tuple[type[BaseException], str], ...] = (
    (asyncio.CancelledError, "NS_BINDING_ABORTED"),
    (socket.gaierror, "NS_ERROR_UNKNOWN_HOST"),
    (ConnectionRefusedError, "NS_ERROR_CONNECTION_REFUSED"),
    (ConnectionResetError, "NS_ERROR_NET_RESET"),
    (httpx.RemoteProtocolError, "NS_ERROR_NET_RESET"),
    (TimeoutError, "NS_ERROR_NET_TIMEOUT"),
    (httpx.TimeoutException, "NS_ERROR_NET_TIMEOUT"),
    (httpx.DecodingError, "NS_ERROR_INVALID_CONTENT_ENCODING"),
    (httpx.InvalidURL, "NS_ERROR_MALFORMED_URI"),
)

_HTTPX_MESSAGES: tuple[tuple[type[Exception], str], ...] = (
    (httpx.ProxyError, "the proxy does not let it through"),
    (httpx.TimeoutException, "timed out"),
    (httpx.DecodingError, "the answer is packed in a way that cannot be unpacked"),
    (httpx.RemoteProtocolError, "the server broke off, or did not speak HTTP"),
    (httpx.ConnectError, "no connection to the server"),
    (httpx.TransportError, "the connection to the server broke"),
    (OSError, "the connection to the server broke"),
)


def _os_error_message(cause: BaseException, url: str) -> str:
    host = _host(url)
    if isinstance(cause, socket.gaierror):
        return f"no host is called {host}"
    if isinstance(cause, ConnectionRefusedError):
        return f"{host} refused the connection"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"the certificate of {host} is bad: {cause.verify_message}"
    if isinstance(cause, ssl.SSLError):
        return f"no secure connection to {host}: {cause.reason or cause}".lower().replace("_", " ")
    return ""


def _host(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return url
    return f"{parsed.host}:{parsed.port}" if parsed.port else parsed.host


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, what it came of, and what that came of."""
    left, seen = [error], set[int]()
    while left:
        each = left.pop(0)
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            left += [cause for cause in (each.__cause__, each.__context__) if cause is not None]
            if isinstance(each, BaseExceptionGroup):
                left += each.exceptions
