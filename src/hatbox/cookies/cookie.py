"""Cookies and their changes, as data. Contains no rules.

Text stands for bytes throughout, one latin-1 character for each: servers are handed back exactly what they sent.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

__all__ = ["ChangeCause", "Cookie", "CookieKey", "JarChange", "Partition", "SameSite"]

# Longer paths sort first, then older cookies. One integer encodes both, for 36,000 years of microseconds.
_PATH_WEIGHT = 1 << 60


class SameSite(StrEnum):
    """The SameSite attribute, as the cookies API spells it."""

    UNSPECIFIED = "unspecified"
    NONE = "no_restriction"
    LAX = "lax"
    STRICT = "strict"


class Partition(NamedTuple):
    """The top-level site that a partitioned cookie (CHIPS) belongs to, such as `https://site.example`."""

    top_level_site: str
    cross_site_ancestor: bool = False


class CookieKey(NamedTuple):
    """The key of a cookie in its store."""

    domain: str
    host_only: bool
    path: str
    name: str
    partition: Partition | None = None


class Cookie(msgspec.Struct, gc=False, kw_only=True):
    """A cookie. In a jar only `last_access` changes.

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
        """The key: cookies with the same key replace each other."""
        return CookieKey(self.domain, self.host_only, self.path, self.name, self.partition)

    def set_creation(self, sequence: int, created: float) -> None:
        """Set the creation time of a new cookie, and its place in the order of age. Called once, by the jar."""
        self.sequence = sequence
        self.created = created
        self.order = sequence - len(self.path) * _PATH_WEIGHT

    def expired(self, now: float) -> bool:
        """Whether the cookie has expired."""
        return self.expires is not None and self.expires <= now


class ChangeCause(StrEnum):
    """The cause of a change, as in `cookies.onChanged`."""

    EXPLICIT = "explicit"
    OVERWRITE = "overwrite"
    EXPIRED = "expired"
    EXPIRED_OVERWRITE = "expired_overwrite"
    EVICTED = "evicted"


class JarChange(NamedTuple):
    """A cookie was added or removed. Replacing one is two changes: removed, then added."""

    cookie: Cookie
    removed: bool
    cause: ChangeCause
