"""Sites and their cookies, without values: transaction functions that read metadata only. Nothing is decrypted.

A site is the registrable domain of a cookie, as in the settings of browsers: a sign-in of accounts.site.example usually
has cookies of site.example too. An IP address, a single name such as localhost, or a public suffix is its own site. The
cookies of a partition (CHIPS) belong to the site that has set them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from hatbox.api.namespaces.cookies.cookie_views import cookie_view
from hatbox.api.namespaces.cookies.partition_keys import PartitionKey
from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_rows import cookie_of, expect_identity
from hatbox.cookies.cookie_sites import CookieSite, cookie_sites, host_of
from hatbox.cookies.sign_in_cookies import is_sign_in_cookie
from hatbox.cookies.use_times import is_use
from hatbox.identity.ids import cookie_store_id_of
from hatbox.manager_api.sites.cookie_ids import cookie_id
from hatbox.manager_api.sites.stored_site_data import SiteDataSize, site_data_sizes
from hatbox.store.base import CookieDescription, CookieMetadata, Transaction

__all__ = ["CookieInfo", "SiteRows", "list_cookies", "read_metadata", "sites_in"]


class CookieInfo(msgspec.Struct, frozen=True, gc=False):
    """A cookie without its value."""

    id: str
    site: str
    name: str
    domain: str
    host_only: bool
    path: str
    secure: bool
    http_only: bool
    same_site: str
    partition_key: PartitionKey | None
    expires: int | None
    created: int
    last_used: int | None
    sign_in: bool


class SiteRows(NamedTuple):
    """What is stored for some stores, without values."""

    cookies: list[CookieMetadata]
    site_data: list[tuple[int, str, int]]
    """Stores, origins and bytes."""


def read_metadata(transaction: Transaction, stores: Collection[int]) -> SiteRows:
    """The cookies and the sizes of site data of these stores."""
    return SiteRows(transaction.cookies.metadata(stores), transaction.site_data.sizes(stores))


def sites_in(parts: Sequence[SiteRows], now: float) -> list[dict[str, Any]]:
    """The sites of these by name, as scripts see them. Pure: a hundred thousand cookies take a thread."""
    cookies = chain.from_iterable(part.cookies for part in parts)
    sizes = chain.from_iterable(part.site_data for part in parts)
    found: dict[str, list[dict[str, Any]]] = {}
    stored = site_data_sizes(sizes)
    for store, sites in sorted(cookie_sites(cookies, now).items()):
        for site in sites:
            found.setdefault(site.host, []).append(_entry(store, site, stored.pop((store, site.host), SiteDataSize())))
    for (store, host), data in sorted(stored.items()):
        found.setdefault(host, []).append(_entry(store, CookieSite(host, 0, None, 0.0), data))
    return [{"host": host, "identities": sorted(found[host], key=_is_signed_out)} for host in sorted(found)]


def _entry(store: int, site: CookieSite, data: SiteDataSize) -> dict[str, Any]:
    return {
        "cookieStoreId": cookie_store_id_of(store),
        "signedInSince": None if site.signed_in_since is None else int(site.signed_in_since * 1000),
        "lastUsed": int(site.last_used * 1000) if site.last_used > 0 else None,
        "cookies": site.cookies,
        "origins": data.origins,
        "siteData": data.size,
    }


def list_cookies(transaction: Transaction, user_context_id: int, host: str | None, now: float) -> list[CookieInfo]:
    """The cookies of a store, or those of one site: by site, then by name."""
    expect_identity(transaction, user_context_id)
    now = cookie_time(transaction, now)
    rows = [(host_of(row[0]), row) for row in transaction.cookies.describe(user_context_id)]
    wanted = [(site, row) for site, row in rows if host in (None, site) and (row[8] is None or row[8] > now)]
    return [_cookie_info(site, row, now) for site, row in sorted(wanted, key=_order)]


def _is_signed_out(identity: dict[str, Any]) -> bool:
    return identity["signedInSince"] is None


def _order(found: tuple[str, CookieDescription]) -> Any:
    site, row = found
    return site, row[3], row[:5]


def _cookie_info(site: str, row: CookieDescription, now: float) -> CookieInfo:
    domain, host_only, path, name, partition, secure, http_only, same_site, expires, created, used = row
    key = (domain, host_only, path, name, partition)
    view = cookie_view(cookie_of((*key, "", secure, http_only, same_site, expires, 0, created, used)), "")
    return CookieInfo(
        id=cookie_id(key),
        site=site,
        name=view.name,
        domain=domain,
        host_only=view.host_only,
        path=view.path,
        secure=view.secure,
        http_only=view.http_only,
        same_site=view.same_site,
        partition_key=view.partition_key,
        expires=None if expires is None else _milliseconds(expires),
        created=_milliseconds(created),
        last_used=_milliseconds(used) if is_use(used) else None,
        sign_in=is_sign_in_cookie(name, http_only=http_only == 1, expires=expires, now=now),
    )


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
