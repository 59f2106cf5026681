"""The cookie stores of a synchronous profile."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hatbox.cookies.cookie import Cookie, CookieKey, JarChange
from hatbox.cookies.cookie_stores import CookieStore, CookieStores
from hatbox.cookies.request_urls import RequestUrl
from hatbox.cookies.samesite import NO_PAGE, RequestContext
from hatbox.sync.loop_thread import LoopThread, SyncEvent

__all__ = ["SyncCookieStore", "SyncCookieStores"]


class SyncCookieStores:
    """The cookie stores of a profile."""

    def __init__(self, stores: CookieStores, loop: LoopThread) -> None:
        self._stores = stores
        self._loop = loop
        self.on_changed = SyncEvent(stores.on_changed, loop)
        """Emitted for each cookie stored or removed, by any process. Listeners run in the thread of the profile."""

    def open(self, cookie_store_id: str) -> SyncCookieStore:
        """Open the cookie store with this id. Raises InvalidIdentity if it does not exist."""
        return SyncCookieStore(self._loop.run(lambda: self._stores.open(cookie_store_id)), self._loop)

    def flush(self) -> None:
        """Save when cookies were last used. All other changes are durable when their call returns."""
        self._loop.run(self._stores.flush)


class SyncCookieStore:
    """The cookies of one identity. Each call reads changes by other processes first."""

    def __init__(self, store: CookieStore, loop: LoopThread) -> None:
        self._store = store
        self._run = loop.run

    @property
    def cookie_store_id(self) -> str:
        """The id of the store and of its identity."""
        return self._store.cookie_store_id

    def header(self, url: str | RequestUrl, context: RequestContext = NO_PAGE) -> str:
        """The Cookie header of a request; empty without cookies."""
        return self._run(lambda: self._store.header(url, context))

    def receive(
        self, set_cookie_values: Iterable[str | bytes], url: str | RequestUrl, context: RequestContext = NO_PAGE
    ) -> None:
        """Store the Set-Cookie values of a response."""
        return self._run(lambda: self._store.receive(set_cookie_values, url, context))

    def set(self, url: str | RequestUrl, **fields: Any) -> list[JarChange]:
        """Store a cookie given by its fields, as Jar.set() takes them. Raises CookieRejected with the reason."""
        return self._run(lambda: self._store.set(url, **fields))

    def remove(self, key: CookieKey) -> list[JarChange]:
        """Remove the cookie with this key, if it exists."""
        return self._run(lambda: self._store.remove(key))

    def clear(self, domain: str | None = None) -> list[JarChange]:
        """Remove all cookies, or those of a domain and its subdomains."""
        return self._run(lambda: self._store.clear(domain))

    def put(self, cookies: Iterable[Cookie]) -> list[JarChange]:
        """Store cookies unchanged, replacing those with the same key."""
        return self._run(lambda: self._store.put(cookies))

    def cookies(self) -> list[Cookie]:
        """All cookies that have not expired, oldest first."""
        return self._run(self._store.cookies)

    def __repr__(self) -> str:
        return f"<hatbox cookie store {self.cookie_store_id}>"
