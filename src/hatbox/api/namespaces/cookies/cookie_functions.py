"""What the functions of the namespace cookies do, each as a function of a transaction. The words are Firefox's.

`details` are in the normal form of the schema, `hosts` those that the caller has permission for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from hatbox.api.namespaces.cookies.cookie_query import find, query_all, query_one
from hatbox.api.namespaces.cookies.cookie_views import CookieStoreView, CookieView, Removed, cookie_view
from hatbox.api.namespaces.cookies.partition_keys import partition_key
from hatbox.api.namespaces.cookies.set_cookie_details import cookie_from
from hatbox.cookies.cookie import ChangeCause, Cookie, JarChange
from hatbox.cookies.cookie_rows import find_cookies, put_cookie, write_changes
from hatbox.errors import ApiError
from hatbox.identities.ids import DEFAULT_STORE, cookie_store_id_of, store_user_context_id
from hatbox.store.base import Transaction
from hatbox.urls.match_patterns import HostPermissions
from hatbox.urls.url import parse_url

__all__ = ["Details", "get", "get_all", "get_all_cookie_stores", "remove", "set_"]

Details: TypeAlias = Mapping[str, Any]

_PRIVATE_STORE: Final = "firefox-private"


def get(transaction: Transaction, details: Details, hosts: HostPermissions, now: float) -> CookieView | None:
    """The cookie with this name that goes with this URL: that with the longest path, then the oldest."""
    query = query_one(details, hosts)
    number = _store(transaction, details)
    if number is None:
        return None
    found = find(transaction, number, query, now)
    return cookie_view(found[0], cookie_store_id_of(number)) if found else None


def get_all(transaction: Transaction, details: Details, hosts: HostPermissions, now: float) -> list[CookieView]:
    """All cookies that the details do not leave out, those with longer paths first, then older ones."""
    query = query_all(details, hosts)
    number = _store(transaction, details)
    if number is None:
        return []
    store_id = cookie_store_id_of(number)
    return [cookie_view(cookie, store_id) for cookie in find(transaction, number, query, now)]


def set_(transaction: Transaction, details: Details, hosts: HostPermissions, now: float) -> CookieView | None:
    """Set a cookie. Returns what `get` finds with this URL and name, which may be another one, or nothing."""
    if details["firstPartyDomain"] and details["partitionKey"] is not None:
        raise ApiError("Partitioned cookies cannot have a 'firstPartyDomain' attribute.")
    url = parse_url(details["url"])
    if url is None:
        raise ApiError(f'Invalid url: "{details["url"]}"')
    query = query_one(details, hosts)
    number = _store(transaction, details)
    if number is None:
        raise ApiError(f'Invalid cookie store id: "{details["storeId"]}"')
    cookie = cookie_from(details, url, hosts, now)
    if details["firstPartyDomain"]:
        raise ApiError("First-Party Isolation is not supported: 'firstPartyDomain' must be empty.")
    put_cookie(transaction, number, _in_its_place(transaction, number, cookie), now)
    found = find(transaction, number, query, now)
    return cookie_view(found[0], cookie_store_id_of(number)) if found else None


def remove(transaction: Transaction, details: Details, hosts: HostPermissions, now: float) -> Removed | None:
    """Remove the cookie that `get` would find."""
    query = query_one(details, hosts)
    number = _store(transaction, details)
    found = [] if number is None else find(transaction, number, query, now)
    if number is None or not found:
        return None
    write_changes(transaction, number, [JarChange(found[0], True, ChangeCause.EXPLICIT)])
    return Removed(details["url"], details["name"], cookie_store_id_of(number), "", partition_key(found[0]))


def get_all_cookie_stores(transaction: Transaction) -> list[CookieStoreView]:
    """The default store, and that of each identity, with the tabs that are open in it."""
    tab_ids: dict[int, list[int]] = {number: [] for number in (0, *(row[0] for row in transaction.identities.find()))}
    for tab in transaction.tabs.find():
        tab_ids[tab.store].append(tab.id)
    return [CookieStoreView(cookie_store_id_of(number), tuple(ids)) for number, ids in tab_ids.items()]


def _store(transaction: Transaction, details: Details) -> int | None:
    """The number of the store; None if there is none with this id."""
    store_id = details["storeId"] or DEFAULT_STORE
    if store_id == _PRIVATE_STORE:
        raise ApiError("Extension disallowed access to the private cookies storeId.")
    number = store_user_context_id(store_id)
    return number if number == 0 or (number and transaction.identities.get(number)) else None


def _in_its_place(transaction: Transaction, number: int, cookie: Cookie) -> Cookie:
    """The cookie with its partition written as in the cookie that it replaces: two spellings show as one."""
    if cookie.partition is not None:
        for old in find_cookies(transaction, number, name=cookie.name, domains=[cookie.domain]):
            if old.key._replace(partition=None) == cookie.key._replace(partition=None) and (
                partition_key(old) == partition_key(cookie)
            ):
                cookie.partition = old.partition
    return cookie
