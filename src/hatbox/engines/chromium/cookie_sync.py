"""Cookies of one identity, kept the same in the browser and in the store, in both directions.

Chromium does not tell of cookies that change. So whoever sees a sign of it says `look`: then all are read once, and
compared with what was there before. What differs was done by the browser, and is written to the store. What the store
tells of and the browser does not have is set in the browser. So nothing is written twice.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Iterable
from typing import Any, Final

import msgspec
from playwright.async_api import Error as PlaywrightError

from hatbox.cookies.cookie import ChangeCause, Cookie, CookieKey, Partition, SameSite
from hatbox.cookies.cookie_stores import CookieChange, CookieStore
from hatbox.cookies.storage import same_content
from hatbox.engines.chromium.debounce import Debouncer
from hatbox.engines.chromium.sessions import Session
from hatbox.errors import InvalidIdentity
from hatbox.formats.base import host_of
from hatbox.javascript.text import well_formed

__all__ = ["CookieSync", "from_browser", "to_browser"]

logger = logging.getLogger("hatbox.engines.chromium")

_READ_DELAY: Final = 0.1  # seconds in which many signs become one look
_PUSH_DELAY: Final = 0.01
_EXPIRED: Final = 1  # a cookie that expired then is a cookie to be removed
_SAME_SITE: Final = {"Strict": SameSite.STRICT, "Lax": SameSite.LAX, "None": SameSite.NONE}
_WORD_OF: Final = {value: word for word, value in _SAME_SITE.items()}


class CookieSync:
    """The cookies of one browser context and of one store."""

    def __init__(self, session: Session, context_id: str, store: CookieStore) -> None:
        self._session = session
        self._context_id = context_id
        self._store = store
        self._browser_cookies: dict[CookieKey, Cookie] = {}  # what the browser had when it was last looked at
        self._pending: dict[CookieKey, Cookie | None] = {}  # what the store has told of; None is a removal
        self._lock = asyncio.Lock()
        self._looking = Debouncer(self._look, _READ_DELAY)
        self._passing_on = Debouncer(self._push_to_browser, _PUSH_DELAY)
        self._comparing = Debouncer(self._compare, _PUSH_DELAY)

    async def load(self) -> None:
        """Give the store's cookies to a browser context that has none. What the browser refuses stays in the store."""
        async with self._lock:
            await self._set([to_browser(cookie) for cookie in await self._store.cookies()])
            self._browser_cookies = await self._read()

    def schedule_read(self) -> None:
        """There may be new cookies in the browser: look soon."""
        self._looking.schedule()

    def on_store_change(self, change: CookieChange) -> None:
        """A cookie of the store has changed, here or in another process."""
        if change.removed and change.cause is ChangeCause.OVERWRITE:
            return  # the new one follows
        key = change.cookie.key
        seen = self._browser_cookies.get(key)
        known = seen is None if change.removed else seen is not None and same_content(seen, change.cookie)
        if known:
            self._pending.pop(key, None)
        else:
            self._pending[key] = None if change.removed else change.cookie
            self._passing_on.schedule()

    def schedule_full_sync(self) -> None:
        """Changes of the store were missed: compare all with the browser soon."""
        self._comparing.schedule()

    async def wait_until_synced(self) -> None:
        """Make both sides the same now."""
        await self._push_to_browser()
        await self._look()

    async def finish(self) -> None:
        """Take the last changes of the browser to the store, and stop."""
        self.stop()
        await self._look()

    def stop(self) -> None:
        """Stop at once: the browser has gone, or the identity."""
        self._passing_on.cancel()
        self._comparing.cancel()
        self._looking.cancel()

    async def _look(self) -> None:
        async with self._lock:
            await self._pull_from_browser()

    async def _compare(self) -> None:
        """Find what the store has and the browser has not, or the other way round, and pass it on."""
        async with self._lock:
            await self._pull_from_browser()  # what the browser has done by itself is no older than what was missed
            try:
                there = {cookie.key: cookie for cookie in await self._store.cookies()}
            except InvalidIdentity:
                return
            for key in self._browser_cookies.keys() | there.keys():
                seen, cookie = self._browser_cookies.get(key), there.get(key)
                if not (seen and cookie and same_content(seen, cookie)):
                    self._pending[key] = cookie
        await self._push_to_browser()

    async def _push_to_browser(self) -> None:
        async with self._lock:
            pending, self._pending = self._pending, {}
            if not pending:
                return
            seen = [(self._browser_cookies.get(key), cookie) for key, cookie in pending.items()]
            # A cookie that is not secure cannot take the place of one that is, which has to go first.
            await self._set(
                [_removal(old) for old, cookie in seen if old and not (cookie and cookie.secure >= old.secure)]
            )
            await self._set([to_browser(cookie) for _, cookie in seen if cookie])
            await self._pull_from_browser(settled=pending)

    async def _pull_from_browser(self, settled: Collection[CookieKey] = ()) -> None:
        """Read what is in the browser, and write what it has changed by itself; `settled` was changed by us."""
        now, before = await self._read(), self._browser_cookies
        self._browser_cookies = now
        changed = [
            cookie
            for key, cookie in now.items()
            if key not in settled and not ((old := before.get(key)) and same_content(old, cookie))
        ]
        gone = [key for key in before if key not in now and key not in settled]
        if changed or gone:
            try:
                await self._write(changed, gone)
            except InvalidIdentity:
                logger.debug("cookies of %s came after its end", self._store.cookie_store_id)
            except Exception:
                for key in (*(cookie.key for cookie in changed), *gone):  # the next look finds them again
                    if key in before:
                        self._browser_cookies[key] = before[key]
                    else:
                        del self._browser_cookies[key]
                raise

    async def _write(self, changed: Iterable[Cookie], gone: Iterable[CookieKey]) -> None:
        jar = await self._store.jar()
        now = time.time()
        new: list[Cookie] = []
        for place, cookie in enumerate(changed):
            old = jar.get(cookie.key)
            if old is None:
                new.append(_placed(cookie, int(now * 1_000_000) + place, now, now))
            elif not same_content(old, cookie):
                new.append(_placed(cookie, old.sequence, old.created, now))
        if new:
            await self._store.put(new)
        for key in gone:
            expired = (old := jar.get(key)) is not None and old.expired(now)
            if not expired:  # Chromium expires by the clock alone, which may be wrong: the store purges it
                await self._store.remove(key)

    async def _read(self) -> dict[CookieKey, Cookie]:
        answer = await self._session.send("Storage.getCookies", {"browserContextId": self._context_id})
        cookies = [from_browser(each) for each in answer["cookies"] if not each.get("partitionKeyOpaque")]
        return {cookie.key: cookie for cookie in cookies}

    async def _set(self, given: list[dict[str, Any] | None]) -> None:
        cookies = [each for each in given if each is not None]
        if not cookies:
            return
        try:
            await self._session.send("Storage.setCookies", {"cookies": cookies, "browserContextId": self._context_id})
        except PlaywrightError as error:  # one of them is refused, and with it all
            if "Invalid cookie fields" not in str(error):
                raise
            if len(cookies) == 1:
                logger.debug("Chromium does not take the cookie %s of %s", cookies[0]["name"], cookies[0]["domain"])
            else:
                middle = len(cookies) // 2
                await self._set([*cookies[:middle]])
                await self._set([*cookies[middle:]])


