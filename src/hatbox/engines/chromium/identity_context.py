"""One identity in the browser: a context of its own, with the identity's cookies and site data, and its pages."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from playwright.async_api import BrowserContext, Download, Request, Response
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as PlaywrightPage

from hatbox.cookies.cookie_stores import CookieStore
from hatbox.engines.chromium.closing import close_context
from hatbox.engines.chromium.cookie_sync import CookieSync
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.identity_indicator import IdentityIndicator
from hatbox.engines.chromium.live_page import LivePage, NavigationResponse
from hatbox.engines.chromium.net_errors import ABORTED
from hatbox.engines.chromium.openers import Openers
from hatbox.engines.chromium.sessions import Session, within
from hatbox.engines.chromium.site_data_sync import SiteData
from hatbox.identities.ids import store_user_context_id
from hatbox.store.base import Store
from hatbox.tabs.site_data import CACHE, DATABASES, LOCAL_STORAGE, SERVICE_WORKERS, SiteDataRemoval

__all__ = ["ContextDelegate", "ContextOptions", "IdentityContext"]

logger = logging.getLogger("hatbox.engines.chromium")

_COOKIE_POLL_SECONDS: Final = 0.5  # seconds between looks at cookies that change without a sign
_IDLE_COOKIE_POLL_SECONDS: Final = 10.0  # and between those that are only to be sure
_MAX_CACHED_RESPONSES: Final = 64  # answers of servers
_KINDS: Final = {
    LOCAL_STORAGE: "local_storage",
    DATABASES: "indexeddb",
    SERVICE_WORKERS: "service_workers,cache_storage",
}


class ContextOptions(msgspec.Struct, frozen=True):
    """How pages are shown."""

    headless: bool
    mark: IdentityIndicator | None
    downloads: Path | None
    """Where downloads go; None leaves them to whoever uses the page, and then they are deleted."""


class ContextDelegate(Protocol):
    """Who has the contexts: the engine."""

    def page_opened(self, context: IdentityContext, page: LivePage) -> None:
        """A page has opened by itself."""

    def page_closed(self, context: IdentityContext, page: LivePage) -> None:
        """A page is gone, and we have not closed it."""

    def context_closed(self, context: IdentityContext) -> None:
        """A Playwright user has closed a context with all its pages."""

    def page_focused(self, page: LivePage) -> None:
        """The user looks at this page now."""


class IdentityContext:
    """An identity in the browser. Close it when it has no pages left."""

    def __init__(
        self,
        context: BrowserContext,
        context_id: str,
        session: Session,
        cookies: CookieSync,
        cookie_store_id: str,
        store: Store,
        watcher: ContextDelegate,
        looks: ContextOptions,
    ) -> None:
        self.context = context
        """The context for Playwright."""
        self.context_id = context_id
        """Its name in the protocol."""
        self.browser_session = session
        self.cookie_store_id = cookie_store_id
        self.cookies = cookies
        self.pages: list[LivePage] = []
        self.openers = Openers()
        self.users = 0
        """How many are about to open a page in it."""
        self._watcher = watcher
        self._looks = looks
        self._answers: OrderedDict[str, NavigationResponse] = OrderedDict()
        self._site_data = SiteData(store, store_user_context_id(cookie_store_id) or 0, lambda: [*self.pages])
        self._making = asyncio.Lock()
        self._is_closing = False  # whether the engine closes it
        self._ours: set[PlaywrightPage] = set()
        self._live: dict[str, LivePage] = {}  # by their targets
        self._first: LivePage | None = None  # made to give back site data, and free for the first tab
        self._poll_now = asyncio.Event()
        self._polling: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(
        cls,
        context: BrowserContext,
        context_id: str,
        session: Session,
        cookie_store: CookieStore,
        store: Store,
        watcher: ContextDelegate,
        looks: ContextOptions,
    ) -> IdentityContext:
        """Give a new context what the identity has."""
        cookies = CookieSync(session, context_id, cookie_store)
        made = cls(context, context_id, session, cookies, cookie_store.cookie_store_id, store, watcher, looks)
        context.on("page", log_exceptions(made._on_page))
        context.on("response", log_exceptions(made._on_response))
        context.on("requestfailed", log_exceptions(made._on_failure))
        context.on("close", log_exceptions(lambda _: made._on_context_closed()))
        await asyncio.gather(cookies.load(), made._restore())
        made._polling = asyncio.ensure_future(made._poll())
        return made

    async def new_page(self) -> LivePage:
        """A page with nothing in it."""
        first, self._first = self._first, None
        page = first if first is not None and not first.page.is_closed() else await self._make_page()
        self.pages.append(page)
        return page

    async def close_spare_page(self) -> None:
        """Close the page that was made to give back site data, where nobody wants a page."""
        first, self._first = self._first, None
        if first is not None:
            await self.close_page(first)

    async def close_page(self, page: LivePage) -> None:
        """Close a page. If the browser does not close it, the context is closed, which does not wait for the page."""
        await page.close()
        self._on_close(page)

    def page_at(self, target_id: str) -> LivePage | None:
        """The page that has this target; None if there is none yet."""
        return self._live.get(target_id)

    async def save(self, page: LivePage) -> None:
        """Bring to disk what the sites in a page keep."""
        for origin in page.origins:
            await self._site_data.save(page, origin)

    async def close(self) -> None:
        """Bring to disk what is not there yet, and close the context with all pages."""
        self.stop()
        try:
            for page in self.pages:
                await self.save(page)
            await self._save_rest()
            await self.cookies.finish()
        except PlaywrightError as error:
            logger.debug("the context of %s was gone already: %s", self.cookie_store_id, error)
        finally:
            await self.discard()

    async def discard(self) -> None:
        """Close the context, and save nothing."""
        self._is_closing = True
        self.stop()
        self.cookies.stop()
        for page in self.pages:
            page.is_closing = True
            page.let_go()
        await close_context(self.context, self.context_id, self.browser_session)

    def stop(self) -> None:
        """Do nothing more by itself."""
        self._site_data.stop()
        for task in (self._polling, *self._tasks):
            if task is not None:
                task.cancel()

    async def set_mark(self, mark: IdentityIndicator | None) -> None:
        """Mark all pages otherwise."""
        self._looks = msgspec.structs.replace(self._looks, mark=mark)
        for page in self.pages:
            with contextlib.suppress(PlaywrightError):
                await page.set_mark(mark)

    # -------------------------------------------------------------------------------------------- what pages tell

    def answer(self, url: str) -> NavigationResponse:
        """What came of the latest request for this page."""
        return self._answers.get(url, NavigationResponse())

    def cookies_changed(self) -> None:
        """A script has changed a cookie, or may do so unseen from now on."""
        self.cookies.schedule_read()
        self._poll_now.set()

    def site_changed(self, origin: str) -> None:
        """An origin has changed what it keeps."""
        self._site_data.changed(origin)

    def document_unloading(self) -> None:
        """A document of a page is about to go."""
        self._site_data.leaving()

    def focused(self, page: LivePage) -> None:
        """The user looks at this page now."""
        self._watcher.page_focused(page)

    def tab_requested(self, page: LivePage, url: str, disposition: str) -> None:
        """A page requests a navigation in a new tab or window."""
        self.openers.request(page.target_id, url, disposition)

    def _on_response(self, response: Response) -> None:
        self.cookies.schedule_read()
        if response.request.is_navigation_request():
            content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            self._cache_response(response.url, NavigationResponse(response.status, content_type))

    def _on_failure(self, request: Request) -> None:
        failure = request.failure
        if request.is_navigation_request() and failure and failure != ABORTED:
            self._cache_response(request.url, NavigationResponse(failure=failure))

    def _cache_response(self, url: str, answer: NavigationResponse) -> None:
        url = url.partition("#")[0]
        self._answers[url] = answer
        self._answers.move_to_end(url)
        if len(self._answers) > _MAX_CACHED_RESPONSES:
            self._answers.popitem(last=False)
        if not answer.failure:
            for page in self.pages:
                page.on_late_response(url, answer)

    async def _poll(self) -> None:
        """Look at the cookies now and then, because there are changes that nobody tells of."""
        while True:
            pause = (
                _COOKIE_POLL_SECONDS
                if any(page.needs_cookie_polling for page in self.pages)
                else _IDLE_COOKIE_POLL_SECONDS
            )
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._poll_now.wait()
            self._poll_now.clear()
            self.cookies.schedule_read()

    # ------------------------------------------------------------------------------------------------------- pages

    async def _make_page(self) -> LivePage:
        async with self._making:
            page = await within(self.context.new_page(), "Target.createTarget")
            self._ours.add(page)
        return await self._attach(page)

    async def _attach(self, page: PlaywrightPage) -> LivePage:
        live = await LivePage.attach(page, self, self._looks.mark, headless=self._looks.headless)
        self._live[live.target_id] = live
        page.on("close", log_exceptions(lambda _: self._on_close(live)))
        if self._looks.downloads is not None:
            page.on("download", log_exceptions(self._on_download))
        return live

    def _on_page(self, page: PlaywrightPage) -> None:
        self._begin(self._adopt(page))

    async def _adopt(self, page: PlaywrightPage) -> None:
        """Take in a page that we have not made: one that another has opened, or the user of Playwright."""
        async with self._making:
            pass
        if page in self._ours:
            return
        self._ours.add(page)
        self.users += 1
        try:
            live = await self._attach(page)
            self.pages.append(live)
            self._watcher.page_opened(self, live)
        except PlaywrightError as error:
            logger.debug("a page was gone before it was there: %s", error)
        finally:
            self.users -= 1

    def _on_download(self, download: Download) -> None:
        if self._looks.downloads is not None:
            self._begin(_save(download, self._looks.downloads))

    def _on_close(self, page: LivePage) -> None:
        if page.page.is_closed():  # else it stays open until the context is closed, and must not become another tab
            self._ours.discard(page.page)
            self._live.pop(page.target_id, None)
        if page in self.pages:
            self.pages.remove(page)
        if not page.is_closing:
            page.is_closing = True
            page.let_go()
            # Playwright 1.65 reports whether the context is closing. With earlier versions, a page that was closed just
            # before its context is opened again with the others.
            is_context_closed = getattr(self.context, "is_closed", None)
            page.is_closed_alone = is_context_closed is not None and not is_context_closed()
            self._watcher.page_closed(self, page)

    def _on_context_closed(self) -> None:
        if not self._is_closing:
            self.stop()
            self.cookies.stop()
            self._watcher.context_closed(self)

    # --------------------------------------------------------------------------------------------------- site data

    async def _restore(self) -> None:
        saved = await self._site_data.load()
        if not saved:
            return
        page = self._first = await self._make_page()
        async with page.blank_responses():
            for origin, data in saved:
                try:
                    await page.navigate_to_blank(f"{origin}/")
                except (PlaywrightError, TimeoutError) as error:
                    self._site_data.not_restored(origin, error)
                    continue
                await self._site_data.restore(page, origin, data)
            await page.reset_history()

    async def forget_site_data(self, forgotten: SiteDataRemoval) -> None:
        """Remove in the browser what was removed in the profile, so that it is not saved there again."""
        page = next((each for each in self.pages if not each.is_crashed), None) or await self._make_page()
        try:
            if kinds := [_KINDS[part] for part in forgotten.storage_types if part in _KINDS]:
                for origin in forgotten.origins:
                    await page.forget_site_data(origin, kinds)
            if CACHE in forgotten.storage_types:
                await page.forget_cache()
        finally:
            if page not in self.pages:
                await self.close_page(page)
        self._site_data.forget(forgotten)

    async def _save_rest(self) -> None:
        """Save what was changed just before the last page of an origin was closed, on an empty page."""
        unsaved = self._site_data.unsaved
        if not unsaved:
            return
        page = await self._make_page()
        page.is_closing = True
        async with page.blank_responses():
            for origin in unsaved:
                with contextlib.suppress(TimeoutError):
                    await page.navigate_to_blank(f"{origin}/")
                    await self._site_data.save(page, origin)

    def _begin(self, work: Any) -> None:
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("the Chromium engine failed", exc_info=error)


async def _save(download: Download, folder: Path) -> None:
    path = free_path(folder, download.suggested_filename)
    try:
        await download.save_as(path)
        logger.info("downloaded %s", path)
    except (PlaywrightError, OSError) as error:
        logger.warning("%s could not be downloaded: %s", path.name, error)


def free_path(folder: Path, name: str) -> Path:
    """A path for a file of this name that is not taken: with a number, where it would be."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = folder / (Path(name).name or "download")
    path, number = wanted, 0
    while path.exists():
        number += 1
        path = wanted.with_name(f"{wanted.stem} ({number}){wanted.suffix}")
    return path
