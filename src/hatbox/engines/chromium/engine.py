"""The engine: a browser that shows the tabs of a profile, one context for each identity."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec
import platformdirs
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as PlaywrightPage

from hatbox.cookies.cookie_stores import CookieChange, CookieStores
from hatbox.engines.base import Engine, EngineDelegate
from hatbox.engines.chromium import page_snapshot as history
from hatbox.engines.chromium.closing import close_context
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.frame_tree import Target
from hatbox.engines.chromium.identity_context import ContextOptions, IdentityContext
from hatbox.engines.chromium.identity_indicator import IdentityIndicator, indicator_for
from hatbox.engines.chromium.launch import Launched, launch
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.parking import Parking
from hatbox.engines.chromium.request_interception import RequestInterceptor
from hatbox.engines.chromium.sessions import within
from hatbox.engines.chromium.tab_reporter import TabReporter
from hatbox.engines.chromium.typed_input import FROZEN, NOT_WEB, TypedInput, describe_lost
from hatbox.errors import EngineError, InvalidIdentity
from hatbox.identities.ids import DEFAULT_STORE, cookie_store_id_of, store_user_context_id
from hatbox.identities.model import ContextualIdentity
from hatbox.identities.service import Identities
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.site_data import SITE_DATA_CLEARED, SiteDataRemoval
from hatbox.tabs.tab_model import BLANK, REMOVED, Tab
from hatbox.web_requests import RequestEvents, RequestFrame

__all__ = ["ChromiumEngine"]

logger = logging.getLogger("hatbox.engines.chromium")

_SNAPSHOT_TIMEOUT: Final = 5.0  # seconds that a page has to say what is to be kept of it
_FOCUS_ECHO_SECONDS: Final = 1.0
_CONTEXT_SAVE_TIMEOUT: Final = 15.0  # seconds that an identity has to be saved and closed
_CLOSE_CONFIRM_DELAY: Final = 0.3  # seconds in which a browser that is quit closes one page after the other
_QUIT_CONFIRM_DELAY: Final = 1.5  # and then needs to end


class ChromiumEngine(Engine):
    """Chromium, found on the machine or named. Windows are marked and downloads kept, unless it is headless."""

    name: ClassVar[str] = "Chromium"
    keeps_hidden_pages: ClassVar[bool] = False

    def __init__(
        self,
        store: Store,
        stores: CookieStores,
        identities: Identities,
        *,
        headless: bool,
        browser: str | os.PathLike[str] | None = None,
        indicator: bool | None = None,
        downloads: str | os.PathLike[str] | None = None,
        requests: RequestEvents | None = None,
    ) -> None:
        self._store = store
        self._stores = stores
        self._identities = identities
        self._browser = browser
        self._headless = headless
        self._shows_indicator = not headless if indicator is None else indicator
        self._downloads = Path(downloads) if downloads is not None else None
        if downloads is None and not headless:
            self._downloads = Path(platformdirs.user_downloads_dir())
        self._requests = requests or RequestEvents()
        self._watch: RequestInterceptor | None = None
        self._launched: Launched | None = None
        self._reports: EngineDelegate
        self._contexts: dict[str, IdentityContext] = {}
        self._opening: dict[str, bool] = {}  # the contexts on their way, and whether cookies have changed meanwhile
        self._forgetting: set[asyncio.Task[Any]] = set()
        self._pages: dict[int, LivePage] = {}
        self._parked: dict[int, LivePage] = {}  # of hidden tabs, in minimised windows
        self._parking: Parking | None = None
        self._claims: dict[str, asyncio.Task[Tab | None]] = {}  # tabs of targets that have opened by themselves
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._making = asyncio.Lock()
        self._active_tab: int | None = None
        self._focused_at: dict[int, float] = {}  # when the user has turned to a page, until the profile says so
        self._tasks: set[asyncio.Task[Any]] = set()
        self._leaving: set[asyncio.Task[Any]] = set()
        self._skip_close_delay = asyncio.Event()
        self._with_credentials: dict[int, str] = {}  # URLs of tabs that are about to load; never stored

    # -------------------------------------------------------------------------------------------- what it is told

    async def start(self, reports: EngineDelegate) -> None:
        """See Engine."""
        await self._let_go()
        self._reports = reports
        self._launched = launched = await launch(self._browser, headless=self._headless)
        launched.browser.on("disconnected", log_exceptions(lambda _: self._on_lost(launched)))
        self._parking = Parking(launched.session, headless=self._headless)
        self._watch = RequestInterceptor(launched.browser, self._requests, self)
        self._watch.begin()
        self._stores.on_changed.add_listener(self._on_cookie)
        self._store.subscribe(self._on_change)
        if self._shows_indicator:
            self._identities.on_updated.add_listener(self._on_identity)

    async def stop(self) -> None:
        """See Engine."""
        self._stores.on_changed.remove_listener(self._on_cookie)
        self._store.unsubscribe(self._on_change)
        self._identities.on_updated.remove_listener(self._on_identity)
        pages, self._pages = self._pages, {}
        await asyncio.gather(*(self._keep(tab_id, page) for tab_id, page in pages.items()))
        contexts, self._contexts = self._contexts, {}
        await asyncio.gather(*(_closed(context) for context in contexts.values()))
        await self._let_go()

    def loads_again(self, tab: Tab) -> bool:
        """See Engine."""
        return tab.url != BLANK and tab.id not in self._parked

    async def open(self, tab: Tab, snapshot: bytes | None) -> None:
        """See Engine."""
        await self._interception_ready()
        if await self._unpark(tab):
            return
        with _explained():
            async with self._in_context(tab.cookie_store_id) as context:
                page = await context.new_page()
        self._assign(page, tab)
        past = history.decode_snapshot(snapshot, tab.url)
        if tab.pending_url and tab.pending_url != tab.url:
            url, past = self._target_of(tab), past and past.with_navigation(tab.pending_url)
            page.load(url, tab.navigation_id, past, fallback_url=tab.url if tab.url != BLANK else "")
        elif tab.pending_url or tab.url != BLANK:
            page.load(tab.url, tab.navigation_id, past, restored_title=tab.title)
        else:
            await page.navigation.clear()

    async def navigate(self, tab: Tab) -> None:
        """See Engine."""
        page = self._pages.get(tab.id)
        if page is None or page.is_crashed:
            await self.close(tab.id, hiding=False)
            await self.open(tab, None)
        else:
            await self._interception_ready()
            page.load(self._target_of(tab) or tab.url, tab.navigation_id)

    async def activate(self, tab: Tab) -> None:
        """See Engine."""
        self._active_tab = tab.id
        if time.monotonic() - self._focused_at.pop(tab.id, -_FOCUS_ECHO_SECONDS) < _FOCUS_ECHO_SECONDS:
            return  # the user did it, and may look at another one by now
        if page := self._pages.get(tab.id):
            with contextlib.suppress(PlaywrightError):
                await within(page.page.bring_to_front(), "Page.bringToFront")

    async def close(self, tab_id: int, *, hiding: bool) -> None:
        """See Engine."""
        page = self._pages.pop(tab_id, None)
        if page is None:
            await self._close_target(tab_id)
            return
        context = self._context_with(page)
        try:
            if hiding and page.typed_input.is_possible and await self._park(tab_id, page):
                return
            page.is_closing = True
            # At once: a page that does not answer is waited for no longer than it has to be.
            await asyncio.gather(
                *([self._keep(tab_id, page)] if hiding else []), *([_saved(context, page)] if context else [])
            )
        except asyncio.CancelledError:
            if hiding:  # the engine is being stopped, and stop() saves what is in `_pages`
                self._parked.pop(tab_id, None)
                self._pages.setdefault(tab_id, page)
            raise
        if context is None:
            await page.close()
        else:
            await context.close_page(page)
            await self._close_if_empty(context)

    async def remove_identity(self, cookie_store_id: str) -> None:
        """See Engine."""
        async with self._locks[cookie_store_id]:
            if context := self._contexts.pop(cookie_store_id, None):
                await context.discard()
        self._locks.pop(cookie_store_id, None)

    # ------------------------------------------------------------------------------------------- for who uses it

    @property
    def tabs(self) -> set[int]:
        """The tabs that have a page now."""
        return set(self._pages)

    def page_of(self, tab_id: int) -> PlaywrightPage | None:
        """The page of a tab; None if it has none."""
        page = self._pages.get(tab_id)
        return page.page if page else None

    def sign_in(self, tab_id: int, url: str) -> None:
        """Use the user name and password of this URL when the tab loads it next. The profile does not store them."""
        self._with_credentials[tab_id] = url

    async def loaded(self, tab_id: int) -> None:
        """Wait until nothing is loading in the page of a tab."""
        if page := self._pages.get(tab_id):
            await page.state.wait_until_idle()

    async def synced(self) -> None:
        """Resolves when all that was changed by now, in the store or in the browser, is known on both sides, and the
        requests are heard that somebody listens to."""
        await self._store.deliver_pending_changes()
        await self._interception_ready()
        if self._forgetting:
            await asyncio.wait(self._forgetting)
        with _explained():
            await asyncio.gather(*(context.cookies.wait_until_synced() for context in self._contexts.values()))

    async def wait_until_closed(self) -> None:
        """Resolves when what was closed by now is closed in the profile. With windows a user may be about to quit the
        browser, and then what it closes is not to be closed: so nobody hurries."""
        if self._headless and self._leaving:
            self._skip_close_delay.set()
            await asyncio.wait(self._leaving, timeout=_SNAPSHOT_TIMEOUT)
            self._skip_close_delay.clear()

    async def context_of(self, cookie_store_id: str) -> BrowserContext:
        """The context of an identity."""
        with _explained():
            async with self._in_context(cookie_store_id) as context:
                await context.close_spare_page()
                return context.context

    # ------------------------------------------------------------------------------------------ what is told to it

    def page_opened(self, context: IdentityContext, page: LivePage) -> None:
        """See contexts.Watcher."""
        self._begin(self._adopt_page(context, page))

    def page_closed(self, context: IdentityContext, page: LivePage) -> None:
        """See contexts.Watcher."""
        self._parked = {tab_id: each for tab_id, each in self._parked.items() if each is not page}
        task = self._begin(self._confirm_page_closed(context, page))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    def context_closed(self, context: IdentityContext) -> None:
        """See contexts.Watcher."""
        if self._contexts.get(context.cookie_store_id) is context:
            del self._contexts[context.cookie_store_id]
        ours = [(tab_id, page) for tab_id, page in self._pages.items() if page.page.context is context.context]
        dropped = [tab_id for tab_id, page in ours if not page.is_closed_alone]
        for tab_id in dropped:
            del self._pages[tab_id]
        self._begin(self._drop(context, dropped))

    def page_focused(self, page: LivePage) -> None:
        """See contexts.Watcher."""
        if page in self._parked.values():
            self._begin(self._show_if_brought_back(page))
        elif page.tab_id is not None and page.tab_id != self._active_tab:
            self._active_tab = page.tab_id
            self._focused_at[page.tab_id] = time.monotonic()
            self._begin(self._reports.page_activated(page.tab_id))

    async def _adopt_page(self, context: IdentityContext, page: LivePage) -> None:
        tab = await self._tab_for_target(context, page.target_id, page.opener_id, page.page.url)
        self._claims.pop(page.target_id, None)
        if tab is None:
            return
        self._assign(page, tab)
        page.navigation.adopt()
        if page.page.is_closed():
            self._pages.pop(tab.id, None)
            await self._reports.page_closed(tab.id)

    def _tab_for_target(
        self, context: IdentityContext, target_id: str, opener_id: str | None, url: str
    ) -> asyncio.Task[Tab | None]:
        """The tab of a page that has opened by itself. It can have one before it is a page for Playwright."""
        if target_id not in self._claims:
            self._claims[target_id] = self._begin(self._open_tab(context, opener_id, url))
        return self._claims[target_id]

    async def _open_tab(self, context: IdentityContext, opener_id: str | None, url: str) -> Tab | None:
        requested = context.openers.take(opener_id, url)
        in_background = opener_id is None and requested is not None and requested.in_background
        opener_id = opener_id or (requested.target_id if requested else None)
        opener = next((each for each in self._pages.values() if each.target_id == opener_id), None)
        try:
            return await self._reports.page_opened(
                context.cookie_store_id, opener.tab_id if opener else None, active=not in_background
            )
        except (EngineError, InvalidIdentity):
            return None  # the engine is being stopped, or the identity removed

    async def _close_target(self, tab_id: int) -> None:
        """Close the page of a tab that is not yet one for Playwright."""
        for target_id, claim in list(self._claims.items()):
            tab = claim.result() if claim.done() and not claim.cancelled() else None
            if tab is not None and tab.id == tab_id and self._launched is not None:
                del self._claims[target_id]
                with contextlib.suppress(PlaywrightError):
                    await self._launched.session.send("Target.closeTarget", {"targetId": target_id})

    async def _drop(self, context: IdentityContext, tab_ids: list[int]) -> None:
        """Open the tabs of a closed context again, unless the browser ends: that is reported as a crash."""
        if not await self._outlives_its_pages():
            return
        if tab_ids:
            logger.warning(
                "the browser context of %s was closed; its %d tabs stay in the profile and are opened again",
                context.cookie_store_id,
                len(tab_ids),
            )
        for tab_id in tab_ids:
            self._reports.dropped(tab_id)

    async def _confirm_page_closed(self, context: IdentityContext, page: LivePage) -> None:
        """Find out whether a page was closed, or the browser dies, or is being quit: pages close either way.

        A browser that is quit answers until its end. So it is given the time to come to it.
        """
        if not await self._outlives_its_pages():
            return  # it is reported as a crash
        if page.tab_id is not None and self._pages.get(page.tab_id) is page:
            del self._pages[page.tab_id]
            await self._reports.page_closed(page.tab_id)
        await self._close_if_empty(context)

    async def _outlives_its_pages(self) -> bool:
        """Whether the browser still runs some time after pages were closed."""
        await self._pause(_CLOSE_CONFIRM_DELAY)
        if all(each.page.is_closed() for each in self._pages.values()):
            await self._pause(_QUIT_CONFIRM_DELAY)
        launched = self._launched
        try:
            if launched is not None:
                await launched.session.send("Browser.getVersion")
        except PlaywrightError:
            return False
        return True

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._skip_close_delay.wait()

    def _on_lost(self, launched: Launched) -> None:
        if launched is not self._launched:
            return
        self._stop_watching()
        for context in self._contexts.values():
            context.stop()
            context.cookies.stop()
            for page in context.pages:
                page.detach()
        self._contexts.clear()
        self._pages.clear()
        self._parked.clear()
        self._reports.engine_crashed("its process has ended")

    def _on_cookie(self, change: CookieChange) -> None:
        if context := self._contexts.get(change.cookie_store_id):
            context.cookies.on_store_change(change)
        elif change.cookie_store_id in self._opening:
            self._opening[change.cookie_store_id] = True

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic == RESYNC:
            self._begin(self._close_parked())
            for context in self._contexts.values():
                context.cookies.schedule_full_sync()
            self._opening = dict.fromkeys(self._opening, True)
        elif change.topic == REMOVED:
            self._begin(self._close_parked())
        elif change.topic == SITE_DATA_CLEARED:
            forgotten = msgspec.json.decode(change.payload, type=SiteDataRemoval)
            if (cookie_store_id := cookie_store_id_of(forgotten.number)) in self._locks:
                task = self._begin(self._forget_site_data(cookie_store_id, forgotten))
                self._forgetting.add(task)
                task.add_done_callback(self._forgetting.discard)

    async def _forget_site_data(self, cookie_store_id: str, forgotten: SiteDataRemoval) -> None:
        async with self._locks[cookie_store_id]:  # one that is being made may have been given it already
            if context := self._contexts.get(cookie_store_id):
                await context.clear_site_data(forgotten)

    async def _on_identity(self, identity: ContextualIdentity) -> None:
        if context := self._contexts.get(identity.cookie_store_id):
            await context.set_indicator(indicator_for(identity))

    # ---------------------------------------------------------------------------------------------------- requests

    async def request_frame(self, target: Target) -> RequestFrame | None:
        """See requests.Places."""
        context = next((each for each in self._contexts.values() if each.context_id == target.context_id), None)
        if context is None:
            return None  # it is being made, or saved: what it loads is only for us
        if target.kind != "page":
            return RequestFrame(-1, -1, context.cookie_store_id)
        page = context.page_at(target.id)
        if page is not None and page.state.is_internal:
            return None  # the page itself answers it: in Chromium 156 it does not even come here
        tab_id = page.tab_id if page is not None else None
        if tab_id is None:
            tab = await self._tab_for_target(context, target.id, target.opener_id, target.url)
            tab_id = tab.id if tab is not None else -1
        row = await self._store.read(lambda each: each.tabs.get(tab_id))
        return RequestFrame(tab_id, row.window if row is not None else -1, context.cookie_store_id)

    def is_shown(self, target_id: str) -> bool:
        """See requests.Places."""
        return any(context.page_at(target_id) is not None for context in self._contexts.values())

    def refuse(self, target_id: str, url: str, why: str) -> None:
        """See requests.Places."""
        for context in self._contexts.values():
            if page := context.page_at(target_id):
                page.state.fail(url, why)

    def target_gone(self, target_id: str) -> None:
        """See requests.Places."""
        if claim := self._claims.pop(target_id, None):
            self._begin(self._close_unattached_tab(claim))

    async def _close_unattached_tab(self, claim: asyncio.Task[Tab | None]) -> None:
        if (tab := await claim) is not None and tab.id not in self._pages:
            await self._reports.page_closed(tab.id)

    async def _interception_ready(self) -> None:
        """What is loaded now is heard by all who have asked for that before."""
        if self._watch is not None:
            await self._watch.settled()

    # ---------------------------------------------------------------------------------------------------- contexts

    @contextlib.asynccontextmanager
    async def _in_context(self, cookie_store_id: str) -> AsyncIterator[IdentityContext]:
        """The context of an identity, made if there is none, and kept while this is entered."""
        async with self._locks[cookie_store_id]:
            context = self._contexts.get(cookie_store_id)
            if context is None:
                context = self._contexts[cookie_store_id] = await self._new_context(cookie_store_id)
            context.users += 1
        try:
            yield context
        finally:
            context.users -= 1

    async def _new_context(self, cookie_store_id: str) -> IdentityContext:
        launched = self._launched
        if launched is None:
            raise EngineError("the browser does not run")
        cookie_store, indicator = await asyncio.gather(
            self._stores.open(cookie_store_id), self._indicator(cookie_store_id)
        )
        async with self._making:
            context, context_id = await self._bare_context(launched)
        looks = ContextOptions(self._headless, indicator, self._downloads)
        self._opening[cookie_store_id] = False
        try:
            made = await IdentityContext.open(
                context, context_id, launched.session, cookie_store, self._store, self, looks
            )
            if self._opening.get(cookie_store_id):
                made.cookies.schedule_full_sync()
            return made
        except BaseException:
            await close_context(context, context_id, launched.session)
            raise
        finally:
            self._opening.pop(cookie_store_id, None)

    async def _bare_context(self, launched: Launched) -> tuple[BrowserContext, str]:
        """A new context and its id, which Playwright keeps to itself: it is the one that was not there before."""
        while True:
            before = await _context_ids(launched)
            wanted: dict[str, Any] = {"user_agent": launched.user_agent} if self._headless else {"no_viewport": True}
            context = await within(launched.browser.new_context(**wanted), "Target.createBrowserContext")
            new = await _context_ids(launched) - before
            if len(new) == 1:
                return context, new.pop()
            await within(context.close(), "context.close()")  # a concurrent call has created one

    async def _indicator(self, cookie_store_id: str) -> IdentityIndicator | None:
        if not self._shows_indicator or cookie_store_id == DEFAULT_STORE:
            return None
        return indicator_for(await self._identities.get(cookie_store_id))

    async def _close_if_empty(self, context: IdentityContext) -> None:
        async with self._locks[context.cookie_store_id]:
            if context.pages or context.users or self._contexts.get(context.cookie_store_id) is not context:
                return
            del self._contexts[context.cookie_store_id]
            await _closed(context)

    def _context_with(self, page: LivePage) -> IdentityContext | None:
        return next((context for context in self._contexts.values() if page in context.pages), None)

    def _target_of(self, tab: Tab) -> str:
        url = self._with_credentials.pop(tab.id, "")
        return url if url and without_credentials(url) == tab.pending_url else tab.pending_url

    def _assign(self, page: LivePage, tab: Tab) -> None:
        page.assign(TabReporter(self._reports, tab.id, tab.navigation_id))
        self._pages[tab.id] = page

    async def _keep(self, tab_id: int, page: LivePage) -> None:
        """Save a snapshot of a page, and report typed text that is lost."""
        try:
            async with asyncio.timeout(_SNAPSHOT_TIMEOUT):
                typed = await page.typed_input.read()
                kept = await page.snapshots.snapshot(typed.forms)
        except (PlaywrightError, TimeoutError) as error:
            logger.debug("nothing can be kept of tab %d: %s", tab_id, error)
            typed, kept = TypedInput(lost={FROZEN: 1} if page.typed_input.is_possible else {}), None
        if kept is not None:
            await self._reports.save_snapshot(tab_id, kept)
        elif typed.forms:
            typed = TypedInput(lost={**typed.lost, NOT_WEB: sum(len(form.fields) for form in typed.forms)})
        if typed.lost:
            lost = describe_lost(typed.lost)
            logger.warning("tab %d: typed text is not saved: %s", tab_id, ", ".join(lost))
            await self._reports.not_saved(tab_id, lost)

    async def _park(self, tab_id: int, page: LivePage) -> bool:
        """Minimise the window of a page with typed text, if the desktop can do that, instead of closing the page.

        The typed text is saved too, because the browser may end before the tab is shown again.
        """
        parking, context = self._parking, self._context_with(page)
        if parking is None or context is None or self._headless or page.is_crashed:
            return False
        try:
            async with asyncio.timeout(_SNAPSHOT_TIMEOUT):
                typed = await page.typed_input.read()
                kept = await page.snapshots.snapshot(typed.forms)
        except (PlaywrightError, TimeoutError):
            return False
        number = store_user_context_id(context.cookie_store_id)
        rows = await self._store.read(lambda each: each.tabs.find(store=number))
        visible = [self._pages[row.id].target_id for row in rows if not row.hidden and row.id in self._pages]
        if typed.is_empty or not await parking.park(page.target_id, visible):
            return False
        page.park()
        self._parked[tab_id] = page
        if kept is not None:
            await self._reports.save_snapshot(tab_id, kept)
        await context.save(page)
        return True

    async def _unpark(self, tab: Tab) -> bool:
        """Show a page that stayed open while its tab was hidden; False if there is none."""
        page = self._parked.pop(tab.id, None)
        if page is None or self._parking is None or page.page.is_closed():
            return False
        if page.is_crashed:
            await page.close()
            return False
        self._assign(page, tab)
        await self._parking.bring_back(page.target_id)
        if tab.pending_url and tab.pending_url != tab.url:  # showing the page again needs no load
            page.load(self._target_of(tab), tab.navigation_id)
        else:
            page.resume()
        return True

    async def _show_if_brought_back(self, page: LivePage) -> None:
        if self._parking is not None and not await self._parking.is_minimised(page.target_id):
            for tab_id in [tab_id for tab_id, each in self._parked.items() if each is page]:
                await self._reports.shown(tab_id)

    async def _close_parked(self) -> None:
        """Close the pages of hidden tabs that were closed in the profile."""
        if not self._parked:
            return
        rows = await self._store.read(lambda each: {row.id for row in each.tabs.find()})
        for tab_id in [each for each in self._parked if each not in rows]:
            page = self._parked.pop(tab_id)
            context = self._context_with(page)
            if context is None:
                await page.close()
            else:
                await context.close_page(page)
                await self._close_if_empty(context)

    async def _let_go(self) -> None:
        launched, self._launched = self._launched, None
        self._stop_watching()
        for task in self._tasks:
            task.cancel()
        self._contexts.clear()
        self._pages.clear()
        self._parked.clear()
        self._active_tab = None
        self._focused_at.clear()
        if launched is not None:
            await launched.stop()

    def _stop_watching(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.stop()
        self._claims.clear()

    def _begin(self, work: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            level = logging.DEBUG if isinstance(error, PlaywrightError) else logging.ERROR
            logger.log(level, "the Chromium engine failed", exc_info=error)


async def _saved(context: IdentityContext, page: LivePage) -> None:
    """Save the site data of a page. If the page does not respond in time, it is read again from an empty page."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_CONTEXT_SAVE_TIMEOUT):
            await context.save(page)


async def _closed(context: IdentityContext) -> None:
    """Close a context; if the browser does not answer, what is not yet saved is lost, and nobody waits for ever."""
    try:
        async with asyncio.timeout(_CONTEXT_SAVE_TIMEOUT):
            await context.close()
    except TimeoutError:
        logger.warning("the browser does not answer, and %s may not be saved whole", context.cookie_store_id)


async def _context_ids(launched: Launched) -> set[str]:
    return set((await launched.session.send("Target.getBrowserContexts"))["browserContextIds"])


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except PlaywrightError as error:
        raise EngineError(f"the browser did not open a page: {str(error).splitlines()[0]}") from error
