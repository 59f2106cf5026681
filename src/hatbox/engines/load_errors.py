"""Messages and Firefox names for errors of page loads over HTTP."""

from __future__ import annotations

import asyncio
import socket
import ssl

import httpx

from hatbox.clients.proxy_errors import ProxyTimedOut, ProxyUnusable, causes
from hatbox.errors import (
    IdentityRemoved,
    InvalidIdentity,
    InvalidSetting,
    MissingExtra,
    ProfileError,
    SettingNotSupported,
)

__all__ = ["firefox_error_name", "format_bytes", "load_error_message"]


def load_error_message(error: BaseException, url: str) -> str:
    """The message for an error that ended a load; empty for an unexpected one."""
    if isinstance(error, (InvalidIdentity, IdentityRemoved)):
        return "the identity was removed"
    if isinstance(error, (ProfileError, ProxyUnusable, InvalidSetting, SettingNotSupported, MissingExtra)):
        return str(error)
    if isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
        return f"invalid URL: {url}"
    for cause in causes(error):
        if message := _os_error_message(cause, url):
            return message
    return next((message for kind, message in _HTTPX_MESSAGES if isinstance(error, kind)), "")


def firefox_error_name(error: BaseException, url: str) -> str:
    """Firefox's name of an error; for TLS errors a sentence, as in Firefox."""
    if isinstance(error, ProxyUnusable) and not isinstance(error, ProxyTimedOut):
        return "NS_ERROR_PROXY_CONNECTION_REFUSED"
    for cause in causes(error):
        if isinstance(cause, ssl.SSLError):
            return _os_error_message(cause, url)
        if name := next((name for kind, name in _NAMES if isinstance(cause, kind)), ""):
            return name
    return "NS_ERROR_FAILURE"


def format_bytes(size: int) -> str:
    """A readable number of bytes."""
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
    (httpx.ProxyError, "proxy refused the connection"),
    (httpx.TimeoutException, "timed out"),
    (httpx.DecodingError, "unsupported content encoding"),
    (httpx.RemoteProtocolError, "connection closed by the server, or invalid HTTP response"),
    (httpx.ConnectError, "no connection to the server"),
    (httpx.TransportError, "connection to the server lost"),
    (OSError, "connection to the server lost"),
)


def _os_error_message(cause: BaseException, url: str) -> str:
    host = _host(url)
    if isinstance(cause, socket.gaierror):
        return f"host not found: {host}"
    if isinstance(cause, ConnectionRefusedError):
        return f"{host} refused the connection"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"invalid certificate of {host}: {cause.verify_message}"
    if isinstance(cause, ssl.SSLError):
        return f"no secure connection to {host}: {cause.reason or cause}".lower().replace("_", " ")
    return ""


def _host(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return url
    return f"{parsed.host}:{parsed.port}" if parsed.port else parsed.host
