"""Functions of the namespace browsingData: transaction functions. Error messages match Firefox.

A profile stores cookies, localStorage, IndexedDB, visited pages and closed tabs. Engines have caches and service
workers, and clear them on request. The list of downloads is in memory, and the namespace clears it. Other
data types do not exist here, so removing them does nothing.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from hatbox.cookies.cookie import ChangeCause, JarChange
from hatbox.cookies.cookie_rows import find_cookies, write_changes
from hatbox.errors import ApiError, ArgumentError
from hatbox.history.visits import clear_history, delete_hosts, delete_visits
from hatbox.identity.ids import user_context_id_of
from hatbox.store.base import Transaction
from hatbox.tabs.closed_tabs import clear_closed_tabs
from hatbox.tabs.site_data import CACHE, DATABASES, LOCAL_STORAGE, SERVICE_WORKERS, clear_site_data
from hatbox.urls.url import parse_url

__all__ = ["DataRemoval", "Options", "removal_of", "remove", "settings"]

Options: TypeAlias = Mapping[str, Any]

_PRIVATE_STORE: Final = "firefox-private"
_BY_STORE: Final = frozenset({"cookies", "indexedDB", "localStorage"})
_PARTS: Final = {
    "localStorage": LOCAL_STORAGE,
    "indexedDB": DATABASES,
    "cache": CACHE,
    "serviceWorkers": SERVICE_WORKERS,
}
_EPOCH: Final = 0


class DataRemoval(NamedTuple):
    """Parsed browsingData.RemovalOptions. None matches any."""

    since: float | None
    """Seconds since 1970."""
    hosts: frozenset[str] | None
    cookie_store_id: str | None
    is_web: bool
    """Whether `originTypes` names only web sites; Firefox supports no other types."""


class _Kinds(NamedTuple):
    cache: bool = True
    cookies: bool = True
    history: bool = True
    form_data: bool = True
    downloads: bool = True


class _Since(NamedTuple):
    since: int = _EPOCH


class _BrowsingDataSettings(NamedTuple):
    options: _Since = _Since()
    data_to_remove: _Kinds = _Kinds()
    data_removal_permitted: _Kinds = _Kinds()


def settings(_: Transaction) -> _BrowsingDataSettings:
    """The user's settings. There is no user interface for them, so all data is selected."""
    return _BrowsingDataSettings()


def removal_of(path: str, options: Options) -> DataRemoval:
    """Parse normalized options, with the checks that the schema cannot express."""
    for index, host in enumerate(options["hostnames"] or ()):
        if not _is_host(host):
            problem = f"Error processing hostnames.{index}: Error: Invalid hostname {host}"
            raise ArgumentError(f"Type error for parameter options ({problem}) for {path}.")
    kinds = options["originTypes"] or {}
    return DataRemoval(
        _seconds(options["since"]),
        None if options["hostnames"] is None else frozenset(options["hostnames"]),
        options["cookieStoreId"] or None,
        not (kinds.get("protectedWeb") or kinds.get("extension")),
    )


def remove(transaction: Transaction, removal: DataRemoval, kinds: Sequence[str]) -> None:
    """Remove data of these types. Removes nothing if the options do not apply to one of them."""
    if not removal.is_web:
        raise ApiError("Firefox does not support protectedWeb or extension as originTypes.")
    if removal.cookie_store_id is not None:
        for kind in kinds:
            if kind not in _BY_STORE:
                raise ApiError(f"Firefox does not support clearing {kind} with 'cookieStoreId'.")
    if "localStorage" in kinds and removal.since:
        raise ApiError("Firefox does not support clearing localStorage with 'since'.")
    parts = [part for kind, part in _PARTS.items() if kind in kinds]
    for user_context_id in _user_context_ids(transaction, removal.cookie_store_id):
        if "cookies" in kinds:
            _remove_cookies(transaction, user_context_id, removal)
        if parts:
            clear_site_data(transaction, user_context_id, parts, removal.hosts)
    if "history" in kinds:
        _remove_history(transaction, removal)


def _user_context_ids(transaction: Transaction, cookie_store_id: str | None) -> Iterable[int]:
    if cookie_store_id is None:
        return [0, *(row[0] for row in transaction.identities.find())]
    if cookie_store_id == _PRIVATE_STORE:
        return []
    user_context_id = user_context_id_of(cookie_store_id)
    if user_context_id is None or (user_context_id and transaction.identities.get(user_context_id) is None):
        raise ApiError(f"Invalid cookieStoreId: {cookie_store_id}")
    return [user_context_id]


def _remove_cookies(transaction: Transaction, user_context_id: int, removal: DataRemoval) -> None:
    domains = None if removal.hosts is None else sorted(removal.hosts)
    found = [] if domains == [] else find_cookies(transaction, user_context_id, domains=domains)
    removed = [cookie for cookie in found if removal.since is None or cookie.created >= removal.since]
    if removed:
        write_changes(
            transaction, user_context_id, [JarChange(cookie, True, ChangeCause.EXPLICIT) for cookie in removed]
        )


def _remove_history(transaction: Transaction, removal: DataRemoval) -> None:
    """Remove visited pages, and closed tabs as Firefox does. With hosts, only pages of these."""
    if removal.hosts is not None:
        delete_hosts(transaction, removal.hosts, removal.since)
    elif removal.since:
        delete_visits(transaction, removal.since, math.inf)
    else:
        clear_history(transaction)
    clear_closed_tabs(transaction, removal.since, removal.hosts)


def _is_host(text: str) -> bool:
    """Whether a text is a canonical host, with or without a port. A leading dot is valid, but matches no cookie."""
    host = text.removeprefix(".")
    url = parse_url(f"http://{host}") if host else None
    return url is not None and url.host + url.port_suffix == host


def _seconds(since: str | int | None) -> float | None:
    if isinstance(since, str):
        return _date(since).timestamp()
    return None if since is None else since / 1000


def _date(text: str) -> datetime.datetime:
    """Parse a date as JavaScript does. Without a time zone it is in UTC."""
    date = datetime.datetime.fromisoformat(text)
    return date if date.tzinfo else date.replace(tzinfo=datetime.UTC)
