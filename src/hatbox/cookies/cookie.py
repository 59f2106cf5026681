"""A cookie and what can happen to it, as data. Knows none of the rules.

Text stands for bytes throughout, one latin-1 character for each: servers are handed back exactly what they sent.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

__all__ = ["ChangeCause", "Cookie", "CookieKey", "JarChange", "Partition", "SameSite"]

# Longer paths sort first, then older cookies. One integer says both, for the next 36,000 years of microseconds.
_PATH_WEIGHT = 1 << 60


class SameSite(StrEnum):
    """Which requests of other sites a cookie goes with, in the words of the cookies API."""

    UNSPECIFIED = "unspecified"
    NONE = "no_restriction"
    LAX = "lax"
    STRICT = "strict"


class Partition(NamedTuple):
    """The top-level site that a partitioned cookie (CHIPS) belongs to, such as `https://site.example`."""

    top_level_site: str
    cross_site_ancestor: bool = False


class CookieKey(NamedTuple):
    """What makes two cookies of one store the same cookie."""

    domain: str
    host_only: bool
    path: str
    name: str
    partition: Partition | None = None


class Cookie(msgspec.Struct, gc=False, kw_only=True):
    """One cookie of a jar. Nothing but `last_access` changes once it is in one.

    `expires` is None for a session cookie. `sequence` orders cookies by age: microseconds of the creation time,
    moved on where two would be equal. `pair` and `order` are what retrieval works with, made once.
    """

    name: str
    value: str
    domain: str
    path: str = "/"
    host_only: bool = True
    secure: bool = False
    http_only: bool = False
    same_site: SameSite = SameSite.UNSPECIFIED
    expires: float | None = None
    partition: Partition | None = None
    sequence: int = 0
    created: float = 0.0
    last_access: float = 0.0
    pair: str = ""
    order: int = 0

    def __post_init__(self) -> None:
        self.pair = f"{self.name}={self.value}" if self.name else self.value
        self.order = self.sequence - len(self.path) * _PATH_WEIGHT

    @property
    def key(self) -> CookieKey:
        """What this cookie replaces, or is replaced by."""
        return CookieKey(self.domain, self.host_only, self.path, self.name, self.partition)

    def place(self, sequence: int, created: float) -> None:
        """Give a new cookie its place among the others; a jar does this once, when it takes the cookie in."""
        self.sequence = sequence
        self.created = created
        self.order = sequence - len(self.path) * _PATH_WEIGHT

    def expired(self, now: float) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= now


class ChangeCause(StrEnum):
    """Why a cookie changed, in the words of `cookies.onChanged`."""

    EXPLICIT = "explicit"
    OVERWRITE = "overwrite"
    EXPIRED = "expired"
    EXPIRED_OVERWRITE = "expired_overwrite"
    EVICTED = "evicted"


class JarChange(NamedTuple):
    """A cookie came or went. Replacing one is two changes: the old one removed, then the new one added."""

    cookie: Cookie
    removed: bool
    cause: ChangeCause
