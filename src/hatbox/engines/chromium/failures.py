"""Why Chromium could not load a page, in words for people. Knows its error codes, and nothing of tabs."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

__all__ = ["ABORTED", "reason"]

ABORTED: Final = "net::ERR_ABORTED"
"""Not a failure: the answer was a download, there was none, or something else was loaded instead."""

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
    "BLOCKED_BY_CLIENT": "it was blocked",
    "BLOCKED_BY_RESPONSE": "the site does not allow it to be shown here",
}


def reason(code: str, url: str) -> str:
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
