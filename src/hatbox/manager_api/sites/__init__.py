"""The namespace hatbox.sites: who is signed in where, and the cookies and site data of each identity.

Values of cookies leave only through `value`, `curl` and `exportFile`, each for what the caller names. Those of removed
cookies are in memory for a minute, for `undo`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.cookies.cookie_views import cookie_view
from hatbox.api.services import Services
from hatbox.clients.curl_command import curl_command
from hatbox.cookies.cookie import Cookie
from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_expiry import ExpiredCookies
from hatbox.cookies.cookie_rows import COOKIE_CHANGED, STORE_REMOVED, cookie_of, decode_change, expect_identity
from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.cookies.request_urls import parse_request_url
from hatbox.cookies.sign_in_cookies import looks_like_sign_in
from hatbox.engines.site_data_holders import SiteDataHolders
from hatbox.errors import ApiError, InvalidIdentity
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of, user_context_id_of
from hatbox.identity.settings import NO_SETTINGS
from hatbox.manager_api.coalesced_changes import ChangedIds, CoalescedChanges
from hatbox.manager_api.cookie_domains import all_stores
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.manager_api.partial_reads import read_parts
from hatbox.manager_api.sites import cookie_removal, cookie_transfer, site_list
from hatbox.manager_api.sites.cookie_ids import key_of_cookie_id
from hatbox.manager_api.sites.cookie_undo import CookieUndo
from hatbox.manager_api.sites.stored_site_data import remove_everything
from hatbox.manager_api.undo_records import UndoExpired, UndoRecords
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.tabs.site_data import SITE_DATA_CLEARED, SITE_DATA_SAVED, SiteDataRemoval
from hatbox.urls.hosts import is_trustworthy_host
from hatbox.urls.url import parse_url

__all__ = ["implement"]

T = TypeVar("T")

_UNDO_SECONDS: Final = 60.0
_SIGN_IN_WEIGHT: Final = 100


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:
    """Implement the namespace."""
    return _Sites(schema, services, profile)


class _ChangedStores(NamedTuple):
    cookie_store_ids: Sequence[str]
    all: bool


class _Sites(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> None:
        self._services = services
        self._profile = profile
        self._undo = UndoRecords[CookieUndo](_UNDO_SECONDS)
        changed = CoalescedChanges(services.store, "sites.onChanged", _DECODERS)
        changed.follow(services.cookies.expiry.on_expired, _with_expired)
        binding = EventBinding(changed, lambda _, payload: (_ChangedStores(payload.ids, payload.all),))
        super().__init__(schema, services.store, {"onChanged": binding})

    def list(self, details: Mapping[str, Any] | None) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._list(_stores_of(details or {})))

    def cookies(self, cookie_store_id: str, host: str | None) -> asyncio.Future[Any]:
        store, now = self._access(cookie_store_id)
        return self._read("cookies", site_list.list_cookies, store, host, now)

    def value(self, cookie_store_id: str, cookie: str) -> asyncio.Future[Any]:
        store, _ = self._access(cookie_store_id)
        return self._read("value", _value, store, key_of_cookie_id(cookie))

    def remove(self, cookie_store_id: str, what: Mapping[str, Any]) -> asyncio.Future[Any]:
        store, now = self._access(cookie_store_id)
        selection = _selection(what)
        return asyncio.ensure_future(
            self._remove_all(store, selection, now) if what["siteData"] else self._remove(store, selection, now)
        )

    def undo(self, token: str) -> asyncio.Future[Any]:
        return self._run("undo", self._undo_change(token))

    def forget(self, token: str) -> asyncio.Future[Any]:
        self._undo.forget(token)
        return _resolved(None)

    def curl(self, cookie_store_id: str, host: str, url: str | None) -> asyncio.Future[Any]:
        self._access(cookie_store_id)
        return asyncio.ensure_future(_curl_for(self._services, cookie_store_id, host, url))

    def export_file(self, cookie_store_id: str, format_name: str, plain: bool | None) -> asyncio.Future[Any]:
        store, now = self._access(cookie_store_id)
        return self._run("exportFile", self._export(store, format_name, bool(plain), now))

    def import_file(self, cookie_store_id: str, name: str, text: str) -> asyncio.Future[Any]:
        store, now = self._access(cookie_store_id)
        return self._run("importFile", self._import(store, name, text, now))

    def _access(self, cookie_store_id: str) -> tuple[int, float]:
        """The userContextId of a store, and the current time."""
        user_context_id = user_context_id_of(cookie_store_id)
        if user_context_id is None:
            raise InvalidIdentity(cookie_store_id)
        return user_context_id, self._services.cookies.prepare_row_access(user_context_id)

    async def _list(self, stores: Sequence[int] | None) -> Any:
        if stores is None:
            stores = await self._store.read(all_stores, single_statement=True)
        now = self._store.time()
        time = await self._store.read(lambda transaction: cookie_time(transaction, now), single_statement=True)
        parts = await read_parts(self._store, stores, site_list.read_metadata)
        return await asyncio.to_thread(site_list.sites_in, parts, time)

    async def _remove(self, store: int, selection: cookie_removal.Selection, now: float) -> dict[str, Any]:
        removed = await self._write_whole(lambda each: cookie_removal.remove_cookies(each, store, selection, now))
        count = len(removed.changes)
        return {"removed": count, "undo": self._undo.add(removed) if count else None, "origins": 0, "siteData": 0}

    async def _remove_all(self, store: int, selection: cookie_removal.Selection, now: float) -> dict[str, Any]:
        """Remove cookies with site data, which cannot be restored."""
        removed, (origins, size) = await self._write_whole(lambda each: remove_everything(each, store, selection, now))
        return {"removed": len(removed.changes), "undo": None, "origins": origins, "siteData": size}

    async def _undo_change(self, token: str) -> Any:
        record = self._undo.take(token)
        if record is None:
            raise UndoExpired("These cookies can no longer be restored: they are in memory for at most a minute")
        now = self._services.cookies.prepare_row_access(record.user_context_id)
        try:
            return await self._write_whole(lambda each: cookie_removal.undo_changes(each, record, now))
        except InvalidIdentity:
            raise
        except BaseException:
            self._undo.put_back(token, record)  # the caller can try again
            raise

    async def _export(self, store: int, format_name: str, plain: bool, now: float) -> Any:
        if self._store.is_encrypted and not plain:
            raise ApiError(
                "This profile is encrypted, and the file would be plain text. Nothing was exported. To export it "
                "anyway, pass plain"
            )
        bundle = await self._store.read(lambda each: cookie_transfer.export_identity(each, store, now))
        return await asyncio.to_thread(cookie_transfer.exported_file, bundle, format_name)

    async def _import(self, store: int, name: str, text: str, now: float) -> Any:
        bundle = await asyncio.to_thread(cookie_transfer.read_text, name, text)
        has_site_data = any(entry.site_data for entry in bundle.entries)
        running = SiteDataHolders(await self._profile.running_engines() if has_site_data else [])
        report, changes = await self._write_whole(
            lambda each: cookie_transfer.import_into(each, store, bundle, now, running)
        )
        token = self._undo.add(changes) if changes.changes else None
        return cookie_transfer.file_report(report, token)

    async def _write_whole(self, function: Callable[[Transaction], T]) -> T:
        """Run a transaction to its end, also if the caller stops waiting: the record of its undo must not be lost."""
        return await asyncio.shield(self._store.write(function))


def _value(transaction: Transaction, store: int, key: tuple[str, int, str, str, str]) -> str:
    expect_identity(transaction, store)
    for row in transaction.cookies.find(store, names=[key[3]], domains=[key[0]]):
        if row[:5] == key:
            return cookie_view(cookie_of(row), "").value
    raise ApiError("This cookie is gone. It was deleted or has expired, here or in another program")


def _selection(what: Mapping[str, Any]) -> cookie_removal.Selection:
    given = [name for name in ("cookie", "host", "all") if what[name] not in (None, False)]
    if len(given) != 1:
        raise ApiError("Pass exactly one of: cookie, host, all")
    if what["siteData"] and what["cookie"] is not None:
        raise ApiError("siteData needs host or all: site data belongs to no single cookie")
    key = None if what["cookie"] is None else key_of_cookie_id(what["cookie"])
    return cookie_removal.Selection(key, what["host"])


def _stores_of(details: Mapping[str, Any]) -> Sequence[int] | None:
    given = details.get("cookieStoreIds")
    if given is None:
        return None
    numbers = {each: user_context_id_of(each) for each in given}
    for each, number in numbers.items():
        if number is None:
            raise InvalidIdentity(each)
    return [number for number in numbers.values() if number is not None]


def _store_of_change(payload: bytes) -> list[str]:
    return [cookie_store_id_of(decode_change(payload)[0])]


def _removed_store(payload: bytes) -> list[str]:
    return [cookie_store_id_of(int(payload))]


def _with_expired(expired: ExpiredCookies) -> ChangedIds:
    return ChangedIds(all=True) if expired.all else ChangedIds.of(map(cookie_store_id_of, expired.stores))


def _cleared_store(payload: bytes) -> list[str]:
    return [cookie_store_id_of(msgspec.json.decode(payload, type=SiteDataRemoval).number)]


_DECODERS: Final = {
    COOKIE_CHANGED: _store_of_change,
    STORE_REMOVED: _removed_store,
    SITE_DATA_CLEARED: _cleared_store,
    SITE_DATA_SAVED: lambda payload: [msgspec.json.decode(payload, type=str)],
}


def _resolved(value: Any) -> asyncio.Future[Any]:
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    done.set_result(value)
    return done


async def _curl_for(services: Services, cookie_store_id: str, host: str, url: str | None) -> str:
    """The command for a URL of a site, by default its start page. Raises ApiError if the site gets no cookies."""
    store = await services.cookies.open(cookie_store_id)
    if url is None:
        url = _start_page(host, await store.cookies())
    elif default_public_suffixes().site(parse_request_url(url).host) != host or parse_url(url) is None:
        raise ApiError(f"{url[:80]!r} is not a URL of {host}. Use https://{host}/")
    cookies = await store.header(url)
    if not cookies:
        raise ApiError(f"No cookies are sent to {url}")
    settings = NO_SETTINGS
    if cookie_store_id != DEFAULT_COOKIE_STORE_ID:
        settings = await services.identities.settings_cache.current(cookie_store_id)
    return curl_command(url, cookies, settings)


def _start_page(site: str, cookies: list[Cookie]) -> str:
    """The start page of the host of a site that gets the cookies of its sign-in. Partitioned cookies do not count."""
    site_of = default_public_suffixes().site
    found = [each for each in cookies if each.partition is None and site_of(each.domain) == site]
    if not found:
        raise ApiError(f"No cookies of {site} are sent with a request that is not of a page of another site")
    weights = Counter({site: 1})
    shared = 0
    for cookie in found:
        weight = _SIGN_IN_WEIGHT if looks_like_sign_in(cookie.name, cookie.http_only) else 1
        if not cookie.host_only and cookie.domain == site:
            shared += weight  # every host of the site gets it
        else:
            weights[cookie.domain] += weight
    if shared:
        weights[site] += 1
    host = max(weights, key=lambda each: (weights[each], each == site, each))
    is_local = is_trustworthy_host(host) and not any(each.secure for each in found)
    return f"{'http' if is_local else 'https'}://{host}/"
