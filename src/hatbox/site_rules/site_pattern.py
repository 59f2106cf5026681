"""The patterns of site rules, and their order. Pure text.

    github.com                    this host: every port, path and scheme
    *.github.com                  the host and its subdomains, as in match patterns; `*` is every host
    localhost:8080                one port
    github.com/work-org/*         a path: `*` matches any text. Compared with path and query as a whole
    https://github.com            one scheme, http or https
    regex:^https://git[0-9]+\\.    a regular expression (RE2), searched in the URL

The most specific pattern wins. The order is total: exact host; wildcard host, longer one first; with a port before
without; more characters in the path, stars not counted, then fewer stars; with a scheme before without; alphabetical.
Regular expressions come last, by position.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import unquote

from hatbox.errors import InvalidSiteRule
from hatbox.site_rules.compared_url import DEFAULT_PORTS, ComparedUrl, normalize_escapes
from hatbox.site_rules.regular_expression import RegularExpression
from hatbox.text_cache import cache_short_texts
from hatbox.urls.globs import Glob, glob
from hatbox.urls.hosts import canonical_host, is_ip
from hatbox.urls.url import parse_url

__all__ = ["MAX_PATTERN", "REGEX_PREFIX", "SitePattern", "Specificity", "UrlMatcher", "parse_site_pattern"]

MAX_PATTERN: Final = 2048
"""Characters of a pattern."""

REGEX_PREFIX: Final = "regex:"

_SCHEME: Final = re.compile(r"(\*|[A-Za-z][A-Za-z0-9+.-]*)://")
_AUTHORITY: Final = re.compile(r"(\[[^\]]*\]|[^:]*)(?::(.*))?", re.DOTALL)
_UNREADABLE: Final = re.compile(r"[\x00-\x20\x7f]")
# Paths that need no normalization, unless a segment starts with a dot. Most paths are such.
_PLAIN_PATH: Final = re.compile(r"/(?:[A-Za-z0-9/._~=&+,;:@!$()-]|\*(?!\*))*")
_STARS: Final = re.compile(r"\*+")
_MAX_PORT: Final = 65535

Specificity: TypeAlias = tuple[int, int, int, int, int, int, str]
"""The place of a pattern in the order; smaller wins. In this order: whether the host is exact, the length of the host,
port, characters of the path, stars, scheme, text."""


class SitePattern(NamedTuple):
    """A pattern of host, port, path and scheme."""

    scheme: str
    """http or https; empty for both."""
    host: str
    """Canonical; empty for every host."""
    subdomains: bool
    port: int | None
    path: Glob | None
    """None for every path."""
    text: str
    """The canonical spelling. Patterns with the same meaning have the same spelling."""
    specificity: Specificity

    @property
    def is_whole_host(self) -> bool:
        """Whether it matches every URL on its host."""
        return not self.scheme and self.port is None and self.path is None

    def matches(self, url: ComparedUrl) -> bool:
        """Whether it matches a URL."""
        return (
            self._matches_host(url.host)
            and self.port in (None, url.port)
            and self.scheme in ("", url.scheme)
            and (self.path is None or self.path.matches(url.path))
        )

    def _matches_host(self, host: str) -> bool:
        if not self.subdomains:
            return host == self.host
        return not self.host or host == self.host or host.endswith(f".{self.host}")


UrlMatcher: TypeAlias = SitePattern | RegularExpression


def parse_site_pattern(text: str) -> UrlMatcher:
    """Parse a pattern. Raises InvalidSiteRule."""
    if len(text) > MAX_PATTERN:
        raise InvalidSiteRule(f"{text[:60]}…", f"it has {len(text)} characters, more than {MAX_PATTERN}")
    return _parse_regex(text) if text.startswith(REGEX_PREFIX) else _parse_site(text)


@cache_short_texts(128)  # few: a compiled expression is large
def _parse_regex(text: str) -> RegularExpression:
    return RegularExpression(text, text.removeprefix(REGEX_PREFIX))


@cache_short_texts(16384)
def _parse_site(text: str) -> SitePattern:
    if text.startswith("/"):
        raise InvalidSiteRule(text, f"it has no host. Write a regular expression as {REGEX_PREFIX}EXPRESSION")
    if _UNREADABLE.search(text) or "\\" in text or "#" in text:
        raise InvalidSiteRule(text, "it contains a space, a control character, a backslash or #")
    scheme, rest = _split_scheme(text)
    end = next((index for index, character in enumerate(rest) if character in "/?"), len(rest))
    host, subdomains, port = _parse_authority(text, rest[:end])
    path = _parse_path(text, rest[end:])
    return _site_pattern(scheme, host, subdomains, port, path)


def _split_scheme(text: str) -> tuple[str, str]:
    match = _SCHEME.match(text)
    if match is None:
        return "", text
    scheme = "" if match[1] == "*" else match[1].lower()
    if scheme and scheme not in DEFAULT_PORTS:
        raise InvalidSiteRule(text, f"its scheme is {scheme}; rules apply to http and https only")
    return scheme, text[match.end() :]


def _parse_authority(text: str, authority: str) -> tuple[str, bool, int | None]:
    if "@" in authority:
        raise InvalidSiteRule(text, "it contains a user name or password, which rules do not compare")
    match = _AUTHORITY.fullmatch(authority)
    name, port = (match[1], match[2]) if match else (authority, None)
    subdomains = name == "*" or name.startswith("*.")
    host = _parse_host(text, name.removeprefix("*."), optional=name == "*")
    if subdomains and host and is_ip(host):
        raise InvalidSiteRule(text, "an IP address has no subdomains. Remove the *.")
    return host, subdomains, _parse_port(text, port)


def _parse_host(text: str, name: str, *, optional: bool) -> str:
    if optional:
        return ""
    if "*" in name:
        raise InvalidSiteRule(
            text, f"in a host, * is allowed only as the first label, as in *.site.example. Use {REGEX_PREFIX} instead"
        )
    host = canonical_host(unquote(name) if "%" in name else name).removesuffix(".")
    if not host:
        raise InvalidSiteRule(text, f"{name!r} is not a valid host" if name else "it has no host")
    return host


def _parse_port(text: str, port: str | None) -> int | None:
    if port in (None, "*"):
        return None
    assert port is not None  # noqa: S101 - for mypy
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= _MAX_PORT):
        raise InvalidSiteRule(text, f"{port!r} is not a port: a number up to {_MAX_PORT}")
    return int(port)


def _parse_path(text: str, path: str) -> str:
    """The canonical path and query; empty for every path."""
    if not path:
        return ""
    if _PLAIN_PATH.fullmatch(path) and "/." not in path:
        return "" if path == "/*" else path
    url = parse_url(f"http://host{path}")
    if url is None:
        raise InvalidSiteRule(text, f"{path!r} is not a valid path")
    query = "" if url.query == "?" else url.query
    normal = _STARS.sub("*", normalize_escapes(url.path + query))
    return "" if normal == "/*" else normal


def _site_pattern(scheme: str, host: str, subdomains: bool, port: int | None, path: str) -> SitePattern:
    shown_host = ("*." if subdomains else "") + host if host else "*"
    text = f"{scheme}://" if scheme else ""
    text += shown_host + (f":{port}" if port is not None else "") + path
    stars = path.count("*")
    specificity = (
        int(subdomains),
        -len(host),
        int(port is None),
        stars - len(path),
        # Every path has no characters, and one star.
        stars if path else 1,
        int(not scheme),
        text,
    )
    compiled = glob(path, question=False) if path else None
    return SitePattern(scheme, host, subdomains, port, compiled, text, specificity)