def to_browser(cookie: Cookie) -> dict[str, Any] | None:
    """A cookie as Chromium takes it; None for one that cannot be said in Unicode."""
    try:
        name, value, path = map(_text, (cookie.name, cookie.value, cookie.path))
    except UnicodeDecodeError:
        logger.debug("a cookie of %s is not UTF-8, and stays in the store", cookie.domain)
        return None
    given: dict[str, Any] = {
        "name": name,
        "value": value,
        "domain": cookie.domain if cookie.host_only else f".{cookie.domain}",
        "path": path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
    }
    if cookie.same_site in _WORD_OF:
        given["sameSite"] = _WORD_OF[cookie.same_site]
    if cookie.expires is not None:
        given["expires"] = cookie.expires
    if cookie.partition is not None:
        site, crossed = cookie.partition
        given["partitionKey"] = {"topLevelSite": site, "hasCrossSiteAncestor": crossed}
    return given


def from_browser(given: dict[str, Any]) -> Cookie:
    """A cookie that Chromium has."""
    domain, host_only = host_of(given["domain"], shared=given["domain"].startswith("."))
    partition = given.get("partitionKey")
    return Cookie(
        name=_octets(given["name"]),
        value=_octets(given["value"]),
        domain=domain,
        path=_octets(given["path"]),
        host_only=host_only,
        secure=given["secure"],
        http_only=given["httpOnly"],
        same_site=_SAME_SITE.get(given.get("sameSite", ""), SameSite.UNSPECIFIED),
        expires=None if given["session"] else given["expires"],
        partition=Partition(partition["topLevelSite"], partition["hasCrossSiteAncestor"]) if partition else None,
    )


def _removal(cookie: Cookie) -> dict[str, Any] | None:
    return to_browser(msgspec.structs.replace(cookie, value="", expires=_EXPIRED))


def _placed(cookie: Cookie, sequence: int, created: float, used: float) -> Cookie:
    return msgspec.structs.replace(cookie, sequence=sequence, created=created, last_access=used)


def _octets(text: str) -> str:
    return text if text.isascii() else well_formed(text).encode().decode("latin-1")


def _text(octets: str) -> str:
    return octets if octets.isascii() else octets.encode("latin-1").decode()
