"""Which cookies go with a request, and in which order (RFC 6265bis, 5.8.3). Reads the index, changes nothing."""

from __future__ import annotations

from math import inf
from operator import attrgetter
from typing import NamedTuple

from hatbox.cookies.cookie import Cookie, Partition
from hatbox.cookies.jar_index import SiteCookies
from hatbox.cookies.paths import path_matches
from hatbox.cookies.public_suffixes import HostInfo
from hatbox.cookies.request_urls import RequestUrl
from hatbox.cookies.samesite import SameSiteContext, is_sent

__all__ = ["RetrievedCookies", "find_cookies"]

_order = attrgetter("order")


class RetrievedCookies(NamedTuple):
    """The cookies for a request, in order, and the time in which nothing expires that would make them others."""

    cookies: list[Cookie]
    since: float
    until: float


def find_cookies(
    site: SiteCookies,
    target: RequestUrl,
    place: HostInfo,
    now: float,
    *,
    reach: SameSiteContext,
    script: bool,
    partition: Partition | None,
) -> RetrievedCookies:
    """The cookies of the target's site that it may see; `partition` is None if no cookie of it is partitioned."""
    found: list[Cookie] = []
    since, until = -inf, inf
    host, path, secure = target.host, target.path, target.secure
    all_sites = reach is SameSiteContext.STRICT
    for shelf in (site.shelves.get(None), site.shelves.get(partition) if partition else None):
        if shelf is None:
            continue
        for domain in place.domains:
            for cookie in shelf.domains.get(domain, {}).values():
                # A list of public suffixes grows: a cookie that was once shared below one is not sent any more.
                if (domain != host) if cookie.host_only else place.is_suffix:
                    continue
                if cookie.path != "/" and not path_matches(path, cookie.path):
                    continue
                if (cookie.secure and not secure) or (cookie.http_only and script):
                    continue
                if not (all_sites or is_sent(reach, cookie.same_site, now - cookie.created)):
                    continue
                expires = cookie.expires
                if expires is not None:
                    if expires <= now:
                        since = max(since, expires)
                        continue
                    if expires < until:
                        until = expires
                found.append(cookie)
    found.sort(key=_order)
    return RetrievedCookies(found, since, until)
