"""Durable cookie stores: one for each identity, shared by processes. Changes are durable when a call resolves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.clock import Clock
from hatbox.cookies.cookie import ChangeCause, Cookie, CookieKey, JarChange
from hatbox.cookies.cookie_clock import HIGH_WATER_ADVANCED, CookieClock
from hatbox.cookies.cookie_expiry import CookieExpiry
from hatbox.cookies.cookie_rows import COOKIE_CHANGED, STORE_REMOVED, cookie_of, decode_change, end_session
from hatbox.cookies.jar import Jar
from hatbox.cookies.jar_cache import JarCache, failed
from hatbox.cookies.parse import parse_set_cookie
from hatbox.cookies.request_urls import RequestUrl, as_request_url
from hatbox.cookies.samesite import NO_PAGE, RequestContext
from hatbox.cookies.storage_model import same_content
from hatbox.errors import InvalidIdentity
from hatbox.events import Event
from hatbox.identity.ids import cookie_store_id_of, user_context_id_of
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.store.recorded_calls import unrecorded

__all__ = ["CookieChange", "CookieStore", "CookieStores"]

_MICROSECONDS: Final = 1_000_000
_INSTANT: Final = 2e-6  # seconds; cookies are ordered by the microsecond in which they were created


class CookieChange(NamedTuple):
    """A cookie was stored in or removed from a cookie store."""

    cookie_store_id: str
    cookie: Cookie
    removed: bool
    cause: ChangeCause


class CookieStores:
    """The cookie stores of a profile."""

    def __init__(self, store: Store, clock: Clock, *, keep_session_cookies: bool = True) -> None:
        self._store = store
        self._keep_session_cookies = keep_session_cookies
        self._open: dict[int, CookieStore] = {}
        self._purged: set[int] = set()  # stores whose earlier sessions were ended by this process
        self._last_time = 0.0
        self._time = CookieClock(store)
        self._subscribed = False
        self.on_changed: Event[CookieChange] = Event(
            "cookies.on_changed", call_counter=lambda: store.last_call_id, on_listeners_changed=self._subscribe
        )
        """Emitted for each cookie stored or removed, by any process."""
        self.expiry = CookieExpiry(store, clock)
        """Its event is emitted when cookies expire. They are stored until they are purged."""

    async def open(self, cookie_store_id: str) -> CookieStore:
        """Open the cookie store with this id. Raises InvalidIdentity if it does not exist."""
        user_context_id = user_context_id_of(cookie_store_id)
        if user_context_id is None:
            raise InvalidIdentity(cookie_store_id)
        self._subscribe()
        if not self._time.is_loaded:
            await self._time.load()
        opened = self._open.get(user_context_id)
        if opened is None:  # registered before it is loaded, so that it receives changes meanwhile
            cache = JarCache(self._store, self._time, user_context_id)
            opened = self._open[user_context_id] = CookieStore(cache, self._time)
        cache = opened._cache
        if cache.is_stale:
            await self._load(cache)
        if user_context_id not in self._purged:
            self._purged.add(user_context_id)
            await cache.purge(keep_session_cookies=self._keep_session_cookies)
        return opened

    def prepare_row_access(self, user_context_id: int) -> float:
        """Prepare a transaction on the rows of a store. Returns the current time, never the same twice.

        Without `keep_session_cookies`, session cookies of earlier sessions are deleted first, as open() does.
        """
        if not self._keep_session_cookies and user_context_id not in self._purged:
            self._purged.add(user_context_id)
            with unrecorded():
                ended = self._store.write(lambda transaction: end_session(transaction, user_context_id))
            ended.add_done_callback(lambda done: self._purged.discard(user_context_id) if failed(done) else None)
        if not self._time.is_loaded:
            self._time.load_soon()
        self._last_time = max(self._time.now(), self._last_time + _INSTANT)
        return self._last_time

    async def flush(self) -> None:
        """Save when cookies were last used. All other changes are durable when their call resolves."""
        await asyncio.gather(self._time.flush(), *(opened.flush() for opened in list(self._open.values())))

    async def close(self) -> None:
        """Flush. If the profile is opened again, all jars are loaded again."""
        try:
            await self.flush()
        finally:
            self._invalidate_all()
            self._time.forget()
            self._purged.clear()

    async def _load(self, cache: JarCache) -> None:
        try:
            await cache.load()
        except InvalidIdentity:
            opened = self._open.get(cache.user_context_id)
            if not cache.is_loading and opened is not None and opened._cache is cache:
                del self._open[cache.user_context_id]
            raise
        if cache.removed:
            raise InvalidIdentity(cookie_store_id_of(cache.user_context_id))

    def _subscribe(self) -> None:
        if not self._subscribed:
            self._store.subscribe(self._on_change)
            self._subscribed = True

    def _invalidate_all(self) -> None:
        for opened in self._open.values():
            opened._cache.invalidate()

    def _on_change(self, record: ChangeRecord) -> None:
        if record.topic == RESYNC:
            self._invalidate_all()
            self._time.load_soon()
        elif record.topic == COOKIE_CHANGED:
            user_context_id, removed, cause, row = decode_change(record.payload)
            cookie = cookie_of(row)
            if user_context_id in self._open:
                self._open[user_context_id]._cache.apply_change(cookie, removed=removed)
            change = CookieChange(cookie_store_id_of(user_context_id), cookie, removed, ChangeCause(cause))
            self.on_changed.emit(change, record.call_id)
        elif record.topic == HIGH_WATER_ADVANCED:
            self._time.on_advanced(record.payload)
        elif record.topic == STORE_REMOVED and (opened := self._open.pop(int(record.payload), None)):
            opened._cache.removed = True


class CookieStore:
    """The cookies of one identity, or the default store. Each call reads changes by other processes first."""

    def __init__(self, cache: JarCache, clock: CookieClock) -> None:
        self._cache = cache
        self._clock = clock

    @property
    def cookie_store_id(self) -> str:
        """The id of the store and of its identity."""
        return cookie_store_id_of(self._cache.user_context_id)

    async def header(self, url: str | RequestUrl, context: RequestContext = NO_PAGE) -> str:
        """The Cookie header of a request; empty without cookies."""
        return (await self.jar()).header(url, self._clock.now(), context)

    async def delivered_header(self, url: str | RequestUrl, context: RequestContext = NO_PAGE) -> str:
        """As header(), but as of the last delivered change: for a caller that has just read all changes."""
        return (await self._cache.delivered_jar()).header(url, self._clock.now(), context)

    async def receive(
        self, set_cookie_values: Iterable[str | bytes], url: str | RequestUrl, context: RequestContext = NO_PAGE
    ) -> None:
        """Store the Set-Cookie values of a response. They are durable when this returns."""
        request_url = as_request_url(url)
        parsed = [each for each in map(parse_set_cookie, set_cookie_values) if each is not None]
        await self._cache.change(
            lambda jar, now: jar.store_parsed(parsed, request_url, now, context),
            names=[each.name for each in parsed],
            # An insecure response must not replace or shadow a secure cookie, also not one of another domain.
            domains=[request_url.host, *(each.domain for each in parsed if each.domain)]
            if request_url.secure
            else None,
        )

    async def set(self, url: str | RequestUrl, **fields: Any) -> list[JarChange]:
        """Store a cookie given by its fields, as Jar.set() takes them. Raises CookieRejected with the reason."""
        return await self._cache.change(lambda jar, now: jar.set(url, now, **fields))

    async def remove(self, key: CookieKey) -> list[JarChange]:
        """Remove the cookie with this key, if it exists."""
        return await self._cache.change(lambda jar, _: jar.remove(key), domains=[key.domain])

    async def clear(self, domain: str | None = None) -> list[JarChange]:
        """Remove all cookies, or those of a domain and its subdomains."""
        return await self._cache.change(lambda jar, _: jar.clear(domain), whole_store=True)

    async def put(self, cookies: Iterable[Cookie]) -> list[JarChange]:
        """Store cookies unchanged, replacing those with the same key: an export of another program."""
        cookies = list(cookies)

        def put(jar: Jar, _: float) -> list[JarChange]:
            changes: list[JarChange] = []
            for cookie in cookies:
                if old := jar.get(cookie.key):
                    changes.append(JarChange(old, True, ChangeCause.OVERWRITE))
                changes.append(JarChange(cookie, False, ChangeCause.EXPLICIT))
            jar.load(change.cookie for change in changes if not change.removed)
            return changes

        return await self._cache.change(put, domains=[])

    async def merge(self, changed: Iterable[Cookie], removed: Iterable[CookieKey]) -> list[JarChange]:
        """Apply the changes that a browser has made to its copy of these cookies.

        A changed cookie is as old as the one that it replaces. Expired cookies are not removed: the store does so by
        its own clock.
        """
        changed, removed = list(changed), list(removed)

        def merge(jar: Jar, now: float) -> list[JarChange]:
            changes: list[JarChange] = []
            for offset, cookie in enumerate(changed):
                old = jar.get(cookie.key)
                if old is None:
                    sequence, created = int(now * _MICROSECONDS) + offset, now
                elif same_content(old, cookie):
                    continue
                else:
                    changes.append(JarChange(old, True, ChangeCause.OVERWRITE))
                    sequence, created = old.sequence, old.created
                new = msgspec.structs.replace(cookie, sequence=sequence, created=created, last_access=now)
                jar.load([new])
                changes.append(JarChange(new, False, ChangeCause.EXPLICIT))
            for key in removed:
                if (old := jar.get(key)) is not None and not old.expired(now):
                    changes += jar.remove(key)
            return changes

        keys = [*(cookie.key for cookie in changed), *removed]
        return await self._cache.change(merge, names=[key.name for key in keys], domains=[key.domain for key in keys])

    async def cookies(self) -> list[Cookie]:
        """All cookies that have not expired, oldest first."""
        return (await self.jar()).all(self._clock.now())

    async def jar(self) -> Jar:
        """The current jar, for reading. Changes made to it directly are not stored."""
        return await self._cache.jar()

    async def flush(self) -> None:
        """Save when cookies were last used. All other changes are durable when their call resolves."""
        await self._cache.flush()

    def __repr__(self) -> str:
        return f"<hatbox cookie store {self.cookie_store_id}>"
