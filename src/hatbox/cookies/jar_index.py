"""Index of a jar's cookies by site, partition and domain, so that a lookup reads one site. Contains no cookie rules.

    site (registrable domain) → shelf (partition) → domain → cookie

A site is as far as any rule reaches: all that a request can see, all that one cookie can shadow, and all that is
counted against the limit of a site. It also remembers the answers that were given, until one of its cookies changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from hatbox.cookies.cookie import Cookie, CookieKey, Partition
from hatbox.cookies.public_suffixes import PublicSuffixes

__all__ = ["CachedCookieHeader", "Index", "PartitionCookies", "SiteCookies"]

_MAX_CACHED_HEADERS = 32


class CachedCookieHeader:
    """A cached Cookie header, valid until one of its cookies expires."""

    __slots__ = ("cookies", "since", "text", "until", "used")

    def __init__(self, text: str, cookies: list[Cookie], since: float, until: float, used: float) -> None:
        self.text = text
        self.cookies = cookies
        self.since = since
        self.until = until
        self.used = used


class PartitionCookies:
    """The cookies of one site in one partition."""

    __slots__ = ("count", "domains", "secure")

    def __init__(self) -> None:
        self.domains: dict[str, dict[tuple[str, str, bool], Cookie]] = {}
        self.count = 0
        self.secure = 0

    def __iter__(self) -> Iterator[Cookie]:
        for cookies in self.domains.values():
            yield from cookies.values()


class SiteCookies:
    """The cookies of one registrable domain, and their cached headers."""

    __slots__ = ("answers", "next_expiry", "non_root_path_count", "shelves")

    def __init__(self) -> None:
        self.shelves: dict[Partition | None, PartitionCookies] = {}
        self.answers: dict[tuple[object, ...], CachedCookieHeader] = {}
        self.non_root_path_count = 0  # cookies with a path other than `/`; without any, all paths share one header
        self.next_expiry = inf  # no cookie expires before this

    def __iter__(self) -> Iterator[Cookie]:
        for shelf in self.shelves.values():
            yield from shelf

    def remember(self, key: tuple[object, ...], answer: CachedCookieHeader) -> None:
        """Cache a header for equal requests."""
        if len(self.answers) >= _MAX_CACHED_HEADERS:
            self.update_last_access()
            self.answers.clear()
        self.answers[key] = answer

    def update_last_access(self) -> None:
        """Set last_access of the cookies of cached headers: here, not at each request, which must be quick."""
        for answer in self.answers.values():
            for cookie in answer.cookies:
                if cookie.last_access < answer.used:
                    cookie.last_access = answer.used

    def changed(self) -> None:
        """Clear the cached headers."""
        if self.answers:
            self.update_last_access()
            self.answers.clear()


class Index:
    """All cookies of a jar, by site."""

    __slots__ = ("_suffixes", "count", "sites")

    def __init__(self, suffixes: PublicSuffixes) -> None:
        self._suffixes = suffixes
        self.sites: dict[str, SiteCookies] = {}
        self.count = 0

    def __iter__(self) -> Iterator[Cookie]:
        for site in self.sites.values():
            yield from site

    def site(self, domain: str) -> SiteCookies | None:
        """The site of a host or domain, if it has any cookies."""
        return self.sites.get(self._suffixes.site(domain))

    def shelf(self, domain: str, partition: Partition | None) -> PartitionCookies | None:
        """The cookies that a new cookie of this domain may replace or conflict with."""
        site = self.site(domain)
        return site.shelves.get(partition) if site is not None else None

    def find(self, key: CookieKey) -> Cookie | None:
        """The cookie with this key."""
        shelf = self.shelf(key.domain, key.partition)
        if shelf is None:
            return None
        return shelf.domains.get(key.domain, {}).get((key.name, key.path, key.host_only))

    def add(self, cookie: Cookie) -> None:
        """Add a cookie, replacing one with the same key."""
        self.add_all((cookie,))

    def add_all(self, cookies: Iterable[Cookie]) -> None:
        """Add many cookies. Adjacent cookies of one domain are added together, which is twice as fast."""
        domain: tuple[str, Partition | None] | None = None
        for cookie in cookies:
            if (cookie.domain, cookie.partition) != domain:
                domain = cookie.domain, cookie.partition
                site, shelf, slots = self._place_for(*domain)
            slot = (cookie.name, cookie.path, cookie.host_only)
            old = slots.get(slot)
            if old is not None:
                self._count(site, shelf, old, -1)
            slots[slot] = cookie
            self._count(site, shelf, cookie, 1)
            if cookie.expires is not None and cookie.expires < site.next_expiry:
                site.next_expiry = cookie.expires

    def remove(self, cookie: Cookie) -> None:
        """Remove a cookie, and containers that are empty then."""
        name = self._suffixes.site(cookie.domain)
        site = self.sites[name]
        shelf = site.shelves[cookie.partition]
        cookies = shelf.domains[cookie.domain]
        del cookies[cookie.name, cookie.path, cookie.host_only]
        self._count(site, shelf, cookie, -1)
        site.changed()
        if not cookies:
            del shelf.domains[cookie.domain]
            if not shelf.count:
                del site.shelves[cookie.partition]
                if not site.shelves:
                    del self.sites[name]

    def _place_for(
        self, domain: str, partition: Partition | None
    ) -> tuple[SiteCookies, PartitionCookies, dict[tuple[str, str, bool], Cookie]]:
        """The container for the cookies of a domain. Clears the cached headers of its site."""
        name = self._suffixes.site(domain)
        site = self.sites.get(name)
        if site is None:
            site = self.sites[name] = SiteCookies()
        shelf = site.shelves.get(partition)
        if shelf is None:
            shelf = site.shelves[partition] = PartitionCookies()
        site.changed()
        return site, shelf, shelf.domains.setdefault(domain, {})

    def update_last_access(self) -> None:
        """Update last_access of all cookies."""
        for site in self.sites.values():
            site.update_last_access()

    def _count(self, site: SiteCookies, shelf: PartitionCookies, cookie: Cookie, one: int) -> None:
        self.count += one
        shelf.count += one
        shelf.secure += one * cookie.secure
        site.non_root_path_count += one * (cookie.path != "/")
