"""Error messages for the net::ERR_* codes of failed loads. Pure text."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

__all__ = ["ABORTED", "BLOCKED_BY_CLIENT", "UNAUTHORIZED", "firefox_error_name", "load_error_message"]

ABORTED: Final = "net::ERR_ABORTED"
"""Not a failure: the response was a download or empty (204), or another navigation replaced this one."""

BLOCKED_BY_CLIENT: Final = "net::ERR_BLOCKED_BY_CLIENT"
"""The engine, or a policy of the browser, has blocked the request."""

UNAUTHORIZED: Final = "net::ERR_INVALID_AUTH_CREDENTIALS"
"""A server or a proxy requires a user name and a password."""

_PREFIX: Final = "net::ERR_"
_MESSAGES: Final = {
    "NAME_NOT_RESOLVED": "host not found: {host}",
    "NAME_RESOLUTION_FAILED": "host not found: {host}",
    "CONNECTION_REFUSED": "{host} refused the connection",
    "CONNECTION_RESET": "{host} closed the connection",
    "CONNECTION_CLOSED": "{host} closed the connection",
    "CONNECTION_ABORTED": "{host} closed the connection",
    "EMPTY_RESPONSE": "{host} sent an empty response",
    "CONNECTION_TIMED_OUT": "timed out",
    "TIMED_OUT": "timed out",
    "ADDRESS_UNREACHABLE": "{host} is unreachable",
    "NETWORK_CHANGED": "the network changed",
    "INTERNET_DISCONNECTED": "this machine is offline",
    "PROXY_CONNECTION_FAILED": "proxy refused the connection",
    "TUNNEL_CONNECTION_FAILED": "proxy refused the connection",
    "TOO_MANY_REDIRECTS": "too many redirects",
    "INVALID_REDIRECT": "invalid redirect",
    "INVALID_RESPONSE": "invalid HTTP response",
    "INVALID_HTTP_RESPONSE": "invalid HTTP response",
    "UNSAFE_PORT": "port blocked by the browser",
    "UNKNOWN_URL_SCHEME": "invalid URL: {url}",
    "INVALID_URL": "invalid URL: {url}",
    "FILE_NOT_FOUND": "file not found",
    "ACCESS_DENIED": "access to the file was denied",
    "INVALID_AUTH_CREDENTIALS": "{host} requires a user name and a password",
    "BLOCKED_BY_CLIENT": "request blocked by the browser",
    "BLOCKED_BY_RESPONSE": "blocked by a policy of the site",
}

_FIREFOX_NAMES: Final = {
    "ABORTED": "NS_BINDING_ABORTED",
    "FAILED": "NS_ERROR_FAILURE",
    "NAME_NOT_RESOLVED": "NS_ERROR_UNKNOWN_HOST",
    "NAME_RESOLUTION_FAILED": "NS_ERROR_UNKNOWN_HOST",
    "CONNECTION_REFUSED": "NS_ERROR_CONNECTION_REFUSED",
    "CONNECTION_RESET": "NS_ERROR_NET_RESET",
    "CONNECTION_CLOSED": "NS_ERROR_NET_RESET",
    "CONNECTION_ABORTED": "NS_ERROR_NET_RESET",
    "EMPTY_RESPONSE": "NS_ERROR_NET_RESET",
    "CONTENT_LENGTH_MISMATCH": "NS_ERROR_NET_PARTIAL_TRANSFER",
    "INCOMPLETE_CHUNKED_ENCODING": "NS_ERROR_NET_PARTIAL_TRANSFER",
    "CONNECTION_TIMED_OUT": "NS_ERROR_NET_TIMEOUT",
    "TIMED_OUT": "NS_ERROR_NET_TIMEOUT",
    "INTERNET_DISCONNECTED": "NS_ERROR_OFFLINE",
    "PROXY_CONNECTION_FAILED": "NS_ERROR_PROXY_CONNECTION_REFUSED",
    "TUNNEL_CONNECTION_FAILED": "NS_ERROR_PROXY_CONNECTION_REFUSED",
    "TOO_MANY_REDIRECTS": "NS_ERROR_REDIRECT_LOOP",
    "UNSAFE_PORT": "NS_ERROR_PORT_ACCESS_NOT_ALLOWED",
    "UNKNOWN_URL_SCHEME": "NS_ERROR_UNKNOWN_PROTOCOL",
    "INVALID_URL": "NS_ERROR_MALFORMED_URI",
    "CONTENT_DECODING_FAILED": "NS_ERROR_INVALID_CONTENT_ENCODING",
    "BLOCKED_BY_CLIENT": "NS_ERROR_ABORT",
}


def firefox_error_name(code: str, url: str) -> str:
    """The name of the error in Firefox. For TLS errors a sentence, as in Firefox."""
    name = code.removeprefix(_PREFIX)
    if name.startswith(("CERT_", "SSL_")):
        return load_error_message(code, url)
    return _FIREFOX_NAMES.get(name, "NS_ERROR_FAILURE")


def load_error_message(code: str, url: str) -> str:
    """The message for users of an error such as net::ERR_NAME_NOT_RESOLVED."""
    name = code.removeprefix(_PREFIX)
    host = urlsplit(url).netloc.rpartition("@")[2] or url
    if name in _MESSAGES:
        return _MESSAGES[name].format(host=host, url=url)
    words = name.lower().replace("_", " ")
    if words.startswith("cert "):
        return f"invalid certificate of {host}: {words.removeprefix('cert ')}"
    if words.startswith("ssl "):
        return f"no secure connection to {host}: {words.removeprefix('ssl ')}"
    return words
