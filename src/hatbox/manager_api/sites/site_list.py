"""Sites and their cookies, without values: transaction functions that read metadata only. Nothing is decrypted.

A site is the registrable domain of a cookie, as in the settings of browsers: a sign-in of accounts.site.example usually
has cookies of site.example too. An IP address, a single name such as localhost, or a public suffix is its own site. The
cookies of a partition (CHIPS) belong to the site that has set them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import msgspec

from hatbox.api.namespaces.cookies.cookie_views import cookie_view
from hatbox.api.namespaces.cookies.partition_keys import PartitionKey
from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_rows import cookie_of, expect_identity
from hatbox.cookies.cookie_sites import cookie_sites, host_of
from hatbox.cookies.sign_in_cookies import is_sign_in_cookie
from hatbox.identities.ids import cookie_store_id_of
from hatbox.manager_api.sites.cookie_ids import cookie_id
from hatbox.store.base import CookieDescription, CookieMetadata, Transaction

__all__ = ["CookieInfo", "list_cookies", "sites_in"]


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


def sites_in(parts: Iterable[Iterable[CookieMetadata]], now: float) -> list[dict[str, Any]]:
    """The sites of these cookies by name, as scripts see them. Pure: a hundred thousand cookies take a thread."""
    cookies = chain.from_iterable(parts)
    found: dict[str, list[dict[str, Any]]] = {}
    for store, sites in sorted(cookie_sites(cookies, now).items()):
        cookie_store_id = cookie_store_id_of(store)
        for host, count, since, used in sites:
            found.setdefault(host, []).append(
                {
                    "cookieStoreId": cookie_store_id,
                    "signedInSince": None if since is None else int(since * 1000),
                    "lastUsed": int(used * 1000) if used > 0 else None,
                    "cookies": count,
                }
            )
    return [{"host": host, "identities": sorted(found[host], key=_is_signed_out)} for host in sorted(found)]


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
        last_used=_milliseconds(used) if used > 0 else None,
        sign_in=is_sign_in_cookie(name, http_only=http_only == 1, expires=expires, now=now),
    )


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
