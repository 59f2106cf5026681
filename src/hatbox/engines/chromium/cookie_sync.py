"""Cookie sync: copies cookie changes of one identity between its cookie store and its browser context, both ways.

CDP has no event for changed cookies. So after each sign of a change (`schedule_read`), all cookies are read and
compared with the previous read. Differences were made by the browser and are stored. Changes of the store that the
browser does not have are pushed to the browser. So no change is written back to its origin.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from typing import Any, Final

import msgspec
from playwright.async_api import Error as PlaywrightError

from hatbox.cookies.cookie import ChangeCause, Cookie, CookieKey, Partition, SameSite
from hatbox.cookies.cookie_stores import CookieChange, CookieStore
from hatbox.cookies.domains import parse_domain
from hatbox.cookies.storage_model import same_content
from hatbox.engines.chromium.debounce import Debouncer
from hatbox.engines.chromium.sessions import Session
from hatbox.errors import InvalidIdentity
from hatbox.javascript.text import well_formed
from hatbox.urls.protected_pages import is_protected_cookie

__all__ = ["CookieSync", "from_browser", "to_browser"]

logger = logging.getLogger("hatbox.engines.chromium")

_READ_DELAY: Final = 0.1  # seconds
_PUSH_DELAY: Final = 0.01
_EXPIRED: Final = 1  # an expiry date in the past: setting the cookie removes it
_SAME_SITE: Final = {"Strict": SameSite.STRICT, "Lax": SameSite.LAX, "None": SameSite.NONE}
_SAME_SITE_NAMES: Final = {value: name for name, value in _SAME_SITE.items()}


class CookieSync:
    """Synchronizes one browser context with one cookie store."""

    def __init__(self, session: Session, context_id: str, store: CookieStore) -> None:
        self._session = session
        self._context_id = context_id
        self._store = store
        self._browser_cookies: dict[CookieKey, Cookie] = {}  # as of the latest read
        self._pending: dict[CookieKey, Cookie | None] = {}  # changes to push; None removes the cookie
        self._pushing: dict[CookieKey, Cookie | None] = {}
        self._lock = asyncio.Lock()
        self._is_abandoned = False
        self._excludes_protected = False
        self._read_debouncer = Debouncer(self.pull_from_browser, _READ_DELAY)
        self._push_debouncer = Debouncer(self.push_to_browser, _PUSH_DELAY)
        self._full_sync_debouncer = Debouncer(self._full_sync, _PUSH_DELAY)

    async def load(self) -> None:
        """Set all cookies of the store in a new browser context. Cookies that Chromium rejects stay in the store."""
        async with self._lock:
            await self._set([to_browser(cookie) for cookie in await self._store.cookies()])
            self._browser_cookies = await self._read()

    async def exclude_protected(self) -> None:
        """Remove the cookie of the manager page from the browser and the store, and never set it again: a program is
        connected to the browser context."""
        self._excludes_protected = True
        async with self._lock:
            await self._set([_removal(each) for each in (await self._read()).values() if _is_protected(each)])
            await self._store_browser_changes()

    def schedule_read(self) -> None:
        """Read the cookies of the browser soon: they may have changed."""
        self._read_debouncer.schedule()

    def on_store_change(self, change: CookieChange) -> None:
        """Push a changed cookie of the store, unless the change came from the browser."""
        if change.removed and change.cause is ChangeCause.OVERWRITE:
            return  # the change record of the new cookie follows
        key = change.cookie.key
        seen = self._browser_cookies.get(key)
        is_synced = seen is None if change.removed else seen is not None and same_content(seen, change.cookie)
        if is_synced and key not in self._pushing:
            self._pending.pop(key, None)
        else:
            self._pending[key] = None if change.removed else change.cookie
            self._push_debouncer.schedule()

    def schedule_full_sync(self) -> None:
        """Compare all cookies soon: change records were pruned before they were read."""
        self._full_sync_debouncer.schedule()

    async def wait_until_synced(self) -> None:
        """Push and pull all pending changes now."""
        await self.push_to_browser()
        await self.pull_from_browser()

    async def finish(self) -> None:
        """Store the last changes of the browser, and stop."""
        self.stop()
        await self.pull_from_browser()

    def stop(self) -> None:
        """Stop at once: the context was closed, or the identity removed."""
        self._push_debouncer.cancel()
        self._full_sync_debouncer.cancel()
        self._read_debouncer.cancel()

    def abandon(self) -> None:
        """Stop at once, and store no changes of the browser any more, also not those being read."""
        self._is_abandoned = True
        self.stop()

    async def pull_from_browser(self) -> None:
        """Read the cookies of the browser, and store its changes."""
        async with self._lock:
            await self._store_browser_changes()

    async def push_to_browser(self) -> None:
        """Set pending changes of the store in the browser."""
        async with self._lock:
            pending, self._pending = self._pending, {}
            if not pending:
                return
            seen = [(self._browser_cookies.get(key), cookie) for key, cookie in pending.items()]
            # A cookie that is not Secure cannot overwrite a Secure one (RFC 6265bis, 5.7): remove that first.
            await self._set(
                [_removal(old) for old, cookie in seen if old and not (cookie and cookie.secure >= old.secure)]
            )
            self._pushing = pending  # `_browser_cookies` is outdated for these until the next read
            try:
                await self._set([to_browser(cookie) for _, cookie in seen if cookie])
                await self._store_browser_changes(pushed=pending)
            finally:
                self._pushing = {}

    async def _full_sync(self) -> None:
        async with self._lock:
            await self._store_browser_changes()  # first: its changes are newer than the pruned ones
            try:
                stored = {cookie.key: cookie for cookie in await self._store.cookies()}
            except InvalidIdentity:
                return
            for key in self._browser_cookies.keys() | stored.keys():
                seen, cookie = self._browser_cookies.get(key), stored.get(key)
                if not (seen and cookie and same_content(seen, cookie)):
                    self._pending[key] = cookie
        await self.push_to_browser()

    async def _store_browser_changes(self, pushed: Collection[CookieKey] = ()) -> None:
        """Store what differs from the previous read, except the `pushed` cookies. Needs the lock."""
        now, before = await self._read(), self._browser_cookies
        if self._is_abandoned:
            return
        self._browser_cookies = now
        changed = [
            cookie
            for key, cookie in now.items()
            if key not in pushed and not ((old := before.get(key)) and same_content(old, cookie))
        ]
        removed = [key for key in before if key not in now and key not in pushed]
        if changed or removed:
            try:
                await self._store.merge(changed, removed)
            except InvalidIdentity:
                logger.debug("cookie sync: %s was removed; its cookies are not stored", self._store.cookie_store_id)
            except Exception:
                for key in (*(cookie.key for cookie in changed), *removed):  # so that the next read finds them again
                    if key in before:
                        self._browser_cookies[key] = before[key]
                    else:
                        del self._browser_cookies[key]
                raise

    async def _read(self) -> dict[CookieKey, Cookie]:
        response = await self._session.send("Storage.getCookies", {"browserContextId": self._context_id})
        cookies = [from_browser(each) for each in response["cookies"] if not each.get("partitionKeyOpaque")]
        return {cookie.key: cookie for cookie in cookies}

    async def _set(self, params: list[dict[str, Any] | None]) -> None:
        cookies = [each for each in params if each is not None and not self._is_excluded(each)]
        if not cookies:
            return
        try:
            await self._session.send("Storage.setCookies", {"cookies": cookies, "browserContextId": self._context_id})
        except PlaywrightError as error:  # one rejected cookie fails the whole command
            if "Invalid cookie fields" not in str(error):
                raise
            if len(cookies) == 1:
                logger.debug("cookie sync: Chromium rejected cookie %s of %s", cookies[0]["name"], cookies[0]["domain"])
            else:
                middle = len(cookies) // 2
                await self._set([*cookies[:middle]])
                await self._set([*cookies[middle:]])

    def _is_excluded(self, params: dict[str, Any]) -> bool:
        is_protected = is_protected_cookie(params["name"], params["domain"].lstrip("."))
        return self._excludes_protected and is_protected and params.get("expires") != _EXPIRED


def to_browser(cookie: Cookie) -> dict[str, Any] | None:
    """The cookie as a CDP Network.CookieParam; None if it is not UTF-8, which CDP cannot represent."""
    try:
        name, value, path = map(_text, (cookie.name, cookie.value, cookie.path))
    except UnicodeDecodeError:
        logger.debug("cookie sync: a cookie of %s is not UTF-8 and stays in the store", cookie.domain)
        return None
    params: dict[str, Any] = {
        "name": name,
        "value": value,
        "domain": cookie.domain if cookie.host_only else f".{cookie.domain}",
        "path": path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
    }
    if cookie.same_site in _SAME_SITE_NAMES:
        params["sameSite"] = _SAME_SITE_NAMES[cookie.same_site]
    if cookie.expires is not None:
        params["expires"] = cookie.expires
    if cookie.partition is not None:
        site, has_cross_site_ancestor = cookie.partition
        params["partitionKey"] = {"topLevelSite": site, "hasCrossSiteAncestor": has_cross_site_ancestor}
    return params


def from_browser(data: dict[str, Any]) -> Cookie:
    """The cookie of a CDP Network.Cookie."""
    domain, host_only = parse_domain(data["domain"], shared=data["domain"].startswith("."))
    partition = data.get("partitionKey")
    return Cookie(
        name=_octets(data["name"]),
        value=_octets(data["value"]),
        domain=domain,
        path=_octets(data["path"]),
        host_only=host_only,
        secure=data["secure"],
        http_only=data["httpOnly"],
        same_site=_SAME_SITE.get(data.get("sameSite", ""), SameSite.UNSPECIFIED),
        expires=None if data["session"] else data["expires"],
        partition=Partition(partition["topLevelSite"], partition["hasCrossSiteAncestor"]) if partition else None,
    )


def _is_protected(cookie: Cookie) -> bool:
    return is_protected_cookie(cookie.name, cookie.domain)


def _removal(cookie: Cookie) -> dict[str, Any] | None:
    return to_browser(msgspec.structs.replace(cookie, value="", expires=_EXPIRED))


def _octets(text: str) -> str:
    return text if text.isascii() else well_formed(text).encode().decode("latin-1")


def _text(octets: str) -> str:
    return octets if octets.isascii() else octets.encode("latin-1").decode()
