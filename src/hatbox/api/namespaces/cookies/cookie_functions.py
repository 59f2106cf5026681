"""Functions of the namespace cookies: transaction functions. Error messages match Firefox.

`details` are normalized by the schema; `hosts` are the host permissions of the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from hatbox.api.namespaces.cookies.cookie_query import find, query_all, query_one
from hatbox.api.namespaces.cookies.cookie_views import CookieStoreView, CookieView, RemovedCookie, cookie_view
from hatbox.api.namespaces.cookies.partition_keys import partition_key
from hatbox.api.namespaces.cookies.set_cookie_details import cookie_from_details
from hatbox.cookies.cookie import ChangeCause, Cookie, JarChange
from hatbox.cookies.cookie_rows import find_cookies, put_cookie, write_changes
from hatbox.errors import ApiError
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of, user_context_id_of
from hatbox.store.base import Transaction
from hatbox.urls.match_patterns import HostPermissions
from hatbox.urls.url import parse_url

__all__ = ["Details", "get", "get_all", "get_all_cookie_stores", "remove", "set_cookie"]

Details: TypeAlias = Mapping[str, Any]

_PRIVATE_STORE: Final = "firefox-private"


def get(transaction: Transaction, details: Details, hosts: HostPermissions, now: float) -> CookieView | None:
    """The cookie with this name that matches the URL: the longest path first, then the oldest."""
    query = query_one(details, hosts)
    user_context_id = _user_context_id(transaction, details)
    if user_context_id is None:
        return None
    found = find(transaction, user_context_id, query, now)
    return cookie_view(found[0], cookie_store_id_of(user_context_id)) if found else None


def get_all(transaction: Transaction, details: Details, hosts: HostPermissions, now: float) -> list[CookieView]:
    """All cookies that match the details: longer paths first, then older cookies."""
    query = query_all(details, hosts)
    user_context_id = _user_context_id(transaction, details)
    if user_context_id is None:
        return []
    store_id = cookie_store_id_of(user_context_id)
    return [cookie_view(cookie, store_id) for cookie in find(transaction, user_context_id, query, now)]


def set_cookie(transaction: Transaction, details: Details, hosts: HostPermissions, now: float) -> CookieView | None:
    """Set a cookie. Returns the result of get() for its URL and name, which may be another cookie or None."""
    if details["firstPartyDomain"] and details["partitionKey"] is not None:
        raise ApiError("Partitioned cookies cannot have a 'firstPartyDomain' attribute.")
    url = parse_url(details["url"])
    if url is None:
        raise ApiError(f'Invalid url: "{details["url"]}"')
    query = query_one(details, hosts)
    user_context_id = _user_context_id(transaction, details)
    if user_context_id is None:
        raise ApiError(f'Invalid cookie store id: "{details["storeId"]}"')
    cookie = cookie_from_details(details, url, hosts, now)
    if details["firstPartyDomain"]:
        raise ApiError("First-Party Isolation is not supported: 'firstPartyDomain' must be empty.")
    put_cookie(transaction, user_context_id, _with_stored_partition(transaction, user_context_id, cookie), now)
    found = find(transaction, user_context_id, query, now)
    return cookie_view(found[0], cookie_store_id_of(user_context_id)) if found else None


def remove(transaction: Transaction, details: Details, hosts: HostPermissions, now: float) -> RemovedCookie | None:
    """Remove the cookie that get() returns."""
    query = query_one(details, hosts)
    user_context_id = _user_context_id(transaction, details)
    found = [] if user_context_id is None else find(transaction, user_context_id, query, now)
    if user_context_id is None or not found:
        return None
    write_changes(transaction, user_context_id, [JarChange(found[0], True, ChangeCause.EXPLICIT)])
    store_id = cookie_store_id_of(user_context_id)
    return RemovedCookie(details["url"], details["name"], store_id, "", partition_key(found[0]))


def get_all_cookie_stores(transaction: Transaction) -> list[CookieStoreView]:
    """The default store and those of all identities, with their tabs."""
    user_context_ids = (0, *(row[0] for row in transaction.identities.find()))
    tab_ids: dict[int, list[int]] = {each: [] for each in user_context_ids}
    for tab in transaction.tabs.find():
        tab_ids[tab.store].append(tab.id)
    return [CookieStoreView(cookie_store_id_of(each), tuple(ids)) for each, ids in tab_ids.items()]


def _user_context_id(transaction: Transaction, details: Details) -> int | None:
    """The userContextId of a cookie store; None if it does not exist."""
    store_id = details["storeId"] or DEFAULT_COOKIE_STORE_ID
    if store_id == _PRIVATE_STORE:
        raise ApiError("Extension disallowed access to the private cookies storeId.")
    user_context_id = user_context_id_of(store_id)
    if user_context_id and transaction.identities.get(user_context_id) is None:
        return None
    return user_context_id


def _with_stored_partition(transaction: Transaction, user_context_id: int, cookie: Cookie) -> Cookie:
    """Use the partition of the cookie that is replaced: two stored partitions can have the same partitionKey."""
    if cookie.partition is not None:
        for old in find_cookies(transaction, user_context_id, names=[cookie.name], domains=[cookie.domain]):
            if old.key._replace(partition=None) == cookie.key._replace(partition=None) and (
                partition_key(old) == partition_key(cookie)
            ):
                cookie.partition = old.partition
    return cookie
