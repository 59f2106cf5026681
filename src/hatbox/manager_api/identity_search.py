"""Which identities have a site or a tab whose name contains a text. Transaction functions."""

from __future__ import annotations

from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_sites import host_of
from hatbox.identities.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of
from hatbox.store.base import Transaction

__all__ = ["search_content"]


def search_content(transaction: Transaction, text: str, now: float) -> list[str]:
    """The cookieStoreIds, in no order. Upper and lower case are the same. `now` is the time of the store."""
    searched = text.strip().casefold()
    if not searched:
        return []
    stores = _with_site(transaction, searched, now) | _with_tab(transaction, searched)
    return [each for each in map(cookie_store_id_of, sorted(stores)) if each != DEFAULT_COOKIE_STORE_ID]


def _with_site(transaction: Transaction, text: str, now: float) -> set[int]:
    time = cookie_time(transaction, now)
    domains = {
        (store, domain)
        for store, domain, _, _, expires, _, _ in transaction.cookies.metadata()
        if expires is None or expires > time
    }
    return {store for store, domain in domains if text in domain or text in host_of(domain)}


def _with_tab(transaction: Transaction, text: str) -> set[int]:
    return {
        tab.store
        for tab in transaction.tabs.find()
        if text in tab.title.casefold() or text in (tab.target or tab.url).casefold()
    }
