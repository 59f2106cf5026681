"""Cookie queries: by URL, name, domain and so on, limited to the host permissions of the caller.

URLs match as in Firefox's API, not as for requests: localhost is not secure, and the path `/x/` matches `/x`.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from hatbox.api.namespaces.cookies.cookie_views import to_octets
from hatbox.api.namespaces.cookies.partition_keys import (
    PartitionFilter,
    exact_partition,
    matching_partitions,
    partition_key,
)
from hatbox.cookies.cookie import Cookie
from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_rows import find_cookies
from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.store.base import Transaction
from hatbox.urls.hosts import canonical_host
from hatbox.urls.match_patterns import HostPermissions
from hatbox.urls.protected_pages import is_protected_cookie
from hatbox.urls.url import Url, parse_url

__all__ = ["CookieQuery", "find", "query_all", "query_one"]

_order = attrgetter("order")


class CookieQuery(NamedTuple):
    """A query. None is no filter. `matches_nothing` is for a URL or domain that no cookie can have."""

    hosts: HostPermissions
    partition: PartitionFilter
    matches_nothing: bool = False
    url: Url | None = None
    name: str | None = None
    domain: str | None = None
    path: str | None = None
    secure: bool | None = None
    session: bool | None = None


def query_one(details: Mapping[str, Any], hosts: HostPermissions) -> CookieQuery:
    """The query of get(), set() and remove(). Raises ApiError."""
    url = parse_url(details["url"])
    return CookieQuery(
        hosts,
        exact_partition(details["partitionKey"], url),
        matches_nothing=url is None or bool(details["firstPartyDomain"]),
        url=url,
        name=to_octets(details["name"] or ""),
    )


def query_all(details: Mapping[str, Any], hosts: HostPermissions) -> CookieQuery:
    """The query of getAll(). Raises ApiError."""
    partition_argument, url = details["partitionKey"], None
    if details["url"] is not None:
        url = parse_url(details["url"])
    has_site = partition_argument is not None and partition_argument["topLevelSite"] is not None
    is_exact = has_site and details["url"] is not None
    partition = exact_partition(partition_argument, url) if is_exact else matching_partitions(partition_argument)
    domain = None if details["domain"] is None else _bare_domain(details["domain"])
    return CookieQuery(
        hosts,
        partition,
        matches_nothing=(details["url"] is not None and url is None)
        or (domain is not None and canonical_host(domain) != domain)
        or bool(details["firstPartyDomain"]),
        url=url,
        name=_optional_octets(details["name"]),
        domain=domain,
        path=_optional_octets(details["path"]),
        secure=details["secure"],
        session=details["session"],
    )


def find(transaction: Transaction, user_context_id: int, query: CookieQuery, now: float) -> list[Cookie]:
    """The matching cookies: longer paths first, then older cookies."""
    if query.matches_nothing:
        return []
    now = cookie_time(transaction, now)
    found = [
        cookie
        for cookie in _candidates(transaction, user_context_id, query)
        if not cookie.expired(now) and _matches(cookie, query)
    ]
    found.sort(key=_order)
    return found


def _candidates(transaction: Transaction, user_context_id: int, query: CookieQuery) -> list[Cookie]:
    suffixes = default_public_suffixes()
    names, domain = None if query.name is None else [query.name], query.domain
    if query.url is not None:
        return find_cookies(
            transaction, user_context_id, names=names, domains=suffixes.host_info(query.url.host).domains
        )
    if domain is not None and suffixes.is_suffix(domain):  # Firefox searches one site: here the suffix itself
        return find_cookies(transaction, user_context_id, names=names, domains=[domain])
    return find_cookies(transaction, user_context_id, names=names, below=domain)


def _matches(cookie: Cookie, query: CookieQuery) -> bool:
    return (
        (query.url is None or _matches_url(cookie, query.url))
        and (query.domain is None or f".{cookie.domain}".endswith(f".{query.domain}"))
        and (query.path is None or cookie.path == query.path)
        and (query.secure is None or cookie.secure == query.secure)
        and (query.session is None or (cookie.expires is None) == query.session)
        and query.partition(partition_key(cookie))
        and not is_protected_cookie(cookie.name, cookie.domain)
        and query.hosts.allow_cookie(cookie.domain, host_only=cookie.host_only, secure=cookie.secure)
    )


def _matches_url(cookie: Cookie, url: Url) -> bool:
    if (cookie.host_only and cookie.domain != url.host) or (cookie.secure and url.scheme != "https"):
        return False
    path = cookie.path.removesuffix("/")
    return url.path.startswith(path) and url.path[len(path) : len(path) + 1] in ("", "/")


def _bare_domain(text: str) -> str:
    """The domain without its leading dot; an IPv6 address in brackets."""
    domain = text.lower().removeprefix(".")
    return f"[{domain}]" if ":" in domain and not domain.startswith("[") else domain


def _optional_octets(text: str | None) -> str | None:
    return None if text is None else to_octets(text)
