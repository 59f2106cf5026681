"""Validation of what a grant is created with, one function per argument. Pure. All raise InvalidGrant."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from hatbox.errors import InvalidGrant
from hatbox.grants.grant import ACTIONS, ALL_PUBLIC
from hatbox.javascript.text import well_formed
from hatbox.urls.hosts import canonical_host, is_ip
from hatbox.urls.match_patterns import ALL_URLS

__all__ = [
    "MAX_DURATION",
    "MAX_IDENTITIES",
    "accepted_actions",
    "accepted_expiry",
    "accepted_hosts",
    "accepted_purpose",
]

MAX_DURATION: Final = 10 * 365.25 * 86_400
"""Ten years, in seconds."""
MAX_IDENTITIES: Final = 100
_MAX_PURPOSE: Final = 1000
_MAX_HOSTS: Final = 100
_MAX_PATTERN: Final = 300
_REFUSED_CATEGORIES: Final = frozenset({"Cc", "Zl", "Zp", "Cs"})
_BIDIRECTIONAL: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_PATTERN: Final = re.compile(r"(?:(\*|https?|wss?)://)?(\*\.)?([^/*?#@]+)(/\*?)?", re.ASCII | re.DOTALL)
_WITH_PORT: Final = re.compile(r"(\[.*\]|[^:]+)(:[1-9][0-9]{0,4})", re.DOTALL)
_MAX_PORT: Final = 65535
_HOST_ADVICE: Final = (
    "Use a host such as site.example, *.site.example, localhost:8000 or https://*.site.example/*, * for all public "
    "hosts, or <all_urls> for those of this machine and of private networks too"
)


def accepted_purpose(purpose: str) -> str:
    """The purpose of a grant, which may be empty."""
    if not isinstance(purpose, str):
        raise TypeError(f"purpose must be a string, not {type(purpose).__name__}")
    if len(purpose) > _MAX_PURPOSE:
        raise InvalidGrant("purpose", f"{len(purpose)} characters", f"Use at most {_MAX_PURPOSE} characters")
    if any(unicodedata.category(each) in _REFUSED_CATEGORIES or each in _BIDIRECTIONAL for each in purpose):
        raise InvalidGrant("purpose", ascii(purpose[:80]), "Use text without line breaks and control characters")
    return well_formed(purpose)


def accepted_hosts(hosts: Sequence[str] | None) -> tuple[str, ...] | None:
    """The hosts as match patterns, each once; None for all public hosts."""
    if hosts is None:
        return None
    if isinstance(hosts, str):
        raise TypeError(f"hosts must be a list of patterns, not the string {hosts!r}")
    if not 0 < len(hosts) <= _MAX_HOSTS:
        advice = f"Name 1 to {_MAX_HOSTS} hosts, or none at all for all public hosts"
        raise InvalidGrant("hosts", f"{len(hosts)} patterns", advice)
    return tuple(dict.fromkeys(map(_accepted_host, hosts)))


def _accepted_host(pattern: str) -> str:
    """`*.site.example:8000` becomes `*://*.site.example:8000/*`. Paths are refused: they are not checked."""
    if not isinstance(pattern, str):
        raise TypeError(f"a host must be a string, not {type(pattern).__name__}")
    if pattern in ("*", ALL_PUBLIC):
        return ALL_PUBLIC
    if pattern == ALL_URLS:
        return ALL_URLS
    found = _PATTERN.fullmatch(pattern) if len(pattern) <= _MAX_PATTERN else None
    given = found[3] if found else ""
    with_port = _WITH_PORT.fullmatch(given)
    given, port = with_port.groups() if with_port else (given, "")
    host = canonical_host(given)
    if found is None or not host or int(port[1:] or 0) > _MAX_PORT:
        advice = _HOST_ADVICE
        if re.search(r"/.*[^/*]", pattern.partition("://")[2] or pattern):
            advice = f"{_HOST_ADVICE}. A grant cannot be limited to a path"
        raise InvalidGrant("host", ascii(pattern[:80]), advice)
    if found[2] and (is_ip(host) or host == "localhost"):
        raise InvalidGrant("host", ascii(pattern[:80]), "An address has no subdomains: omit *.")
    return f"{found[1] or '*'}://{found[2] or ''}{host}{port}/*"


def accepted_actions(actions: Iterable[str]) -> frozenset[str]:
    """The actions. `cookieValues` includes `cookies`."""
    if isinstance(actions, str):
        raise TypeError(f"actions must be a list of names, not the string {actions!r}")
    chosen = frozenset(actions)
    allowed = f"Allowed actions: {', '.join(ACTIONS)}"
    for action in chosen:
        if action not in ACTIONS:
            raise InvalidGrant("action", ascii(action)[:80], allowed)
    if not chosen:
        raise InvalidGrant("actions", "none", f"Name at least one. {allowed}")
    return chosen | {"cookies"} if "cookieValues" in chosen else chosen


def accepted_expiry(duration: float | None, now: float) -> float | None:
    """When a grant that is created now expires; None for one that is valid until it is revoked."""
    if duration is None:
        return None
    if isinstance(duration, bool) or not isinstance(duration, (int, float)):
        raise TypeError(f"duration must be a number of seconds or None, not {duration!r}")
    if not 0 < duration <= MAX_DURATION:  # also not a number
        shown = f"{duration} seconds" if abs(duration) <= 100 * MAX_DURATION else "out of range"
        raise InvalidGrant("duration", shown, "Use a time in the future, at most 10 years from now")
    return now + duration
