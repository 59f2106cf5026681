"""Runs Chromium on a profile and returns Playwright pages and contexts. The public Python API of the engine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Self

from playwright.async_api import BrowserContext, Page

from hatbox.engines.chromium.context_registry import map_browser_errors
from hatbox.engines.chromium.endpoint_answers import AnsweringEngine, EndpointAnswers, GrantAuthorizer
from hatbox.engines.chromium.engine import ChromiumEngine
from hatbox.engines.chromium.page_capture import capture_page
from hatbox.engines.chromium.person_answers import PersonAnswers
from hatbox.engines.chromium.person_window import PersonWindow
from hatbox.engines.chromium.sessions import Session
from hatbox.engines.endpoint_options import NO_OPTIONS, EndpointOptions
from hatbox.engines.person_windows import OpenPersonWindow
from hatbox.engines.runner import EngineRunner
from hatbox.errors import EngineError, ProfileError
from hatbox.identities.service import Identities
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import IdentityLike
from hatbox.store.base import Store, Transaction
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.open_pages import PageCapture
from hatbox.tabs.script_tabs import add_script_tab, close_script_tabs, run_key
from hatbox.tabs.service import Tabs, open_in_identity
from hatbox.tabs.tab_model import BLANK, Tab

if TYPE_CHECKING:
    from hatbox.engines.chromium.endpoint.authorization import Authorize
    from hatbox.engines.chromium.endpoint.endpoint import Endpoint
    from hatbox.engines.running_engines import RunningEngine

__all__ = ["ChromiumRunner"]

logger = logging.getLogger("hatbox.engines.chromium")
_TIMEOUT: Final = 20.0  # seconds


class ChromiumRunner(EngineRunner):
    """Shows the tabs of a profile in a browser, for the duration of `async with`."""

    engine: ChromiumEngine

    def __init__(
        self,
        engine: ChromiumEngine,
        store: Store,
        identities: Identities,
        tabs: Tabs,
        only: IdentityLike | Sequence[IdentityLike] | None = None,
        endpoint_grants: GrantAuthorizer | None = None,
    ) -> None:
        super().__init__(engine, store, only)
        self._answers = EndpointAnswers(
            store,
            AnsweringEngine(
                self._serves_now,
                lambda: self._division.since,
                self._open_endpoint,
                self._tab_of,
                {"settled": self.wait_until_settled, "synced": self.wait_until_synced},
                endpoint_grants,
            ),
        )
        self._person_answers = PersonAnswers(store, lambda: self._division.since, self._open_person_window)
        engine.endpoint_pages.on_opened = self._answers.on_page_opened
        self._identities = identities
        self._tabs = tabs
        self._has_script_tabs = False
        self._endpoint_grants = endpoint_grants

    async def new_page(self, identity: IdentityLike, url: str = BLANK, *, keep: bool = False) -> Page:
        """Open a tab in an identity; returns its page when it has loaded.

        The tab belongs to this script: it is closed when the engine stops, or if the script is killed, and so are
        the tabs that its page opens. With `keep`, it belongs to the user, and stays in the profile.

        A failed load raises no error: `Tab.error` has the reason. A user name and a password in the URL are used and
        not stored. Raises EngineError, and opens no tab, if another engine serves the identity.
        """
        await self._served_id(identity)
        if not keep:
            await self._store.register_process()
        return await self.page(await self._open(identity, url, keep=keep))

    async def page(self, tab_id: int) -> Page:
        """The page of a tab, when it has loaded. Raises EngineError if the tab is hidden or has no page."""
        await self.wait_until_settled()
        page = self.engine.page_of(tab_id)
        if page is None:
            tab = await self._tabs.get(tab_id)
            why = "it is hidden. Show its identity first." if tab.hidden else tab.error or "it was closed"
            if not self.serves(tab.cookie_store_id):
                why = f"this engine does not serve {tab.cookie_store_id}"
            raise EngineError(f"tab {tab_id} has no page: {why}")
        await self.engine.wait_until_loaded(tab_id)
        await self.wait_until_loaded(tab_id)
        return page

    async def __aenter__(self) -> Self:
        self._answers.start()  # first: programs that see the record of this engine may request an endpoint
        try:
            await super().__aenter__()
        except BaseException:
            await self._answers.stop()
            raise
        self._answers.set_ready()
        self._person_answers.start()
        self._tabs.open_pages.attach(self)
        return self

    @property
    def attached_to(self) -> RunningEngine | None:
        """The engine of another program in whose browser the pages are; None if this program runs its own."""
        return None

    def has_page(self, tab_id: int) -> bool:
        """Whether a tab has a page in this browser."""
        return self.engine.page_of(tab_id) is not None

    async def capture(self, tab_id: int, capture: PageCapture) -> bytes:
        """An image of the page of a tab. Raises EngineError if it has none, or one that is too large."""
        return await capture_page(self._open_page(tab_id), capture)

    async def move_in_history(self, tab_id: int, steps: int) -> None:
        """Go back (-1) or forward (1) in a tab, if its history has such a page. Raises EngineError without a page."""
        await _move_in_history(self._open_page(tab_id), steps)

    def _open_page(self, tab_id: int) -> Page:
        page = self.engine.page_of(tab_id)
        if page is None:
            raise EngineError(f"tab {tab_id} has no page")
        return page

    async def stop(self) -> None:
        """Stop the browser. Tabs stay in the profile, except those of this script and those whose pages were closed."""
        self._tabs.open_pages.detach(self)
        await self._person_answers.stop()
        await self._answers.stop()
        await self.engine.close_endpoints()
        await self.engine.wait_until_closed()
        try:
            await super().stop()
        finally:
            await self._close_script_tabs()

    async def wait_until_synced(self) -> None:
        """Wait until the browser and the profile have the same cookies, removed site data is gone from the browser, and
        added webRequest listeners receive requests."""
        await self.engine.wait_until_synced()

    async def context(self, identity: IdentityLike) -> BrowserContext:
        """The browser context of an identity. A page opened in it becomes a tab of the profile.

        In headless mode, such a tab belongs to this script, as for new_page().
        """
        cookie_store_id = await self._served_id(identity)
        if not self.engine.has_windows:
            await self._store.register_process()
            self._reconciler.reports.scripted.add(cookie_store_id)
            self._has_script_tabs = True
        return await self.engine.context_of(cookie_store_id)

    async def open_endpoint(
        self,
        identity: IdentityLike,
        authorize: Authorize | None = None,
        *,
        options: EndpointOptions = NO_OPTIONS,
    ) -> Endpoint:
        """Start a CDP endpoint for one identity on 127.0.0.1; `Endpoint.url(token)` is its address.

        Its clients see one browser with one context, that of the identity. The token is that of a grant for the
        identity with the actions pages and cookieValues and the host `<all_urls>`; with `authorize`, this function
        gets the token of each request. The endpoint is closed with the engine. Raises EngineError if another engine
        serves the identity.
        """
        cookie_store_id = await self._served_id(identity)
        if authorize is None:
            if self._endpoint_grants is None:
                raise TypeError("authorize is required: this engine has no grants")
            authorize = self._endpoint_grants(cookie_store_id, options.grant)
        return await self._open_endpoint(cookie_store_id, authorize, options)

    def _serves_now(self, cookie_store_id: str) -> bool:
        return self._is_running and self._lost is None and self.serves(cookie_store_id)

    def _tab_of(self, target_id: str) -> int | None:
        pages = self.engine.running.pages if self.engine.running else {}
        return next((tab_id for tab_id, page in pages.items() if page.target_id == target_id), None)

    async def _open_endpoint(self, cookie_store_id: str, authorize: Authorize, options: EndpointOptions) -> Endpoint:
        return await self.engine.open_endpoint(cookie_store_id, authorize, self.serves, options)

    @property
    def has_windows(self) -> bool:
        """Whether a person can see the browser."""
        return self.engine.has_windows

    @property
    def has_clients(self) -> bool:
        """Whether clients of endpoints are connected: they lose their pages when the browser is stopped."""
        running = self.engine.running
        return running is not None and any(each.clients for each in running.contexts)

    async def open_for_person(self, identity: IdentityLike, url: str, message: str) -> OpenPersonWindow:
        """Open a window of an identity in which a person does what a program requests, such as a sign-in.

        `message` is shown as one of a program. The page is no tab of the profile, and no client of an endpoint sees it
        or the pages that it opens. Raises EngineError without windows, or if another engine serves the identity.
        """
        return await self._open_person_window(await self._served_id(identity), url, message)

    async def _open_person_window(self, cookie_store_id: str, url: str, message: str) -> OpenPersonWindow:
        running = self.engine.running
        if not self.engine.has_windows or running is None:
            raise EngineError("this engine has no windows. Start one with windows for a person.")
        if not self.serves(cookie_store_id):
            raise EngineError(f"this engine does not serve {cookie_store_id}. List running engines with: hatbox status")
        await self.engine.wait_until_synced()
        return await PersonWindow.open(running, cookie_store_id, url, message)

    async def _served_id(self, identity: IdentityLike) -> str:
        is_default = identity == DEFAULT_COOKIE_STORE_ID
        found = DEFAULT_COOKIE_STORE_ID if is_default else (await self._identities.resolve(identity)).cookie_store_id
        if not self.serves(found):
            raise EngineError(f"this engine does not serve {found}. List running engines with: hatbox status")
        return found

    async def _open(self, identity: IdentityLike, url: str, *, keep: bool) -> int:
        stored = without_credentials(url)
        # First blank: the engine needs the URL with its credentials before it loads the tab.
        first = url if stored == url else BLANK

        def opened(transaction: Transaction) -> Tab:
            tab = open_in_identity(transaction, identity, first)
            if not keep:
                add_script_tab(transaction, self._run, tab.id)
            return tab

        self._has_script_tabs |= not keep
        tab = await self._tabs.write(opened)
        self.engine.script_pages.add_tab(tab.id)
        if stored == url:
            return tab.id
        self.engine.use_credentials(tab.id, url)
        await self._tabs.navigate(tab.id, stored)
        return tab.id

    async def _close_script_tabs(self) -> None:
        if not self._has_script_tabs:
            return
        self._has_script_tabs = False
        try:
            await self._store.write(lambda transaction: close_script_tabs(transaction, run_key(self._run)))
        except ProfileError as error:  # the next program that opens the profile closes them
            logger.warning("closing the tabs of this script failed: %s", error)


async def _move_in_history(page: Page, steps: int) -> None:
    """Request the page that is so many steps ahead. Without such a page nothing happens. Raises EngineError."""
    try:
        async with asyncio.timeout(_TIMEOUT):
            with map_browser_errors():
                session = await Session.of_page(page)
                try:
                    history: dict[str, Any] = await session.send("Page.getNavigationHistory")
                    wanted = history["currentIndex"] + steps
                    if 0 <= wanted < len(history["entries"]):
                        entry = history["entries"][wanted]["id"]
                        await session.send("Page.navigateToHistoryEntry", {"entryId": entry})
                finally:
                    await session.detach()
    except TimeoutError as error:
        raise EngineError(f"the browser did not answer within {_TIMEOUT:g} seconds") from error
