"""Why Chromium could not load a page, in words for people. Knows its error codes, and nothing of tabs."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

__all__ = ["ABORTED", "UNAUTHORIZED", "firefox_error_name", "load_error_message"]

ABORTED: Final = "net::ERR_ABORTED"
"""Not a failure: the answer was a download, there was none, or something else was loaded instead."""

UNAUTHORIZED: Final = "net::ERR_INVALID_AUTH_CREDENTIALS"
"""A server or a proxy requires a user name and a password."""

_PREFIX: Final = "net::ERR_"
_REASONS: Final = {
    "NAME_NOT_RESOLVED": "no host is called {host}",
    "NAME_RESOLUTION_FAILED": "no host is called {host}",
    "CONNECTION_REFUSED": "{host} refused the connection",
    "CONNECTION_RESET": "{host} broke off the connection",
    "CONNECTION_CLOSED": "{host} broke off the connection",
    "CONNECTION_ABORTED": "{host} broke off the connection",
    "EMPTY_RESPONSE": "{host} answered nothing",
    "CONNECTION_TIMED_OUT": "timed out",
    "TIMED_OUT": "timed out",
    "ADDRESS_UNREACHABLE": "{host} cannot be reached",
    "NETWORK_CHANGED": "the network has changed",
    "INTERNET_DISCONNECTED": "this machine is offline",
    "PROXY_CONNECTION_FAILED": "the proxy does not let it through",
    "TUNNEL_CONNECTION_FAILED": "the proxy does not let it through",
    "TOO_MANY_REDIRECTS": "too many redirects",
    "INVALID_REDIRECT": "a redirect leads to nowhere",
    "INVALID_RESPONSE": "the server did not speak HTTP",
    "INVALID_HTTP_RESPONSE": "the server did not speak HTTP",
    "UNSAFE_PORT": "browsers do not load from this port",
    "UNKNOWN_URL_SCHEME": "{url} is not an address that can be loaded",
    "INVALID_URL": "{url} is not an address that can be loaded",
    "FILE_NOT_FOUND": "there is no such file",
    "ACCESS_DENIED": "the file may not be read",
    "INVALID_AUTH_CREDENTIALS": "{host} requires a user name and a password",
    "BLOCKED_BY_CLIENT": "it was blocked",
    "BLOCKED_BY_RESPONSE": "the site does not allow it to be shown here",
}

_NAMES: Final = {
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
    """What Firefox calls an error of Chromium; for what is wrong with a certificate, a sentence, as there."""
    name = code.removeprefix(_PREFIX)
    if name.startswith(("CERT_", "SSL_")):
        return load_error_message(code, url)
    return _NAMES.get(name, "NS_ERROR_FAILURE")


def load_error_message(code: str, url: str) -> str:
    """What to tell of an error of Chromium, such as net::ERR_NAME_NOT_RESOLVED, that ended a load of this URL."""
    name = code.removeprefix(_PREFIX)
    host = urlsplit(url).netloc.rpartition("@")[2] or url
    if name in _REASONS:
        return _REASONS[name].format(host=host, url=url)
    words = name.lower().replace("_", " ")
    if words.startswith("cert "):
        return f"the certificate of {host} is bad: {words.removeprefix('cert ')}"
    if words.startswith("ssl "):
        return f"no secure connection to {host}: {words.removeprefix('ssl ')}"
    return words
