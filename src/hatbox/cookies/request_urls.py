"""The parts of a request URL that cookies depend on: scheme, host and path.

Splitting a URL costs more than finding its cookies, so a URL is parsed once, and the parts of recent URLs are cached.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import quote

from hatbox.text_cache import cache_short_texts
from hatbox.urls.hosts import MAX_HOST_INPUT, canonical_host, is_trustworthy_host

__all__ = ["RequestUrl", "as_request_url", "parse_request_url", "request_url_from"]

_URL: Final = re.compile(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.-]*)://([^/?#\\]*)([^?#]*)")
_HOST_AND_PORT: Final = re.compile(r"(\[[^\]]*\]|[^:]*)(?::[0-9]*)?")
_MAX_SCHEME_LENGTH: Final = 32  # characters: what is longer is neither http nor a web socket, and is not worth caching
_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
# A WebSocket URL has the same site and cookies as the http URL with the same host.
_PLAIN_SCHEME: Final = {"ws": "http", "wss": "https"}


class RequestUrl(NamedTuple):
    """A request URL; create it with `parse_request_url` or `request_url_from`. Cookies ignore ports.

    `host` is canonical, and empty if the URL has none that could hold cookies. `secure` also holds for localhost.
    """

    scheme: str
    host: str
    path: str
    secure: bool


@cache_short_texts(4096)
def parse_request_url(url: str) -> RequestUrl:
    """Parse a URL given as text."""
    match = _URL.match(url)
    if match is None:
        return RequestUrl("", "", "/", secure=False)
    scheme, authority, path = match.groups()
    if path[:1] != "/" or not path.isascii():
        if path.startswith("\\"):  # URL parsers disagree about where the host ends
            return RequestUrl("", "", "/", secure=False)
        path = _sent_path(path)
    # The last @ ends the user info. A regular expression would try every other @ as well.
    place = _HOST_AND_PORT.fullmatch(authority.rpartition("@")[2])
    scheme, host, secure = _origin(scheme[:_MAX_SCHEME_LENGTH], _readable(place[1] if place else ""))
    return RequestUrl(scheme, host, path, secure)


def request_url_from(scheme: str, host: str, path: str) -> RequestUrl:
    """A RequestUrl from the parts of a URL.

    The host may have any spelling, an IPv6 address its brackets or not. The path is the one that is sent, not a decoded
    one; a query after it is no harm.
    """
    scheme, host, secure = _origin(scheme[:_MAX_SCHEME_LENGTH], _readable(host))
    if path[:1] != "/" or "?" in path or not path.isascii():
        path = _sent_path(path.partition("?")[0])
    return RequestUrl(scheme, host, path, secure)


def as_request_url(url: str | RequestUrl) -> RequestUrl:
    """A RequestUrl, from text or as given."""
    return parse_request_url(url) if isinstance(url, str) else url


def _readable(host: str) -> str:
    return host if len(host) <= MAX_HOST_INPUT else ""


@lru_cache(maxsize=16384)
def _origin(scheme: str, host: str) -> tuple[str, str, bool]:
    scheme = scheme.lower()
    scheme = _PLAIN_SCHEME.get(scheme, scheme)
    host = canonical_host(host) if scheme in ("http", "https") else ""
    return scheme, host, scheme == "https" or is_trustworthy_host(host)


def _sent_path(path: str) -> str:
    return "/" + quote(path.removeprefix("/"), safe=_PRINTABLE)
