"""The browser of an engine in another process, through the endpoints of its identities. Knows tabs, and stores none."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Final
from weakref import WeakKeyDictionary

from playwright.async_api import Browser, BrowserContext, Page, Playwright
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.driver_connection import start_driver, stop_driver, wait_until_driver_ends
from hatbox.engines.chromium.sessions import Session, within
from hatbox.engines.endpoint_requests import (
    AwaitedState,
    RequestedEndpoint,
    engine_ended,
    hash_token,
    request_endpoint,
    request_wait,
)
from hatbox.engines.running_engines import ENGINES_CHANGED, RunningEngine, engine_for, has_lease, is_same_engine
from hatbox.errors import EngineError, ProfileError
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.tasks import Tasks

__all__ = ["AttachedBrowser"]

logger = logging.getLogger("hatbox.engines.chromium")

_CONNECT_SECONDS: Final = 30.0
_PAGE_SECONDS: Final = 30.0  # until Playwright and the engine know a page, on a busy machine
_CATCH_UP_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.02
_WATCH_SECONDS: Final = 1.0  # between two checks whether the engine has ended
_STOP_SECONDS: Final = 3.0
_MAX_LIST: Final = 16 * 2**20  # bytes

_opener: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # the endpoint is on loopback


class _Connection:
    """The connection to the endpoint of one identity."""

    def __init__(self, endpoint: RequestedEndpoint, token: str, browser: Browser) -> None:
        self.endpoint = endpoint
        self.browser = browser
        self._token = token
        self._target_ids: WeakKeyDictionary[Page, str] = WeakKeyDictionary()

    @property
    def context(self) -> BrowserContext:
        """The browser context of the identity."""
        return self.browser.contexts[0]

    async def tab_of(self, page: Page) -> int | None:
        """The id of the tab of a page; None if it has none yet."""
        target_id = await self._target_of(page)
        return next((tab_id for tab_id, each in (await self._targets()).items() if each == target_id), None)

    async def page_of(self, tab_id: int) -> Page | None:
        """The page of a tab; None if the engine has none. Waits until Playwright has it."""
        deadline = time.monotonic() + _PAGE_SECONDS
        while (target_id := (await self._targets()).get(tab_id)) is not None and time.monotonic() < deadline:
            for page in self.context.pages:
                with contextlib.suppress(PlaywrightError):  # it is being closed
                    if await self._target_of(page) == target_id:
                        return page
            await asyncio.sleep(_POLL_SECONDS)
        return None

    async def _targets(self) -> dict[int, str]:
        """The targets of the pages that have tabs, by tab id."""
        url = f"http://127.0.0.1:{self.endpoint.port}/{self._token}/json/list"
        listed: list[dict[str, str]] = await asyncio.to_thread(_read_json, url)
        return {int(each["tabId"]): each["id"] for each in listed if "tabId" in each}

    async def _target_of(self, page: Page) -> str:
        if page not in self._target_ids:
            session = await Session.of_page(page)
            try:
                found: dict[str, Any] = await session.send("Target.getTargetInfo")
            finally:
                await session.detach()
            self._target_ids[page] = found["targetInfo"]["targetId"]
        return self._target_ids[page]


class AttachedBrowser:
    """The browser of a running engine, from `start` to `stop`. `on_ended` is called once if the engine ends before."""

    def __init__(self, store: Store, engine: RunningEngine, run: str, on_ended: Callable[[], None]) -> None:
        self.engine = engine
        """The engine, in this process or another one."""
        self._store = store
        self._run = run
        self._on_ended = on_ended
        self._playwright: Playwright | None = None
        self._connections: dict[str, _Connection] = {}
        self._connecting: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._changed = asyncio.Event()
        self._tasks = Tasks()

    async def start(self, max_time: float) -> None:
        """Ask the engine whether it answers. Raises EngineError, and EngineBusy after `max_time` seconds."""
        self._store.subscribe(self._on_change)
        self._tasks.spawn(self._watch())
        try:
            await request_wait(self._store, self.engine, "ready", max_time=max_time)
            await self._store.register_process()  # its tabs are not those of a program that has ended
            self._playwright = await start_driver()
            self._tasks.spawn(self._watch_driver(self._playwright))
        except BaseException:
            await self.stop()
            raise

    async def _watch_driver(self, playwright: Playwright) -> None:
        await wait_until_driver_ends(playwright)
        self._on_ended()

    async def stop(self) -> None:
        """Disconnect. The pages stay open. Stopping twice has no effect."""
        self._store.unsubscribe(self._on_change)
        self._tasks.cancel()
        await self._tasks.wait()
        connections, self._connections = self._connections, {}
        for each in connections.values():
            with contextlib.suppress(PlaywrightError):
                await within(each.browser.close(), seconds=_STOP_SECONDS)
            await each.endpoint.close()
        playwright, self._playwright = self._playwright, None
        if playwright is not None:
            await stop_driver(playwright)

    async def wait(self, state: AwaitedState) -> None:
        """Wait until the engine has applied all changes so far."""
        await request_wait(self._store, self.engine, state)

    async def serves(self, cookie_store_id: str) -> bool:
        """Whether the engine opens the tabs of an identity now."""
        found = await engine_for(self._store, cookie_store_id)
        return found is not None and is_same_engine(found, self.engine)

    async def context(self, cookie_store_id: str) -> BrowserContext:
        """The browser context of an identity."""
        return (await self._connection(cookie_store_id)).context

    async def new_page(self, cookie_store_id: str) -> tuple[Page, int]:
        """Open a blank page; returns it with the id of its tab."""
        connection = await self._connection(cookie_store_id)
        deadline = time.monotonic() + _PAGE_SECONDS
        with self.map_errors():
            page = await within(connection.context.new_page(), seconds=_PAGE_SECONDS)
            while (tab_id := await connection.tab_of(page)) is None:
                if time.monotonic() > deadline:
                    raise EngineError(f"a new page has no tab after {_PAGE_SECONDS:g} seconds")
                await asyncio.sleep(_POLL_SECONDS)
        return page, tab_id

    async def page_of(self, cookie_store_id: str, tab_id: int) -> Page | None:
        """The page of a tab; None if the engine has none."""
        connection = await self._connection(cookie_store_id)
        with self.map_errors():
            return await connection.page_of(tab_id)

    async def catch_up(self, page: Page) -> None:
        """Wait until Playwright has the events of a page so far, unless the page does not respond."""
        with self.map_errors(), contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CATCH_UP_SECONDS):
                await within(page.title())

    @contextlib.contextmanager
    def map_errors(self) -> Iterator[None]:
        """Raise errors of Playwright and of the connection as EngineError, without the token."""
        try:
            yield
        except (PlaywrightError, OSError) as error:
            problem = _without_urls(str(error).partition("\n")[0])
            raise EngineError(
                f"the {self.engine.engine} engine ({self.engine.process}) did not open a page: {problem}"
            ) from None

    # ------------------------------------------------------------------------------------------------------ connection

    async def _connection(self, cookie_store_id: str) -> _Connection:
        async with self._connecting[cookie_store_id]:
            known = self._connections.get(cookie_store_id)
            if known is not None:
                if known.browser.is_connected():
                    return known
                del self._connections[cookie_store_id]
                await known.endpoint.close()
            if not await has_lease(self._store, self.engine):
                raise engine_ended(self.engine)
            self._connections[cookie_store_id] = connection = await self._connect(cookie_store_id)
            return connection

    async def _connect(self, cookie_store_id: str) -> _Connection:
        if self._playwright is None:
            raise EngineError("this program is not attached to an engine any more")
        token = secrets.token_urlsafe(32)
        endpoint = await request_endpoint(
            self._store, self.engine, cookie_store_id, token_hash=hash_token(token), run=self._run
        )
        try:
            with self.map_errors():
                # Without defaults: Playwright would set fonts and media of pages that belong to other programs.
                chromium, url = self._playwright.chromium, endpoint.url(token)
                browser = await within(
                    chromium.connect_over_cdp(url, timeout=0, no_defaults=True), seconds=_CONNECT_SECONDS
                )
        except BaseException:
            await endpoint.close()
            raise
        return _Connection(endpoint, token, browser)

    # ------------------------------------------------------------------------------------------------------- the engine

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic in (ENGINES_CHANGED, RESYNC):
            self._changed.set()

    async def _watch(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_WATCH_SECONDS):
                    await self._changed.wait()
            self._changed.clear()
            try:
                if not await has_lease(self._store, self.engine):
                    self._on_ended()
                    return
            except ProfileError as error:
                logger.debug("checking the engine failed: %s", error)


def _read_json(url: str) -> Any:
    with _opener.open(url, timeout=_PAGE_SECONDS) as response:
        return json.loads(response.read(_MAX_LIST))


def _without_urls(text: str) -> str:
    return " ".join("[URL]" if "://" in word else word for word in text.split(" "))
