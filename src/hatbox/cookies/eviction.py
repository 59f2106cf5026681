"""Eviction (RFC 6265bis, 5.7): chooses the cookies to remove above the limits. Removes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heapreplace
from typing import Final, NamedTuple

from hatbox.cookies.cookie import Cookie, CookieKey, Partition
from hatbox.cookies.public_suffixes import PublicSuffixes
from hatbox.cookies.storage_model import LIFETIME_SECONDS

__all__ = ["JarLimits", "site_cookies_to_evict", "store_cookies_to_evict", "within_limits"]

_RECENT_SECONDS: Final = 30 * 24 * 3600.0


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


def store_cookies_to_evict(sites: Iterable[Iterable[Cookie]], limits: JarLimits, now: float) -> list[Cookie]:
    """Cookies of a store to evict, if no site is over its limit.

    Expired ones first, then those that were neither set nor sent for 30 days, then the others; each time the least
    recently used one of the site with the most cookies. So sites that fill the store lose their own cookies.
    """

    def order(cookie: Cookie) -> tuple[int, float, int]:
        return _rank(cookie, now), cookie.last_access, cookie.sequence

    found = [sorted(site, key=order) for site in sites]
    count = sum(map(len, found))
    left = 0 if count <= limits.per_store else count - int(min(limits.per_store_after_eviction, limits.per_store))
    heap = [_candidate(cookies, 0, number, now) for number, cookies in enumerate(found) if cookies]
    heapify(heap)
    evicted: list[Cookie] = []
    while len(evicted) < left:
        *_, number, place = heap[0]
        evicted.append(found[number][place])
        if place + 1 < len(found[number]):
            heapreplace(heap, _candidate(found[number], place + 1, number, now))
        else:
            heappop(heap)
    return evicted


def _candidate(cookies: list[Cookie], place: int, number: int, now: float) -> tuple[int, int, float, int, int]:
    cookie = cookies[place]
    return _rank(cookie, now), place - len(cookies), cookie.last_access, number, place


def _rank(cookie: Cookie, now: float) -> int:
    return 0 if cookie.expired(now) else 1 if cookie.last_access < now - _RECENT_SECONDS else 2


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
