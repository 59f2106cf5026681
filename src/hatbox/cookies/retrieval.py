"""Retrieval (RFC 6265bis, 5.8.3): the cookies of a request, in order. Reads the index, changes nothing."""

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
    """The cookies for a request, in order, and how long they stay the same."""

    cookies: list[Cookie]
    since: float
    until: float


def find_cookies(
    site: SiteCookies,
    request_url: RequestUrl,
    host_info: HostInfo,
    now: float,
    *,
    same_site_context: SameSiteContext,
    script: bool,
    partition: Partition | None,
) -> RetrievedCookies:
    """The cookies of the request's site that match it; `partition` is None if none is partitioned."""
    found: list[Cookie] = []
    since, until = -inf, inf
    host, path, secure = request_url.host, request_url.path, request_url.secure
    all_sites = same_site_context is SameSiteContext.STRICT
    for partition_cookies in (site.partitions.get(None), site.partitions.get(partition) if partition else None):
        if partition_cookies is None:
            continue
        for domain in host_info.domains:
            for cookie in partition_cookies.domains.get(domain, {}).values():
                # The domain may have become a public suffix since the cookie was stored: do not send it to subdomains.
                if (domain != host) if cookie.host_only else host_info.is_suffix:
                    continue
                if cookie.path != "/" and not path_matches(path, cookie.path):
                    continue
                if (cookie.secure and not secure) or (cookie.http_only and script):
                    continue
                if not (all_sites or is_sent(same_site_context, cookie.same_site, now - cookie.created)):
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
