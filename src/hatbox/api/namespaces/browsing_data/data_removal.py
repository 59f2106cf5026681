"""What the functions of the namespace browsingData do, each as a function of a transaction. The words are Firefox's.

Of the kinds of data that a browser has, a profile holds cookies and what pages keep in local storage and IndexedDB.
Caches and service workers an engine may have, which is told. Of the others there is nothing: to remove all of it is
done as soon as it is asked for.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from hatbox.cookies.cookie import ChangeCause, JarChange
from hatbox.cookies.cookie_rows import find_cookies, write_changes
from hatbox.errors import ApiError, ArgumentError
from hatbox.identities.ids import store_user_context_id
from hatbox.store.base import Transaction
from hatbox.tabs.site_data import CACHE, DATABASES, LOCAL_STORAGE, SERVICE_WORKERS, clear_site_data
from hatbox.urls.url import parse_url

__all__ = ["DataRemoval", "Options", "removal_of", "remove", "settings"]

Options: TypeAlias = Mapping[str, Any]

_PRIVATE: Final = "firefox-private"
_BY_STORE: Final = frozenset({"cookies", "indexedDB", "localStorage"})
_PARTS: Final = {
    "localStorage": LOCAL_STORAGE,
    "indexedDB": DATABASES,
    "cache": CACHE,
    "serviceWorkers": SERVICE_WORKERS,
}
_EVERYTHING: Final = 0  # since 1970


class DataRemoval(NamedTuple):
    """The options of a call: None is any."""

    since: float | None
    """In seconds since 1970."""
    hosts: frozenset[str] | None
    cookie_store_id: str | None
    is_web: bool
    """Whether it is about web sites only, and not about what Firefox does not know either."""


class _Kinds(NamedTuple):
    cache: bool = True
    cookies: bool = True
    history: bool = True
    form_data: bool = True
    downloads: bool = True


class _Since(NamedTuple):
    since: int = _EVERYTHING


class _BrowsingDataSettings(NamedTuple):
    options: _Since = _Since()
    data_to_remove: _Kinds = _Kinds()
    data_removal_permitted: _Kinds = _Kinds()


def settings(_: Transaction) -> _BrowsingDataSettings:
    """What a user would remove. There is nothing that anybody could have chosen, so it is all."""
    return _BrowsingDataSettings()


def removal_of(path: str, options: Options) -> DataRemoval:
    """The options of a call, in their normal form, checked for what a schema cannot say."""
    for place, host in enumerate(options["hostnames"] or ()):
        if not _is_host(host):
            problem = f"Error processing hostnames.{place}: Error: Invalid hostname {host}"
            raise ArgumentError(f"Type error for parameter options ({problem}) for {path}.")
    kinds = options["originTypes"] or {}
    return DataRemoval(
        _seconds(options["since"]),
        None if options["hostnames"] is None else frozenset(options["hostnames"]),
        options["cookieStoreId"] or None,
        not (kinds.get("protectedWeb") or kinds.get("extension")),
    )


def remove(transaction: Transaction, removal: DataRemoval, kinds: Sequence[str]) -> None:
    """Remove data of these kinds: all of it or, if one of them cannot be removed so, nothing."""
    if not removal.is_web:
        raise ApiError("Firefox does not support protectedWeb or extension as originTypes.")
    if removal.cookie_store_id is not None:
        for kind in kinds:
            if kind not in _BY_STORE:
                raise ApiError(f"Firefox does not support clearing {kind} with 'cookieStoreId'.")
    if "localStorage" in kinds and removal.since:
        raise ApiError("Firefox does not support clearing localStorage with 'since'.")
    parts = [part for kind, part in _PARTS.items() if kind in kinds]
    for number in _stores(transaction, removal.cookie_store_id):
        if "cookies" in kinds:
            _remove_cookies(transaction, number, removal)
        if parts:
            clear_site_data(transaction, number, parts, removal.hosts)


def _stores(transaction: Transaction, cookie_store_id: str | None) -> Iterable[int]:
    if cookie_store_id is None:
        return [0, *(row[0] for row in transaction.identities.find())]
    if cookie_store_id == _PRIVATE:
        return []
    number = store_user_context_id(cookie_store_id)
    if number is None or (number and transaction.identities.get(number) is None):
        raise ApiError(f"Invalid cookieStoreId: {cookie_store_id}")
    return [number]


def _remove_cookies(transaction: Transaction, number: int, removal: DataRemoval) -> None:
    domains = None if removal.hosts is None else sorted(removal.hosts)
    found = [] if domains == [] else find_cookies(transaction, number, domains=domains)
    gone = [cookie for cookie in found if removal.since is None or cookie.created >= removal.since]
    if gone:
        write_changes(transaction, number, [JarChange(cookie, True, ChangeCause.EXPLICIT) for cookie in gone])


def _is_host(text: str) -> bool:
    """Whether it is a host as URLs have it, with or without a port. One with a dot before it is found nowhere."""
    host = text.removeprefix(".")
    url = parse_url(f"http://{host}") if host else None
    return url is not None and url.host + url.after_host == host


def _seconds(since: str | int | None) -> float | None:
    if isinstance(since, str):
        return _date(since).timestamp()
    return None if since is None else since / 1000


def _date(text: str) -> datetime.datetime:
    """A date as JavaScript reads it: without a time it is the beginning of that day in UTC."""
    date = datetime.datetime.fromisoformat(text)
    return date if date.tzinfo else date.replace(tzinfo=datetime.UTC)
