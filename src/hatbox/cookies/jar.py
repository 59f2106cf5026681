"""The jar: the cookie engine of one store. Uses no clock, files or network. Thread-safe.

Every change is returned with its cause, in the order in which it happened; what to do with it is the caller's affair.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from math import inf
from threading import Lock

import msgspec

from hatbox.cookies.cookie import ChangeCause, Cookie, CookieKey, JarChange, Partition, SameSite
from hatbox.cookies.domains import domain_matches
from hatbox.cookies.eviction import JarLimits, site_cookies_to_evict, store_cookies_to_evict
from hatbox.cookies.jar_index import CachedCookieHeader, Index, PartitionCookies, SiteCookies
from hatbox.cookies.parse import SetCookie, as_octets, bare_domain, parse_set_cookie
from hatbox.cookies.public_suffixes import PublicSuffixes, default_public_suffixes
from hatbox.cookies.request_urls import RequestUrl, as_request_url
from hatbox.cookies.retrieval import RetrievedCookies, find_cookies
from hatbox.cookies.samesite import NO_PAGE, RequestContext, SameSiteContext, compute_same_site_context, partition_of
from hatbox.cookies.storage_model import check_fields, check_replacement, create_cookie, same_content
from hatbox.errors import CookieRejected
from hatbox.urls.hosts import canonical_host

__all__ = ["Jar"]

_MICROSECONDS = 1_000_000
# Looking up an enum member takes longer than most operations here.
_EXPLICIT, _OVERWRITE = ChangeCause.EXPLICIT, ChangeCause.OVERWRITE
_STRICT, _LAX_UNSAFE = SameSiteContext.STRICT, SameSiteContext.LAX_UNSAFE


class Jar:
    """A cookie jar. URLs are text or a RequestUrl; `now` is in seconds since 1970.

    >>> jar = Jar()
    >>> _ = jar.store("sid=1; Secure; Path=/", "https://site.example/login", now=0)
    >>> jar.header("https://site.example/", now=1)
    'sid=1'
    """

    __slots__ = ("_index", "_limits", "_lock", "_sequence", "_suffixes", "clock_lag", "purge_before")

    def __init__(self, limits: JarLimits | None = None, suffixes: PublicSuffixes | None = None) -> None:
        self._limits = limits or JarLimits()
        self._suffixes = suffixes or default_public_suffixes()
        self._index = Index(self._suffixes)
        self._sequence = 0
        self._lock = Lock()
        self.purge_before = inf
        """Cookies that expired after this time are withheld, not removed: the clock may be wrong."""
        self.clock_lag = 0.0
        """Seconds by which the clock is behind `now`. They are added to expiry dates from servers."""

    def store(
        self, line: str | bytes, url: str | RequestUrl, now: float, context: RequestContext = NO_PAGE
    ) -> list[JarChange]:
        """Store one Set-Cookie value. A rejected one changes nothing, as in a browser."""
        return self.store_all((line,), url, now, context)

    def store_all(
        self,
        set_cookie_values: Iterable[str | bytes],
        url: str | RequestUrl,
        now: float,
        context: RequestContext = NO_PAGE,
    ) -> list[JarChange]:
        """Store the Set-Cookie values of one response, in order."""
        parsed = [each for each in map(parse_set_cookie, set_cookie_values) if each is not None]
        return self.store_parsed(parsed, as_request_url(url), now, context)

    def store_parsed(
        self, parsed: Iterable[SetCookie], request_url: RequestUrl, now: float, context: RequestContext = NO_PAGE
    ) -> list[JarChange]:
        """Store the parsed Set-Cookie values of one response, in order."""
        changes: list[JarChange] = []
        for each in parsed:
            try:
                changes += self._receive(each, request_url, now, context)
            except CookieRejected:
                continue
        return changes

    def set(
        self,
        url: str | RequestUrl,
        now: float,
        *,
        name: str = "",
        value: str = "",
        domain: str = "",
        path: str | None = None,
        secure: bool = False,
        http_only: bool = False,
        same_site: SameSite = SameSite.UNSPECIFIED,
        expires: float | None = None,
        partition: Partition | None = None,
        context: RequestContext = NO_PAGE,
    ) -> list[JarChange]:
        """Store a cookie given by its fields, with the rules for Set-Cookie. Raises CookieRejected with the reason."""
        fields = SetCookie(
            name=as_octets(name),
            value=as_octets(value),
            domain=(canonical_host(bare) or bare) if (bare := bare_domain(domain)) else "",
            path=as_octets(path) if path else None,
            secure=secure,
            http_only=http_only,
            same_site=same_site,
            expires=expires,
            partitioned=partition is not None,
        )
        check_fields(fields)
        if partition is not None:
            context = msgspec.structs.replace(context, partition=partition)
        return self._receive(fields, as_request_url(url), now, context)

    def put(self, cookie: Cookie, now: float) -> list[JarChange]:
        """Store a cookie of a trusted caller, such as an extension: only the limits apply."""
        with self._lock:
            site = self._index.site(cookie.domain)
            partition_cookies = self._index.partition_cookies(cookie.domain, cookie.partition)
            old = self._index.find(cookie.key)
            return self._insert(None if old is None or old.expired(now) else old, cookie, site, partition_cookies, now)

    def header(self, url: str | RequestUrl, now: float, context: RequestContext = NO_PAGE) -> str:
        """The Cookie header of a request, or document.cookie; empty without cookies."""
        request_url = as_request_url(url)
        with self._lock:
            site = self._index.sites.get(self._suffixes.host_info(request_url.host).site)
            if site is None:
                return ""
            path = request_url.path if site.non_root_path_count else "/"
            same_site_context = (
                _STRICT if context is NO_PAGE else compute_same_site_context(context, request_url, self._suffixes)
            )
            key = (request_url.host, path, request_url.scheme, same_site_context, context.script, context.partition)
            cached = site.cached_headers.get(key)
            if cached is None or not cached.since <= now < cached.until:
                found = self._find(site, request_url, now, context, same_site_context)
                text = "; ".join([cookie.pair for cookie in found.cookies])
                cached = CachedCookieHeader(text, found.cookies, found.since, found.until, now)
                if same_site_context is _LAX_UNSAFE:  # depends on the age of each cookie, and is rare: not cached
                    cached.since = inf
                site.cache_header(key, cached)
            cached.used = now
            return cached.text

    def select(self, url: str | RequestUrl, now: float, context: RequestContext = NO_PAGE) -> list[Cookie]:
        """The cookies of a request, in the order of the header. Does not update last_access."""
        request_url = as_request_url(url)
        with self._lock:
            site = self._index.site(request_url.host)
            if site is None:
                return []
            site.update_last_access()
            same_site_context = compute_same_site_context(context, request_url, self._suffixes)
            return self._find(site, request_url, now, context, same_site_context).cookies

    def all(self, now: float) -> list[Cookie]:
        """Every cookie that has not expired, oldest first."""
        return [cookie for cookie in self if not cookie.expired(now)]

    def get(self, key: CookieKey) -> Cookie | None:
        """The cookie with this key, expired or not."""
        with self._lock:
            cookie = self._index.find(key)
            site = self._index.site(key.domain)
            if site is not None:
                site.update_last_access()
            return cookie

    def remove(self, key: CookieKey) -> list[JarChange]:
        """Remove the cookie with this key, if it exists."""
        with self._lock:
            cookie = self._index.find(key)
            return self._drop([cookie] if cookie else [], ChangeCause.EXPLICIT)

    def clear(self, domain: str | None = None) -> list[JarChange]:
        """Remove all cookies, or those of a domain and its subdomains."""
        with self._lock:
            return self._drop(list(self._index) if domain is None else self._below(domain), ChangeCause.EXPLICIT)

    def expire(self, now: float) -> list[JarChange]:
        """Remove expired cookies."""
        with self._lock:
            return self._expire_all(min(now, self.purge_before))

    def load(self, cookies: Iterable[Cookie]) -> None:
        """Add cookies unchanged, replacing those with the same key: from a durable store."""
        cookies = list(cookies)
        with self._lock:
            self._index.add_all(cookies)
            self._sequence = max([self._sequence, *(cookie.sequence for cookie in cookies)])

    def undo(self, changes: Iterable[JarChange]) -> None:
        """Undo the latest changes of this jar."""
        with self._lock:
            for cookie, removed, _ in reversed(list(changes)):
                if removed:
                    self._index.add(cookie)
                elif (added := self._index.find(cookie.key)) is not None:
                    self._index.remove(added)

    def named(self, names: Container[str], domains: Iterable[str] | None = None) -> list[Cookie]:
        """The cookies with these names, of all domains or of exactly these, in no order."""
        with self._lock:
            cookies = self._index if domains is None else self._index.of_domains(domains)
            return [cookie for cookie in cookies if cookie.name in names]

    def __iter__(self) -> Iterator[Cookie]:
        with self._lock:
            self._index.update_last_access()
            return iter(sorted(self._index, key=lambda cookie: cookie.sequence))

    def __len__(self) -> int:
        return self._index.count

    def _receive(
        self, parsed: SetCookie, request_url: RequestUrl, now: float, context: RequestContext
    ) -> list[JarChange]:
        if self.clock_lag and parsed.expires is not None:
            parsed = msgspec.structs.replace(parsed, expires=parsed.expires + self.clock_lag)
        cookie = create_cookie(parsed, request_url, now, context, self._suffixes, self._limits.lifetime)
        with self._lock:
            site = self._index.site(cookie.domain)
            partition_cookies = site.partitions.get(cookie.partition) if site is not None else None
            old = (
                check_replacement(cookie, partition_cookies, request_url, context, now)
                if partition_cookies is not None
                else None
            )
            return self._insert(old, cookie, site, partition_cookies, now)

    def _insert(
        self,
        old: Cookie | None,
        cookie: Cookie,
        site: SiteCookies | None,
        partition_cookies: PartitionCookies | None,
        now: float,
    ) -> list[JarChange]:
        due = min(now, self.purge_before)
        changes = self._expire(site, due) if site is not None and site.next_expiry <= due else []
        if old is None and partition_cookies is not None and self.purge_before < now:
            withheld = self._index.find(cookie.key)
            changes += self._drop([withheld], ChangeCause.EXPIRED) if withheld is not None else []
        changes += self._replace(old, cookie, now)
        if self._index.count > self._limits.per_store or (
            partition_cookies is not None and partition_cookies.count > self._limits.per_site
        ):
            changes += self._evict(cookie, now)
        return changes

    def _replace(self, old: Cookie | None, cookie: Cookie, now: float) -> list[JarChange]:
        if cookie.expired(now):
            return self._drop([old] if old else [], ChangeCause.EXPIRED_OVERWRITE)
        if old is None:
            self._sequence = max(self._sequence + 1, int(now * _MICROSECONDS))
            cookie.set_creation(self._sequence, now)
            self._index.add(cookie)
            return [JarChange(cookie, False, _EXPLICIT)]
        if same_content(old, cookie):  # not observable; cached headers stay valid
            old.last_access = now
            return []
        cookie.set_creation(old.sequence, old.created)
        self._index.add(cookie)
        return [JarChange(old, True, _OVERWRITE), JarChange(cookie, False, _EXPLICIT)]

    def _find(
        self,
        site: SiteCookies,
        request_url: RequestUrl,
        now: float,
        context: RequestContext,
        same_site_context: SameSiteContext,
    ) -> RetrievedCookies:
        partitioned = len(site.partitions) > 1 or None not in site.partitions
        return find_cookies(
            site,
            request_url,
            self._suffixes.host_info(request_url.host),
            now,
            same_site_context=same_site_context,
            script=context.script,
            partition=partition_of(context, request_url, self._suffixes) if partitioned else None,
        )

    def _below(self, domain: str) -> list[Cookie]:
        wanted = canonical_host(domain.removeprefix("."))
        if not wanted:
            return []
        within = self._index if self._suffixes.is_suffix(wanted) else self._index.site(wanted) or ()
        return [cookie for cookie in within if domain_matches(cookie.domain, wanted)]

    def _expire_all(self, now: float) -> list[JarChange]:
        due = [site for site in self._index.sites.values() if site.next_expiry <= now]
        return [change for site in due for change in self._expire(site, now)]

    def _expire(self, site: SiteCookies, now: float) -> list[JarChange]:
        changes = self._drop([cookie for cookie in site if cookie.expired(now)], ChangeCause.EXPIRED)
        site.next_expiry = min((cookie.expires for cookie in site if cookie.expires is not None), default=inf)
        return changes

    def _evict(self, newest: Cookie, now: float) -> list[JarChange]:
        changes: list[JarChange] = []
        partition_cookies = self._index.partition_cookies(newest.domain, newest.partition)
        if partition_cookies is not None and partition_cookies.count > self._limits.per_site:
            changes += self._make_room(site_cookies_to_evict(partition_cookies, self._limits, now), now)
        if self._index.count > self._limits.per_store:
            changes += self._expire_all(min(now, self.purge_before))
            self._index.update_last_access()
            changes += self._make_room(store_cookies_to_evict(self._index.sites.values(), self._limits, now), now)
        return changes

    def _make_room(self, cookies: list[Cookie], now: float) -> list[JarChange]:
        expired = [cookie for cookie in cookies if cookie.expired(now)]
        return self._drop(expired, ChangeCause.EXPIRED) + self._drop(cookies[len(expired) :], ChangeCause.EVICTED)

    def _drop(self, cookies: list[Cookie], cause: ChangeCause) -> list[JarChange]:
        for cookie in cookies:
            self._index.remove(cookie)
        return [JarChange(cookie, removed=True, cause=cause) for cookie in cookies]
