"""Index of a jar's cookies by site, partition and domain, so that a lookup reads one site. Contains no cookie rules.

    site (registrable domain) → partition → domain → cookie

A site is as far as any rule reaches: all that a request can see, all that one cookie can shadow, and all that is
counted against the limit of a site. It also caches Cookie headers, until one of its cookies changes.
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

    __slots__ = ("cached_headers", "next_expiry", "non_root_path_count", "partitions")

    def __init__(self) -> None:
        self.partitions: dict[Partition | None, PartitionCookies] = {}
        self.cached_headers: dict[tuple[object, ...], CachedCookieHeader] = {}
        self.non_root_path_count = 0  # cookies with a path other than `/`; without any, all paths share one header
        self.next_expiry = inf  # no cookie expires before this

    def __iter__(self) -> Iterator[Cookie]:
        for partition_cookies in self.partitions.values():
            yield from partition_cookies

    def cache_header(self, key: tuple[object, ...], cached: CachedCookieHeader) -> None:
        """Cache a header for equal requests."""
        if len(self.cached_headers) >= _MAX_CACHED_HEADERS:
            self.update_last_access()
            self.cached_headers.clear()
        self.cached_headers[key] = cached

    def update_last_access(self) -> None:
        """Set last_access of the cookies of cached headers: here, not at each request, which must be quick."""
        for cached in self.cached_headers.values():
            for cookie in cached.cookies:
                if cookie.last_access < cached.used:
                    cookie.last_access = cached.used

    def changed(self) -> None:
        """Clear the cached headers."""
        if self.cached_headers:
            self.update_last_access()
            self.cached_headers.clear()


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

    def partition_cookies(self, domain: str, partition: Partition | None) -> PartitionCookies | None:
        """The cookies that a new cookie of this domain may replace or conflict with."""
        site = self.site(domain)
        return site.partitions.get(partition) if site is not None else None

    def of_domains(self, domains: Iterable[str]) -> Iterator[Cookie]:
        """The cookies of exactly these domains, in all partitions."""
        for domain in domains:
            if (site := self.site(domain)) is not None:
                for partition_cookies in site.partitions.values():
                    yield from partition_cookies.domains.get(domain, {}).values()

    def find(self, key: CookieKey) -> Cookie | None:
        """The cookie with this key."""
        partition_cookies = self.partition_cookies(key.domain, key.partition)
        if partition_cookies is None:
            return None
        return partition_cookies.domains.get(key.domain, {}).get((key.name, key.path, key.host_only))

    def add(self, cookie: Cookie) -> None:
        """Add a cookie, replacing one with the same key."""
        self.add_all((cookie,))

    def add_all(self, cookies: Iterable[Cookie]) -> None:
        """Add many cookies. Adjacent cookies of one domain are added together, which is twice as fast."""
        domain: tuple[str, Partition | None] | None = None
        for cookie in cookies:
            if (cookie.domain, cookie.partition) != domain:
                domain = cookie.domain, cookie.partition
                site, partition_cookies, slots = self._place_for(*domain)
            slot = (cookie.name, cookie.path, cookie.host_only)
            old = slots.get(slot)
            if old is not None:
                self._count(site, partition_cookies, old, -1)
            slots[slot] = cookie
            self._count(site, partition_cookies, cookie, 1)
            if cookie.expires is not None and cookie.expires < site.next_expiry:
                site.next_expiry = cookie.expires

    def remove(self, cookie: Cookie) -> None:
        """Remove a cookie, and containers that are empty then."""
        name = self._suffixes.site(cookie.domain)
        site = self.sites[name]
        partition_cookies = site.partitions[cookie.partition]
        cookies = partition_cookies.domains[cookie.domain]
        del cookies[cookie.name, cookie.path, cookie.host_only]
        self._count(site, partition_cookies, cookie, -1)
        site.changed()
        if not cookies:
            del partition_cookies.domains[cookie.domain]
            if not partition_cookies.count:
                del site.partitions[cookie.partition]
                if not site.partitions:
                    del self.sites[name]

    def _place_for(
        self, domain: str, partition: Partition | None
    ) -> tuple[SiteCookies, PartitionCookies, dict[tuple[str, str, bool], Cookie]]:
        """The container for the cookies of a domain. Clears the cached headers of its site."""
        name = self._suffixes.site(domain)
        site = self.sites.get(name)
        if site is None:
            site = self.sites[name] = SiteCookies()
        partition_cookies = site.partitions.get(partition)
        if partition_cookies is None:
            partition_cookies = site.partitions[partition] = PartitionCookies()
        site.changed()
        return site, partition_cookies, partition_cookies.domains.setdefault(domain, {})

    def update_last_access(self) -> None:
        """Update last_access of all cookies."""
        for site in self.sites.values():
            site.update_last_access()

    def _count(self, site: SiteCookies, partition_cookies: PartitionCookies, cookie: Cookie, one: int) -> None:
        self.count += one
        partition_cookies.count += one
        partition_cookies.secure += one * cookie.secure
        site.non_root_path_count += one * (cookie.path != "/")
