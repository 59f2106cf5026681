"""Eviction (RFC 6265bis, 5.7): chooses the cookies to remove above the limits. Removes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hatbox.cookies.cookie import Cookie, CookieKey, Partition
from hatbox.cookies.public_suffixes import PublicSuffixes
from hatbox.cookies.storage_model import LIFETIME_SECONDS

__all__ = ["JarLimits", "site_cookies_to_evict", "store_cookies_to_evict", "within_limits"]


class JarLimits(NamedTuple):
    """The limits of a jar, as in browsers. Eviction reduces it to the size after eviction, not by one cookie.

    `per_site` counts the cookies of one registrable domain in one partition. `lifetime` is in seconds.
    """

    per_site: float = 180
    per_site_after_eviction: float = 150
    per_store: float = 3300
    per_store_after_eviction: float = 3000
    lifetime: float = LIFETIME_SECONDS


def site_cookies_to_evict(cookies: Iterable[Cookie], limits: JarLimits, now: float) -> list[Cookie]:
    """The cookies of one site to evict: expired ones first, then insecure ones, then the least recently used."""
    ordered = sorted(
        cookies,
        key=lambda cookie: (not cookie.expired(now), cookie.secure, cookie.last_access, cookie.sequence),
    )
    return _over(ordered, limits.per_site, limits.per_site_after_eviction)


def store_cookies_to_evict(cookies: Iterable[Cookie], limits: JarLimits, now: float) -> list[Cookie]:
    """Cookies of a store to evict, if no site is over its limit: expired ones first, then the least recently used."""
    ordered = sorted(cookies, key=lambda cookie: (not cookie.expired(now), cookie.last_access, cookie.sequence))
    return _over(ordered, limits.per_store, limits.per_store_after_eviction)


def within_limits(best_first: Iterable[CookieKey], limits: JarLimits, suffixes: PublicSuffixes) -> Iterator[CookieKey]:
    """The cookies of an import that fit into a store: in order, within the limits per site and per store.

    Both limits use the same order, so a cookie that is left out stays out in the next import.
    """
    in_site: Counter[tuple[str, Partition | None]] = Counter()
    in_store = 0
    for key in best_first:
        site = suffixes.site(key.domain), key.partition
        if in_site[site] < limits.per_site and in_store < limits.per_store:
            in_site[site] += 1
            in_store += 1
            yield key


def _over(ordered: list[Cookie], limit: float, kept: float) -> list[Cookie]:
    if len(ordered) <= limit:
        return []
    return ordered[: len(ordered) - int(min(kept, limit))]
