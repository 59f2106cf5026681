"""The sites of cookie stores, counted from the metadata of their cookies in one pass. Reads no value. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.cookies.sign_in_cookies import looks_like_sign_in
from hatbox.cookies.use_times import NOT_USED
from hatbox.store.base import CookieMetadata

__all__ = ["CookieSite", "cookie_sites", "host_of"]


class CookieSite(NamedTuple):
    """The cookies of one site in one store. Times are in seconds since 1970."""

    host: str
    """The registrable domain, or the host for an IP address or a public suffix."""
    cookies: int
    signed_in_since: float | None
    """When the oldest valid sign-in cookie was created; None without one. See sign_in_cookies."""
    last_used: float
    """0 if no cookie was used: all are from a file."""


def host_of(domain: str) -> str:
    """The site that a cookie's domain belongs to: the cookies of accounts.site.example are those of site.example."""
    return default_public_suffixes().site(domain)


def cookie_sites(cookies: Iterable[CookieMetadata], now: float) -> dict[int, list[CookieSite]]:
    """The sites of each store that has cookies which have not expired, the one that was used last first."""
    counted: dict[tuple[int, str], list[float]] = {}  # by store and domain: count, last use, signed in since
    for store, domain, name, http_only, expires, created, last_access in cookies:
        if expires is not None and expires <= now:
            continue
        key = (store, domain)
        if last_access % 1 == NOT_USED:  # is_use(), without a call for each of many cookies
            last_access = 0.0
        since = created if looks_like_sign_in(name, http_only) else inf
        if key not in counted:
            counted[key] = [1, last_access, since]
            continue
        found = counted[key]
        found[0] += 1
        if last_access > found[1]:
            found[1] = last_access
        if since < found[2]:
            found[2] = since
    return _by_site(counted)


def _by_site(counted: dict[tuple[int, str], list[float]]) -> dict[int, list[CookieSite]]:
    site_of = default_public_suffixes().site
    stores: dict[int, dict[str, CookieSite]] = {}
    for (store, domain), (count, used, since) in counted.items():
        host = site_of(domain)
        site = CookieSite(host, int(count), None if since == inf else since, used)
        sites = stores.setdefault(store, {})
        sites[host] = _merged(sites[host], site) if host in sites else site
    return {store: sorted(sites.values(), key=_order) for store, sites in stores.items()}


def _order(site: CookieSite) -> tuple[float, str]:
    return -site.last_used, site.host


def _merged(one: CookieSite, other: CookieSite) -> CookieSite:
    since = [each for each in (one.signed_in_since, other.signed_in_since) if each is not None]
    return CookieSite(
        one.host, one.cookies + other.cookies, min(since, default=None), max(one.last_used, other.last_used)
    )
