"""Site data by site: localStorage and IndexedDB, as stored by engines. Transaction functions, which read none of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hatbox.cookies.cookie_rows import expect_identity
from hatbox.cookies.cookie_sites import host_of
from hatbox.manager_api.sites.cookie_removal import Selection, remove_cookies
from hatbox.manager_api.sites.cookie_undo import CookieUndo
from hatbox.store.base import Transaction
from hatbox.tabs.site_data import delete_site_data
from hatbox.urls.url import parse_url

__all__ = ["DeletedSiteData", "SiteDataSize", "remove_everything", "site_data_sizes"]


class SiteDataSize(NamedTuple):
    """The stored site data of one site in one store."""

    origins: int = 0
    size: int = 0
    """Bytes."""


class DeletedSiteData(NamedTuple):
    """The result of a removal of cookies and site data."""

    cookies: CookieUndo
    site_data: SiteDataSize


def site_data_sizes(sizes: Iterable[tuple[int, str, int]]) -> dict[tuple[int, str], SiteDataSize]:
    """The stored site data by store and site. Pure."""
    found: dict[tuple[int, str], SiteDataSize] = {}
    for store, origin, size in sizes:
        if site := _site_of(origin):
            known = found.get((store, site), SiteDataSize())
            found[store, site] = SiteDataSize(known.origins + 1, known.size + size)
    return found


def remove_everything(
    transaction: Transaction, user_context_id: int, selection: Selection, now: float
) -> DeletedSiteData:
    """Remove the cookies and the site data of a site, or of all sites. Running engines clear their copies."""
    expect_identity(transaction, user_context_id)
    hosts = None if selection.site is None else _hosts_of_site(transaction, user_context_id, selection.site)
    cookies = remove_cookies(transaction, user_context_id, selection, now)
    if hosts is not None:  # an engine may have data of these that is not saved yet
        hosts |= {change.key[0] for change in cookies.changes}
    return DeletedSiteData(cookies, SiteDataSize(*delete_site_data(transaction, user_context_id, hosts)))


def _hosts_of_site(transaction: Transaction, user_context_id: int, site: str) -> set[str]:
    """The hosts of a site that have stored data, with their ports, and the site itself."""
    origins = [origin for _, origin, _ in transaction.site_data.sizes([user_context_id]) if _site_of(origin) == site]
    return {site, *(origin.partition("://")[2] for origin in origins)}


def _site_of(origin: str) -> str:
    url = parse_url(origin)
    return host_of(url.host) if url is not None else ""
