"""Which cookies a call is about: by URL, name, domain and so on, and only those that the caller may see.

A URL is compared as Firefox's API does it, not as for a request: localhost is not secure, and `/x/` holds for `/x`.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from hatbox.api.namespaces.cookies.cookie_views import octets
from hatbox.api.namespaces.cookies.partition_keys import Accepts, in_all, in_one, partition_key
from hatbox.cookies.cookie import Cookie
from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_rows import find_cookies
from hatbox.cookies.domains import canonical_host
from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.store.base import Transaction
from hatbox.urls.match_patterns import HostPermissions
from hatbox.urls.url import Url, parse_url

__all__ = ["CookieQuery", "find", "query_all", "query_one"]

_order = attrgetter("order")


class CookieQuery(NamedTuple):
    """What to look for; None is no filter. `nowhere` is for a URL or domain that no cookie can have."""

    hosts: HostPermissions
    partition: Accepts
    nowhere: bool = False
    url: Url | None = None
    name: str | None = None
    domain: str | None = None
    path: str | None = None
    secure: bool | None = None
    session: bool | None = None


def query_one(details: Mapping[str, Any], hosts: HostPermissions) -> CookieQuery:
    """What get and remove look for, and set, to find again what it has set; raises ApiError."""
    url = parse_url(details["url"])
    return CookieQuery(
        hosts,
        in_one(details["partitionKey"], url),
        nowhere=url is None or bool(details["firstPartyDomain"]),
        url=url,
        name=octets(details["name"] or ""),
    )


def query_all(details: Mapping[str, Any], hosts: HostPermissions) -> CookieQuery:
    """What getAll looks for; raises ApiError."""
    given, url = details["partitionKey"], None
    if details["url"] is not None:
        url = parse_url(details["url"])
    is_exact = details["url"] is not None and given is not None and given["topLevelSite"] is not None
    domain = None if details["domain"] is None else _bare_domain(details["domain"])
    return CookieQuery(
        hosts,
        in_one(given, url) if is_exact else in_all(given),
        nowhere=(details["url"] is not None and url is None)
        or (domain is not None and canonical_host(domain) != domain)
        or bool(details["firstPartyDomain"]),
        url=url,
        name=_kept(details["name"]),
        domain=domain,
        path=_kept(details["path"]),
        secure=details["secure"],
        session=details["session"],
    )


def find(transaction: Transaction, number: int, query: CookieQuery, now: float) -> list[Cookie]:
    """The cookies that a query is about, those with longer paths first, then older ones."""
    if query.nowhere:
        return []
    now = cookie_time(transaction, now)
    found = [
        cookie
        for cookie in _candidates(transaction, number, query)
        if not cookie.expired(now) and _is_wanted(cookie, query)
    ]
    found.sort(key=_order)
    return found


def _candidates(transaction: Transaction, number: int, query: CookieQuery) -> list[Cookie]:
    suffixes = default_public_suffixes()
    name, domain = query.name, query.domain
    if query.url is not None:
        return find_cookies(transaction, number, name=name, domains=suffixes.place(query.url.host).domains)
    if domain is not None and suffixes.is_suffix(domain):  # Firefox looks within one site, and a suffix is its own
        return find_cookies(transaction, number, name=name, domains=[domain])
    return find_cookies(transaction, number, name=name, below=domain)


def _is_wanted(cookie: Cookie, query: CookieQuery) -> bool:
    return (
        (query.url is None or _goes_with(cookie, query.url))
        and (query.domain is None or f".{cookie.domain}".endswith(f".{query.domain}"))
        and (query.path is None or cookie.path == query.path)
        and (query.secure is None or cookie.secure == query.secure)
        and (query.session is None or (cookie.expires is None) == query.session)
        and query.partition(partition_key(cookie))
        and query.hosts.allow_cookie(cookie.domain, host_only=cookie.host_only, secure=cookie.secure)
    )


def _goes_with(cookie: Cookie, url: Url) -> bool:
    if (cookie.host_only and cookie.domain != url.host) or (cookie.secure and url.scheme != "https"):
        return False
    path = cookie.path.removesuffix("/")
    return url.path.startswith(path) and url.path[len(path) : len(path) + 1] in ("", "/")


def _bare_domain(text: str) -> str:
    """The domain without its leading dot; an IPv6 address with its brackets."""
    domain = text.lower().removeprefix(".")
    return f"[{domain}]" if ":" in domain and not domain.startswith("[") else domain


def _kept(text: str | None) -> str | None:
    return None if text is None else octets(text)
