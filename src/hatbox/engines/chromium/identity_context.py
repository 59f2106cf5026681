"""The browser context of one identity, with its cookies, site data and pages."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Final, Protocol

import msgspec
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as PlaywrightPage

from hatbox.cookies.cookie_stores import CookieStore
from hatbox.engines.chromium.closing import close_context, end_workers
from hatbox.engines.chromium.cookie_polling import CookiePoller
from hatbox.engines.chromium.cookie_sync import CookieSync
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.downloads import DownloadingPage, PageDownloads, save_downloads
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.identity_indicator import IdentityIndicator
from hatbox.engines.chromium.live_page import ContextServices, LivePage
from hatbox.engines.chromium.navigation_responses import NavigationResponse, NavigationResponses
from hatbox.engines.chromium.openers import Openers
from hatbox.engines.chromium.proxy_relay import ProxyRelay
from hatbox.engines.chromium.ruled_navigation import BlockedPage
from hatbox.engines.chromium.sessions import Session, within
from hatbox.engines.chromium.shown_indicator import ShownIndicator
from hatbox.engines.chromium.site_data_sync import SiteDataSync
from hatbox.engines.chromium.user_agent_hints import user_agent_override
from hatbox.identity.ids import user_context_id_of
from hatbox.identity.settings import NO_SETTINGS, IdentitySettings
from hatbox.store.base import Store
from hatbox.tabs.site_data import CACHE, DATABASES, LOCAL_STORAGE, SERVICE_WORKERS, SiteDataRemoval
from hatbox.tasks import Tasks

__all__ = ["ContextDelegate", "ContextOptions", "IdentityContext"]

logger = logging.getLogger("hatbox.engines.chromium")

_OFFLINE_TIMEOUT: Final = 1.0  # a page that waits for a proxy does not answer
_SAVE_TIMEOUT: Final = 8.0  # of the pages together; less than that of the whole context

_CDP_STORAGE_TYPES: Final = {
    LOCAL_STORAGE: "local_storage",
    DATABASES: "indexeddb",
    SERVICE_WORKERS: "service_workers,cache_storage",
}


class ContextOptions(msgspec.Struct, frozen=True):
    """Options for the pages of a context."""

    headless: bool
    indicator: IdentityIndicator | None
    downloads: PageDownloads | None
    """Where downloads go. With None, Playwright deletes them with the context."""
    settings: IdentitySettings = NO_SETTINGS
    """The settings with which the browser context was created."""
    relay: ProxyRelay | None = None
    """Adds the credentials of the proxy. Closed with the context."""
    endpoint_pages: EndpointPages = msgspec.field(default_factory=EndpointPages)
    """The pages that clients of endpoints do not see."""


class ContextDelegate(Protocol):
    """Callbacks of a context. The engine implements them."""

    def page_opened(self, context: IdentityContext, page: LivePage) -> None:
        """A page, or a user of Playwright, has opened a page."""

    def page_closed(self, context: IdentityContext, page: LivePage) -> None:
        """A page was closed, but not by the engine."""

    def context_closed(self, context: IdentityContext) -> None:
        """A user of Playwright has closed the context with all its pages."""

    def page_focused(self, page: LivePage) -> None:
        """The user has focused this page."""

    def identity_chosen(self, page: LivePage, blocked: BlockedPage, cookie_store_id: str) -> None:
        """The user has chosen an identity for a page that a rule has blocked."""

    def link_followed(self, page: LivePage, link: str) -> None:
        """The user has clicked a link of the form ext+name:…"""


class IdentityContext:
    """The browser context of an identity. Close it when it has no pages left."""

    def __init__(
        self,
        context: BrowserContext,
        context_id: str,
        session: Session,
        cookie_store: CookieStore,
        store: Store,
        delegate: ContextDelegate,
        options: ContextOptions,
    ) -> None:
        self.context = context
        """The context for Playwright."""
        self.context_id = context_id
        """The browserContextId of CDP."""
        self.browser_session = session
        self.cookie_store_id = cookie_store.cookie_store_id
        self.cookies = CookieSync(session, context_id, cookie_store)
        self.pages: list[LivePage] = []
        self.openers = Openers()
        self.settings = options.settings
        """The settings with which the browser context was created."""
        self.users = 0
        """The number of calls that are about to open a page in the context."""
        self.indicator = ShownIndicator(options.indicator, lambda: [each.world for each in self._live_pages.values()])
        """The identity indicator of the pages."""
        self.clients = self.indicator.clients
        """The clients of endpoints: the context stays open for them without pages too."""
        self.ended = asyncio.Event()
        """Set when the context is about to be closed: clients of endpoints are disconnected."""
        self._delegate = delegate
        self._options = options
        self._tasks = Tasks(_log_task_error)
        self._site_data = SiteDataSync(
            store, user_context_id_of(self.cookie_store_id) or 0, lambda: [page.world for page in self.pages]
        )
        self._responses = NavigationResponses(self._on_navigation_response)
        self._poller = CookiePoller(
            self.cookies, lambda: any(page.storage.needs_cookie_polling for page in self.pages), self._tasks
        )
        agent, locale = options.settings.user_agent, options.settings.locale
        self._services = ContextServices(
            session,
            self._responses,
            self._poller,
            self._site_data,
            self.openers,
            delegate.page_focused,
            delegate.identity_chosen,
            delegate.link_followed,
            options.endpoint_pages,
            None if agent is None else user_agent_override(agent, locale),
        )
        self._creating = asyncio.Lock()
        self._is_closing = False  # by the engine
        self._adopted: set[PlaywrightPage] = set()
        self._live_pages: dict[str, LivePage] = {}  # by target id
        self._spare_page: LivePage | None = None  # restored the site data; the first tab can use it

    @classmethod
    async def open(
        cls,
        context: BrowserContext,
        context_id: str,
        session: Session,
        cookie_store: CookieStore,
        store: Store,
        delegate: ContextDelegate,
        options: ContextOptions,
    ) -> IdentityContext:
        """Restore the cookies and site data of an identity in a new browser context."""
        opened = cls(context, context_id, session, cookie_store, store, delegate, options)
        context.on("page", log_exceptions(opened._on_page))
        context.on("response", log_exceptions(lambda _: opened.cookies.schedule_read()))
        context.on("close", log_exceptions(lambda _: opened._on_context_closed()))
        opened._responses.listen(context)
        await asyncio.gather(opened.cookies.load(), opened._restore_site_data())
        opened._poller.start()
        return opened

    @property
    def has_windows(self) -> bool:
        """Whether a person can see the pages."""
        return not self._options.headless

    async def new_page(self) -> LivePage:
        """Open a blank page."""
        spare, self._spare_page = self._spare_page, None
        page = spare if spare is not None and not spare.page.is_closed() else await self._create_page()
        self.pages.append(page)
        return page

    async def close_spare_page(self) -> None:
        """Close the page that restored the site data, if no tab uses it."""
        spare, self._spare_page = self._spare_page, None
        if spare is not None:
            await self.close_page(spare)

    async def close_page(self, page: LivePage) -> None:
        """Close a page. If the browser does not close it, the context is closed, which does not wait for the page."""
        await page.close()
        self._on_close(page)

    def page_at(self, target_id: str) -> LivePage | None:
        """The page of a target; None before it is attached."""
        return self._live_pages.get(target_id)

    async def save(self, page: LivePage) -> None:
        """Save the site data of the documents of a page."""
        for origin in page.world.origins:
            await self._site_data.save(page.world, origin)

    async def clear_site_data(self, removal: SiteDataRemoval) -> None:
        """Clear in the browser what was cleared in the profile, so that it is not saved again."""
        page = next((each for each in self.pages if not each.is_crashed), None) or await self._create_page()
        try:
            await _clear_in_browser(page, removal)
        finally:
            if page not in self.pages:
                await self.close_page(page)
        self._site_data.cleared(removal)

    async def close(self) -> None:
        """Save cookies and site data, and close the context with all pages."""
        self.stop()
        try:
            with contextlib.suppress(TimeoutError):  # a frozen page must not cost the cookies
                async with asyncio.timeout(_SAVE_TIMEOUT):
                    await self._save_pages()
            await self.cookies.finish()
        except PlaywrightError as error:
            logger.debug("context of %s: closed before it was saved: %s", self.cookie_store_id, error)
        finally:
            await self.discard()

    async def _save_pages(self) -> None:
        await self._site_data.finish()
        await asyncio.gather(*map(self.save, self.pages))
        if self._site_data.unsaved:
            page = await self._create_page()
            page.is_closing = True
            await _save_unsaved(page, self._site_data)

    async def discard(self) -> None:
        """Close the context without saving."""
        self._is_closing = True
        self.stop()
        self.cookies.stop()
        for page in self.pages:
            page.is_closing = True
            page.detach()
        await close_context(self.context, self.context_id, self.browser_session)
        if self._options.relay is not None:
            await self._options.relay.close()

    async def go_offline(self) -> bool:
        """Send no more requests: the context is about to be closed, because its proxy has changed.

        False if some may still be sent. Then it must be closed at once.
        """
        self.ended.set()  # a client could set its pages online again
        if self._options.relay is not None:
            await self._options.relay.close()
        try:
            await within(self._go_offline(), "context.set_offline()", _OFFLINE_TIMEOUT)
        except PlaywrightError as error:
            logger.debug("context of %s: not set offline: %s", self.cookie_store_id, error)
            return self._options.relay is not None  # without it, nothing reaches the proxy
        return True

    async def _go_offline(self) -> None:
        # Workers first: pages that are offline cannot start one again.
        await end_workers(self.browser_session, self.context_id)
        await within(self.context.set_offline(True))
        await asyncio.gather(*(page.block_requests() for page in self.pages))
        await end_workers(self.browser_session, self.context_id)

    def stop(self) -> None:
        """Stop polling, and cancel scheduled saves. Clients of endpoints are disconnected."""
        self.ended.set()
        self.indicator.stop()
        self._site_data.stop()
        self._tasks.cancel()

    def abandon(self) -> None:
        """Stop all work, and store nothing any more, also not what is being read from the browser."""
        self.stop()
        self._site_data.abandon()
        self.cookies.abandon()

    async def _restore_site_data(self) -> None:
        if saved := await self._site_data.load():
            self._spare_page = await self._create_page()
            await _restore_all(self._spare_page, self._site_data, saved)

    async def _create_page(self) -> LivePage:
        async with self._creating:
            page = await within(self.context.new_page(), "Target.createTarget")
            self._adopted.add(page)
        return await self._attach(page)

    async def _attach(self, page: PlaywrightPage) -> LivePage:
        options = self._options
        live = await LivePage.attach(page, self._services, self.indicator.current, headless=options.headless)
        self._live_pages[live.target_id] = live
        self.indicator.update()
        page.on("close", log_exceptions(lambda _: self._on_close(live)))
        source = DownloadingPage(
            live.target_id, live.opener_id, self.context_id, self.cookie_store_id, options.endpoint_pages
        )
        save_downloads(page, source, options.downloads, self._tasks)
        return live

    # ------------------------------------------------------------------------------------------------------ events

    def _on_navigation_response(self, url: str, response: NavigationResponse) -> None:
        for page in self.pages:
            page.state.on_response(url, response)

    def _on_page(self, page: PlaywrightPage) -> None:
        self._tasks.spawn(self._adopt(page))

    async def _adopt(self, page: PlaywrightPage) -> None:
        """Attach to a page that the engine has not opened."""
        async with self._creating:  # until then, a page of the engine is not in `_adopted`
            pass
        if page in self._adopted:
            return
        self._adopted.add(page)
        self.users += 1
        try:
            live = await self._attach(page)
            self.pages.append(live)
            self._delegate.page_opened(self, live)
        except PlaywrightError as error:
            logger.debug("target closed before attach: %s", error)
        finally:
            self.users -= 1

    def _on_close(self, page: LivePage) -> None:
        if page.page.is_closed():  # otherwise it stays open until the context is closed, and must not become a tab
            page.storage.on_document_end()
            self._adopted.discard(page.page)
            self._live_pages.pop(page.target_id, None)
            self._options.endpoint_pages.remove(page.target_id)
        if page in self.pages:
            self.pages.remove(page)
        if not page.is_closing:
            page.is_closing = True
            page.detach()
            # Playwright 1.65 reports whether the context is closing. With earlier versions, a page that was closed just
            # before its context is opened again with the others.
            is_context_closed = getattr(self.context, "is_closed", None)
            page.is_closed_alone = is_context_closed is not None and not is_context_closed()
            self._delegate.page_closed(self, page)

    def _on_context_closed(self) -> None:
        if not self._is_closing:
            self.stop()
            self.cookies.stop()
            self._delegate.context_closed(self)


def _log_task_error(error: BaseException) -> None:
    logger.error("background task of a browser context failed", exc_info=error)


async def _restore_all(page: LivePage, site_data: SiteDataSync, saved: list[tuple[str, str]]) -> None:
    """Write the saved data of each origin in a blank document of that origin."""
    async with page.blank.blank_responses():
        for origin, data in saved:
            try:
                await page.blank.navigate_to_blank(f"{origin}/")
            except (PlaywrightError, TimeoutError) as error:
                site_data.restore_failed(origin, error)
                continue
            await site_data.restore(page.world, origin, data)
        await page.blank.reset_history()


async def _save_unsaved(page: LivePage, site_data: SiteDataSync) -> None:
    """Save data that was changed just before the last page of its origin was closed."""
    async with page.blank.blank_responses():
        for origin in site_data.unsaved:
            with contextlib.suppress(TimeoutError):
                await page.blank.navigate_to_blank(f"{origin}/")
                await site_data.save(page.world, origin)


async def _clear_in_browser(page: LivePage, removal: SiteDataRemoval) -> None:
    """Clear site data in the browser context of a page."""
    storage_types = [_CDP_STORAGE_TYPES[each] for each in removal.storage_types if each in _CDP_STORAGE_TYPES]
    if storage_types:
        for origin in removal.origins:
            await page.storage.clear(origin, storage_types)
    if CACHE in removal.storage_types:
        await page.storage.clear_cache()
