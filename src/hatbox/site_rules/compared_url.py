"""URLs as rules compare them. Pure text.

A browser ignores some differences in spelling, and rules must ignore them too, or a link could avoid a rule: upper case
and percent-encoding in the host, a trailing dot, backslashes, `%77` for `w` in the path. Credentials and the fragment
are not compared.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from hatbox.text_cache import cache_short_texts
from hatbox.urls.url import parse_url

__all__ = ["DEFAULT_PORTS", "ComparedUrl", "compared_url", "normalize_escapes"]

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
"""The schemes that rules apply to, with their ports."""

# URLs that need no normalization, unless a path segment starts with a dot. Most URLs are such.
_PLAIN: Final = re.compile(
    r"(https?)://((?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*)(/[A-Za-z0-9/._~=&+,;:@!$()*-]*(?:\?[A-Za-z0-9/._~=&+,;:@!$()*-]+)?)"
)
_MAX_PLAIN: Final = 240  # characters; the maximum length of a host is larger
_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class ComparedUrl(NamedTuple):
    """The parts of a URL that rules compare."""

    scheme: str
    host: str
    port: int
    path: str
    """The path and the query."""

    @property
    def text(self) -> str:
        """The URL that regular expressions search."""
        port = "" if DEFAULT_PORTS[self.scheme] == self.port else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}{self.path}"


@cache_short_texts(1024, longest=2048)
def compared_url(text: str) -> ComparedUrl | None:
    """Parse a URL as a browser does; None if it is invalid, or not http or https."""
    plain = _PLAIN.fullmatch(text) if len(text) <= _MAX_PLAIN and "/." not in text else None
    if plain is not None:
        return ComparedUrl(plain[1], plain[2], DEFAULT_PORTS[plain[1]], plain[3])
    return _normalized(text)


def _normalized(text: str) -> ComparedUrl | None:
    url = parse_url(text)
    if url is None or url.scheme not in DEFAULT_PORTS:
        return None
    host = url.host[:-1] if url.host[-1] == "." else url.host
    path = url.path if url.query in ("", "?") else url.path + url.query
    if "%" in path:
        path = normalize_escapes(path)
    return ComparedUrl(
        url.scheme, host, int(url.port_suffix[1:]) if url.port_suffix else DEFAULT_PORTS[url.scheme], path
    )


def normalize_escapes(text: str) -> str:
    """Decode percent-encoded unreserved characters, and write others in upper case (RFC 3986, 6.2.2)."""
    return _ESCAPE.sub(_normalize_escape, text)


def _normalize_escape(match: re.Match[str]) -> str:
    character = chr(int(match[0][1:], 16))
    return character if character in _UNRESERVED else match[0].upper()
