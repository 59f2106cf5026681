"""Which identities have a site or a tab whose name contains a text."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of
from hatbox.manager_api.cookie_domains import valid_domains
from hatbox.store.base import Store, TabText

__all__ = ["search_content"]


async def search_content(store: Store, text: str) -> list[str]:
    """The cookieStoreIds, in no order. Upper and lower case are the same."""
    searched = text.strip().casefold()
    if not searched:
        return []
    domains = await valid_domains(store)
    tabs = await store.read(lambda transaction: transaction.tabs.texts(), single_statement=True)
    stores = sorted(await asyncio.to_thread(_matching, domains, tabs, searched))
    return [each for each in map(cookie_store_id_of, stores) if each != DEFAULT_COOKIE_STORE_ID]


def _matching(domains: Iterable[tuple[int, str]], tabs: Iterable[TabText], text: str) -> set[int]:
    """The stores. The name of a site is the end of the domain of its cookies."""
    found = {store for store, domain in domains if text in domain}
    return found.union(
        store for store, title, url, target in tabs if text in title.casefold() or text in (target or url).casefold()
    )
