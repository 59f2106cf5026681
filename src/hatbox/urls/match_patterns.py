"""Match patterns, such as `*://*.site.example/*`, and host permissions. Pure text.

As in Firefox, host permissions ignore the path. A host with a port matches nothing. Hosts are compared as written, so
only lower case and punycode match. Patterns for whole URLs (`UrlPattern`) allow more schemes, such as `about:*`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from hatbox.text_cache import cache_short_texts
from hatbox.urls.globs import Glob, glob
from hatbox.urls.url import Url

__all__ = [
    "ALL_URLS",
    "HostPermissions",
    "MatchPattern",
    "UrlPattern",
    "host_permissions",
    "parse_match_pattern",
    "parse_url_pattern",
]

ALL_URLS: Final = "<all_urls>"

_PATTERN: Final = re.compile(r"(\*|https?|wss?|ftp|file)://(\*|\*\.[^*/]+|[^*/]+)?/.*", re.DOTALL)
_LOCATOR: Final = re.compile(r"([^/]*)(/.*)", re.DOTALL)
_WITH_HOST: Final = frozenset({"*", "http", "https", "ws", "wss", "ftp", "file", "moz-extension", "chrome", "resource"})
_ANY_SCHEME: Final = frozenset({"http", "https", "ws", "wss"})
_ALL_SCHEMES: Final = _ANY_SCHEME | {"ftp", "file", "data"}


class MatchPattern(NamedTuple):
    """A match pattern without its path. `domain` is None for any host, and empty for URLs without a host."""

    schemes: frozenset[str]
    domain: str | None
    subdomains: bool

    def matches(self, scheme: str, host: str) -> bool:
        """Whether it matches a scheme and canonical host."""
        return scheme in self.schemes and self._matches_host(host)

    def matches_cookie(self, domain: str, *, host_only: bool, secure: bool) -> bool:
        """Whether any URL that it matches can read a cookie. `domain` is the cookie's domain without a leading dot."""
        if "https" not in self.schemes and (secure or "http" not in self.schemes):
            return False
        if self._matches_host(domain):
            return True
        return not host_only and self.domain is not None and self.domain.endswith(f".{domain}")

    def _matches_host(self, host: str) -> bool:
        if self.domain is None or host == self.domain:
            return True
        return self.subdomains and host.endswith(f".{self.domain}")


@cache_short_texts(1024, longest=2048)
def parse_match_pattern(text: str) -> MatchPattern | None:
    """Parse a match pattern; None if it is invalid."""
    if text == ALL_URLS:
        return MatchPattern(_ALL_SCHEMES, None, subdomains=False)
    match = _PATTERN.fullmatch(text)
    if match is None:
        return None
    scheme, host = match[1], match[2] or ""
    if not host and scheme != "file":
        return None
    schemes = _ANY_SCHEME if scheme == "*" else frozenset({scheme})
    return _host_pattern(schemes, host)


def _host_pattern(schemes: frozenset[str], host: str) -> MatchPattern:
    if host == "*":
        return MatchPattern(schemes, None, subdomains=False)
    return MatchPattern(schemes, host.removeprefix("*."), subdomains=host.startswith("*."))


class UrlPattern(NamedTuple):
    """A match pattern for whole URLs. `path` matches path and query; None matches any."""

    hosts: MatchPattern
    path: Glob | None

    def matches(self, url: Url) -> bool:
        """Whether it matches a URL, ignoring the fragment."""
        if not self.hosts.matches(url.scheme, url.host):
            return False
        return self.path is None or self.path.matches((url.path + url.query).partition("#")[0])


@cache_short_texts(1024, longest=2048)
def parse_url_pattern(text: str) -> UrlPattern | None:
    """Parse a match pattern for whole URLs; None if it is invalid."""
    if text == ALL_URLS:
        return UrlPattern(MatchPattern(_ALL_SCHEMES, None, subdomains=False), None)
    scheme, colon, rest = text.partition(":")
    if not scheme or not colon or not rest:
        return None
    if scheme not in _WITH_HOST:
        return UrlPattern(MatchPattern(frozenset({scheme}), None, subdomains=False), glob(rest, question=False))
    locator = _LOCATOR.fullmatch(rest.removeprefix("//")) if rest.startswith("//") else None
    if locator is None or (not locator[1] and scheme != "file"):
        return None
    schemes = _ANY_SCHEME if scheme == "*" else frozenset({scheme})
    return UrlPattern(_host_pattern(schemes, locator[1]), glob(locator[2], question=False))


class HostPermissions(NamedTuple):
    """The host permissions of a caller."""

    patterns: tuple[MatchPattern, ...]

    def allow_url(self, scheme: str, host: str) -> bool:
        """Whether they allow a scheme and canonical host."""
        return any(pattern.matches(scheme, host) for pattern in self.patterns)

    def allow_cookie(self, domain: str, *, host_only: bool, secure: bool) -> bool:
        """Whether any allowed URL can read a cookie."""
        # A loop, because a generator is slower and getAll() checks every cookie.
        for pattern in self.patterns:  # noqa: SIM110
            if pattern.matches_cookie(domain, host_only=host_only, secure=secure):
                return True
        return False


@lru_cache(maxsize=256)
def host_permissions(permissions: Iterable[str]) -> HostPermissions:
    """The host permissions among permissions. Names and invalid patterns are ignored."""
    patterns = (parse_match_pattern(permission) for permission in permissions)
    return HostPermissions(tuple(pattern for pattern in patterns if pattern is not None))
