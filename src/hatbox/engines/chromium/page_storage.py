"""Cookies and site data of the documents of one page: observes changes, and clears site data."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

from hatbox.engines.chromium.cookie_polling import CookiePoller
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.navigation_state import NavigationState
from hatbox.engines.chromium.sessions import Session
from hatbox.engines.chromium.site_data_sync import SiteDataSync
from hatbox.tasks import Tasks

__all__ = ["PageStorage", "origin_of"]

_COOKIE_READ_DELAY: Final = 0.05  # page_observer.js sends one message for all changes within this time


class PageStorage:
    """Notifies the cookie poller and the site data of a context of changes in one page."""

    def __init__(
        self, session: Session, state: NavigationState, cookies: CookiePoller, site_data: SiteDataSync, tasks: Tasks
    ) -> None:
        self.needs_cookie_polling = False
        """Whether scripts in the page can change cookies without a signal."""
        self._session = session
        self._state = state
        self._cookies = cookies
        self._site_data = site_data
        self._tasks = tasks
        self._tracked_origins: set[str] = set()
        self._listen()

    def on_document(self, origin: str, *, is_secure: bool) -> None:
        """A new main document: only a secure context has `cookieStore` events."""
        self.needs_cookie_polling = origin.startswith("http") and not is_secure

    def on_document_end(self) -> None:
        """The document has crashed, or was replaced or closed: perhaps before it sent a message about its cookies."""
        self._cookies.cookies_changed()

    def on_message(self, message: str) -> None:
        """Read cookies after a message of page_observer.js, if it is about cookies or if these are polled."""
        if message == "cookiesUnobservable":
            self.needs_cookie_polling = True
        if message == "cookies":
            asyncio.get_running_loop().call_later(_COOKIE_READ_DELAY, self._cookies.cookies_changed)
        elif self.needs_cookie_polling:
            self._cookies.cookies_changed()

    def on_cross_site_frame(self) -> None:
        """A frame has moved to another process, which this session does not reach."""
        self.needs_cookie_polling = True
        self._cookies.cookies_changed()

    def track(self, url: str) -> None:
        """Enable the IndexedDB events of the origin of a URL."""
        origin = origin_of(url)
        if origin and origin not in self._tracked_origins:
            self._tracked_origins.add(origin)
            params = {"storageKey": f"{origin}/"}
            self._tasks.spawn(self._session.send("Storage.trackIndexedDBForStorageKey", params))

    def save_later(self, url: str) -> None:
        """Schedule saving the site data of the origin of a URL."""
        if origin := origin_of(url):
            self._site_data.changed(origin)

    async def clear(self, origin: str, storage_types: Iterable[str]) -> None:
        """Clear site data of an origin in the context of this page, open documents included; `*` is all origins."""
        params = {"origin": origin, "storageTypes": ",".join(storage_types)}
        await self._session.send("Storage.clearDataForOrigin", params)

    async def clear_cache(self) -> None:
        """Clear the HTTP cache of the context of this page."""
        await self._session.send("Network.clearBrowserCache")

    def _listen(self) -> None:
        def on(name: str, listener: Callable[[dict[str, Any]], object]) -> None:
            self._session.on(name, log_exceptions(listener))

        for name in ("ItemAdded", "ItemUpdated", "ItemRemoved", "ItemsCleared"):
            on(f"DOMStorage.domStorage{name}", self._on_dom_storage)
        for name in ("Content", "List"):
            on(f"Storage.indexedDB{name}Updated", lambda event: self._on_changed(event["storageKey"]))

    def _on_dom_storage(self, event: dict[str, Any]) -> None:
        if event["storageId"]["isLocalStorage"]:
            self._on_changed(event["storageId"]["storageKey"])

    def _on_changed(self, storage_key: str) -> None:
        if "^" not in storage_key and not self._state.is_internal:  # "^" is in the key of partitioned storage
            self._site_data.changed(storage_key.removesuffix("/"))


def origin_of(url: str) -> str:
    """The origin of an http or https URL; empty for others."""
    scheme, _, rest = url.partition("://")
    authority = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    return f"{scheme}://{authority.rpartition('@')[2]}" if scheme in ("http", "https") else ""
