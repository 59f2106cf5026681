"""The URL of a request as cookies see it: scheme, host and path. Knows nothing of cookies.

Splitting a URL costs more than finding its cookies, so a Target is made once, and what repeats is remembered.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import quote

from hatbox.text_cache import cache_short_texts
from hatbox.urls.hosts import MAX_HOST_INPUT, canonical_host, is_trustworthy_host

__all__ = ["RequestUrl", "as_target", "target_from", "target_of"]

_URL: Final = re.compile(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.-]*)://([^/?#\\]*)([^?#]*)")
_HOST_AND_PORT: Final = re.compile(r"(\[[^\]]*\]|[^:]*)(?::[0-9]*)?")
_LONGEST_SCHEME: Final = 32  # characters: what is longer is neither http nor a web socket, and is not worth caching
_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
# A web socket is of the same site as the page at the same address, and sees the same cookies.
_PLAIN_SCHEME: Final = {"ws": "http", "wss": "https"}


class RequestUrl(NamedTuple):
    """Where a request goes; make it with `target_of` or `target_from`. Ports do not matter to cookies.

    `host` is canonical, and empty if the URL has none that could hold cookies. `secure` also holds for localhost.
    """

    scheme: str
    host: str
    path: str
    secure: bool


@cache_short_texts(4096)
def target_of(url: str) -> RequestUrl:
    """The target of a URL given as text."""
    match = _URL.match(url)
    if match is None:
        return RequestUrl("", "", "/", secure=False)
    scheme, authority, path = match.groups()
    if path[:1] != "/" or not path.isascii():
        if path.startswith("\\"):  # readers disagree about where the host ends, and one of them may be the client
            return RequestUrl("", "", "/", secure=False)
        path = _sent_path(path)
    # The last @ ends the user info. A regular expression would try every other @ as well.
    place = _HOST_AND_PORT.fullmatch(authority.rpartition("@")[2])
    scheme, host, secure = _origin(scheme[:_LONGEST_SCHEME], _readable(place[1] if place else ""))
    return RequestUrl(scheme, host, path, secure)


def target_from(scheme: str, host: str, path: str) -> RequestUrl:
    """The target of a URL that is already split.

    The host may have any spelling, an IPv6 address its brackets or not. The path is the one that is sent, not a decoded
    one; a query after it is no harm.
    """
    scheme, host, secure = _origin(scheme[:_LONGEST_SCHEME], _readable(host))
    if path[:1] != "/" or "?" in path or not path.isascii():
        path = _sent_path(path.partition("?")[0])
    return RequestUrl(scheme, host, path, secure)


def as_target(url: str | RequestUrl) -> RequestUrl:
    """A target, whichever way the URL was given."""
    return target_of(url) if isinstance(url, str) else url


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
