"""A Chromium that attaches to the running engine of another program if that serves its identities.

Otherwise it runs an engine of its own, as ChromiumRunner does. The public interface is the same in both cases.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any, Final, Self

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.attachable_engine import (
    ServingEngine,
    WantedOptions,
    find_serving_engine,
    why_not_attachable,
)
from hatbox.engines.chromium.attached_browser import AttachedBrowser
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.hosted_pages import HostedPages
from hatbox.engines.chromium.sessions import without_limit
from hatbox.engines.endpoint_options import NO_OPTIONS, EndpointOptions
from hatbox.engines.endpoint_requests import ANSWER_TIMEOUT, engine_ended
from hatbox.engines.person_windows import OpenPersonWindow, RequestedPersonWindow
from hatbox.engines.running_engines import RunningEngine, busy, has_lease
from hatbox.errors import EngineAlreadyRunning, EngineBusy, EngineError
from hatbox.identity.model import IdentityLike
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.script_tabs import is_script_tab, keep_script_tab
from hatbox.tabs.tab_model import BLANK
from hatbox.web_requests import RequestEvents

if TYPE_CHECKING:
    from hatbox.engines.chromium.endpoint.authorization import Authorize
    from hatbox.engines.chromium.endpoint.endpoint import Endpoint

__all__ = ["AttachingRunner"]

_RETRY_SECONDS: Final = 0.1
_ENDPOINT_SECONDS: Final = 2.0  # until the endpoint of a program that has ended is closed
_POLL_SECONDS: Final = 0.02
_RECORD_SECONDS: Final = 30.0


class AttachingRunner(ChromiumRunner):
    """A ChromiumRunner that prefers the browser of a running engine; see Profile.chromium."""

    def __init__(
        self,
        *arguments: Any,
        wanted: WantedOptions,
        requests: RequestEvents,
        hosted: HostedPages | None = None,
        max_time: float = ANSWER_TIMEOUT,
    ) -> None:
        super().__init__(*arguments)
        self._wanted = wanted
        self._requests = requests
        self._hosted = hosted
        self._max_time = max_time
        self._attached: AttachedBrowser | None = None
        self._attached_pages: dict[int, Page] = {}
        self._limit: tuple[str, ...] | None = None

    # ------------------------------------------------------------------------------------------------- start and stop

    async def __aenter__(self) -> Self:
        names = await self._requested_names()
        started = time.monotonic()
        deadline = started + self._max_time
        while True:
            found = await find_serving_engine(self._store, names)
            try:
                if found is not None and await self._attach(found, names):
                    return self
            except EngineBusy:
                if found is None or not found.has_endpoints or time.monotonic() > started + _ENDPOINT_SECONDS:
                    raise
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            try:
                return await super().__aenter__()
            except EngineBusy:
                raise
            except EngineAlreadyRunning as error:  # another engine is starting or ending
                if time.monotonic() > deadline:
                    raise _busy_since_start(error) from error
            await asyncio.sleep(_RETRY_SECONDS)

    async def _attach(self, found: ServingEngine, names: dict[str, str] | None) -> bool:
        """Attach to a running engine. False if this program has to start one. Raises EngineBusy."""
        engine = found.engine
        if engine.since is None:
            return False  # it is starting: its record follows
        reason = why_not_attachable(engine, self._wanted)
        if not reason and not found.has_all:
            reason = "it serves only some of the identities that this program wants"
        reason = reason or self._why_own_engine()
        if reason:
            if found.releases:
                return False
            raise _busy_with(engine, reason, names)
        self._is_running, self._lost = True, None
        self._stopped.clear()
        attached = AttachedBrowser(self._store, engine, self._run, self._on_engine_ended)
        self._attached, self._limit = attached, None if names is None else tuple(names)
        try:
            await attached.start(self._max_time)
            self._raise_if_lost()
        except BaseException as error:
            self._attached, self._is_running, self._lost = None, False, None
            await attached.stop()
            if isinstance(error, EngineError) and not await has_lease(self._store, engine):
                return False  # it has ended meanwhile
            raise
        self._tabs.open_pages.attach(self)
        return True

    def _why_own_engine(self) -> str:
        if self._requests.has_listeners:
            return "this program has webRequest listeners, which see requests of its own engine only"
        if self._hosted is not None and self._hosted.has_extensions:
            return "this program runs extensions, which act in pages of its own engine only"
        return ""

    def _on_engine_ended(self) -> None:
        if self._attached is not None and self._lost is None:
            self._lost = engine_ended(self._attached.engine)
            self._wake_waiting()
            self._stopped.set()

    async def stop(self) -> None:
        """Disconnect from the engine, or stop the own one. Tabs of this script are closed."""
        if self._attached is None:
            await super().stop()
            return
        async with self._stopping:
            attached, self._attached = self._attached, None
            if attached is not None:
                self._tabs.open_pages.detach(self)
                self._attached_pages.clear()
                try:
                    await attached.stop()
                finally:
                    await self._close_script_tabs()
                    self._is_running = False
                    self._stopped.set()

    @property
    def attached_to(self) -> RunningEngine | None:
        """See ChromiumRunner."""
        return None if self._attached is None else self._attached.engine

    @property
    def identities(self) -> tuple[str, ...] | None:
        """See EngineRunner."""
        return super().identities if self._attached is None else self._limit

    def serves(self, cookie_store_id: str) -> bool:
        """See EngineRunner."""
        if self._attached is None:
            return super().serves(cookie_store_id)
        served = self._attached.engine.identities
        limits = [each for each in (self._limit, served) if each is not None]
        return all(cookie_store_id in each for each in limits)

    # ----------------------------------------------------------------------------------------------------------- pages

    async def new_page(self, identity: IdentityLike, url: str = BLANK, *, keep: bool = False) -> Page:
        """See ChromiumRunner."""
        if (attached := self._attached) is None:
            return await super().new_page(identity, url, keep=keep)
        cookie_store_id = await self._attached_id(attached, identity)
        self._has_script_tabs = True
        page, tab_id = await attached.new_page(cookie_store_id)
        await self._wait_until_recorded(tab_id)
        if keep:
            await self._store.write(lambda transaction: keep_script_tab(transaction, tab_id))
        if (await self._tabs.get(tab_id)).hidden:
            await self._tabs.close(tab_id)
            raise EngineError(f"tab {tab_id} has no page: it is hidden. Show its identity first.")
        self._attached_pages[tab_id] = page
        if url != BLANK:
            await self._load(attached, page, tab_id, url)
        return page

    async def page(self, tab_id: int) -> Page:
        """See ChromiumRunner."""
        if (attached := self._attached) is None:
            return await super().page(tab_id)
        await self.wait_until_settled()
        tab = await self._tabs.get(tab_id)
        if not self.serves(tab.cookie_store_id) or not await attached.serves(tab.cookie_store_id):
            raise EngineError(f"tab {tab_id} has no page: this engine does not serve {tab.cookie_store_id}")
        page = None if tab.hidden else await attached.page_of(tab.cookie_store_id, tab_id)
        if page is None:
            self._raise_if_lost()
            why = "it is hidden. Show its identity first." if tab.hidden else tab.error or "it was closed"
            raise EngineError(f"tab {tab_id} has no page: {why}")
        self._attached_pages[tab_id] = page
        await self.wait_until_loaded(tab_id)
        await attached.catch_up(page)
        return page

    async def context(self, identity: IdentityLike) -> BrowserContext:
        """The browser context of an identity. A page opened in it becomes a tab of the profile.

        In headless mode, and in the engine of another program, such a tab belongs to this script, as for new_page().
        """
        if (attached := self._attached) is None:
            return await super().context(identity)
        cookie_store_id = await self._attached_id(attached, identity)
        self._has_script_tabs = True
        return await attached.context(cookie_store_id)

    async def wait_until_settled(self) -> None:
        """See EngineRunner."""
        if (attached := self._attached) is None:
            await super().wait_until_settled()
        else:
            self._raise_if_lost()
            await attached.wait("settled")

    async def wait_until_synced(self) -> None:
        """See ChromiumRunner."""
        if (attached := self._attached) is None:
            await super().wait_until_synced()
        else:
            self._raise_if_lost()
            await attached.wait("synced")

    async def open_endpoint(
        self,
        identity: IdentityLike,
        authorize: Authorize | None = None,
        *,
        options: EndpointOptions = NO_OPTIONS,
    ) -> Endpoint:
        """See ChromiumRunner. Raises EngineError in the engine of another program."""
        if self._attached is not None:
            raise busy(self._attached.engine, "it cannot ask this program who may use an endpoint")
        return await super().open_endpoint(identity, authorize, options=options)

    @property
    def has_windows(self) -> bool:
        """See ChromiumRunner."""
        return super().has_windows if self._attached is None else bool(self._attached.engine.has_windows)

    async def open_for_person(self, identity: IdentityLike, url: str, message: str) -> OpenPersonWindow:
        """See ChromiumRunner."""
        if (attached := self._attached) is None:
            return await super().open_for_person(identity, url, message)
        cookie_store_id = await self._attached_id(attached, identity)
        return await RequestedPersonWindow.open(self._store, attached.engine, cookie_store_id, url, message)

    def has_page(self, tab_id: int) -> bool:
        """See ChromiumRunner."""
        return super().has_page(tab_id) if self._attached is None else tab_id in self._open_attached()

    def _open_page(self, tab_id: int) -> Page:
        if self._attached is None or tab_id not in self._open_attached():
            return super()._open_page(tab_id)
        return self._attached_pages[tab_id]

    def _open_attached(self) -> dict[int, Page]:
        self._attached_pages = {key: page for key, page in self._attached_pages.items() if not page.is_closed()}
        return self._attached_pages

    async def _load(self, attached: AttachedBrowser, page: Page, tab_id: int, url: str) -> None:
        stored = without_credentials(url)
        if stored == url:
            await self._tabs.navigate(tab_id, url)
        else:  # the profile stores no credentials, so that the engine does not get them from there
            with contextlib.suppress(PlaywrightError):  # Tab.error has the reason
                await without_limit(page.goto(url, timeout=0))
        await self.wait_until_loaded(tab_id)
        await attached.catch_up(page)

    async def _attached_id(self, attached: AttachedBrowser, identity: IdentityLike) -> str:
        """The cookieStoreId of an identity that the engine serves for this program."""
        self._raise_if_lost()
        found = await self._served_id(identity)
        if not await attached.serves(found):
            raise EngineError(f"this engine does not serve {found}. List running engines with: hatbox status")
        return found

    async def _wait_until_recorded(self, tab_id: int) -> None:
        """Wait until the engine has recorded that a tab belongs to this script: it is closed if this is killed."""
        deadline = time.monotonic() + _RECORD_SECONDS
        while not await self._store.read(lambda each: is_script_tab(each, self._run, tab_id)):
            self._raise_if_lost()
            if time.monotonic() > deadline:
                raise EngineError(f"tab {tab_id} was closed, or the engine did not record it")
            await asyncio.sleep(_POLL_SECONDS)


def _busy_with(engine: RunningEngine, reason: str, names: dict[str, str] | None) -> EngineBusy:
    shared = [each for each in names or () if engine.identities is None or each in engine.identities]
    return busy(engine, reason, identity=shared[0] if shared else "")


def _busy_since_start(error: EngineAlreadyRunning) -> EngineBusy:
    where = error.where.strip(" ()")
    reason = "it does not finish its start"
    return EngineBusy(error.engine, error.process, where, reason=reason, machine=error.machine, identity=error.identity)
