"""The Chromium engine: shows the tabs of a profile in a browser, with one browser context per identity."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

import platformdirs
from playwright.async_api import BrowserContext, Download
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as PlaywrightPage

from hatbox.cookies.cookie_stores import CookieStores
from hatbox.downloads.download_list import Downloads
from hatbox.engines.base import Engine, EngineDelegate, EngineOptions
from hatbox.engines.chromium.browser_environment import BrowserEnvironment, ProfileServices, WindowOptions
from hatbox.engines.chromium.context_registry import map_browser_errors
from hatbox.engines.chromium.context_renewal import has_proxies
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.downloads import PageDownloads
from hatbox.engines.chromium.driver_connection import wait_until_driver_ends
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.hosted_pages import HostedPages
from hatbox.engines.chromium.launch import browser_path, launch
from hatbox.engines.chromium.page_saving import lost_input, save_site_data, save_snapshot
from hatbox.engines.chromium.page_snapshot import decode_snapshot
from hatbox.engines.chromium.running_browser import RunningBrowser
from hatbox.engines.chromium.script_pages import ScriptPages
from hatbox.engines.chromium.scripted_browser import PageScripts, ScriptedBrowser
from hatbox.engines.endpoint_options import NO_OPTIONS, EndpointOptions
from hatbox.engines.extension_buttons import ExtensionButtons
from hatbox.engines.navigation_rules import NavigationRules, is_rule_message
from hatbox.errors import EngineError
from hatbox.identities.service import Identities
from hatbox.site_rules.service import SiteRules
from hatbox.store.base import Store
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.tab_model import BLANK, Tab
from hatbox.tasks import Tasks
from hatbox.web_requests import RequestEvents

if TYPE_CHECKING:
    from hatbox.engines.chromium.endpoint.authorization import Authorize
    from hatbox.engines.chromium.endpoint.endpoint import Endpoint
    from hatbox.engines.chromium.endpoint.endpoint_host import EndpointHost

__all__ = ["ChromiumEngine"]

logger = logging.getLogger("hatbox.engines.chromium")


class ChromiumEngine(Engine):
    """Runs the Chromium at `browser`, or one found on the machine.

    With `indicator`, a frame and a badge show the identity on every page, and blank tabs show the start page, with
    `buttons`, the actions of extensions. Default: in headed mode. `downloads` is the folder of downloads. Default: that
    of the user in headed mode, none in headless mode.
    """

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
        rules: NavigationRules | None = None,
        buttons: ExtensionButtons | None = None,
        page_scripts: PageScripts | None = None,
        hosted: HostedPages | None = None,
        download_list: Downloads | None = None,
    ) -> None:
        if downloads is None and not headless:
            downloads = platformdirs.user_downloads_dir()
        for_people = not headless if indicator is None else indicator
        self.script_pages = ScriptPages()
        """The pages that scripts control."""
        self.endpoint_pages = EndpointPages()
        """The pages that clients of endpoints control, and those that they do not see."""
        self._endpoints: EndpointHost | None = None
        self._rules = rules or NavigationRules(store, SiteRules(store))
        shown = buttons if for_people else None
        self._services = ProfileServices(
            store, stores, identities, self._rules, self.script_pages, self.endpoint_pages, shown
        )
        self.download_checks: WeakKeyDictionary[Download, asyncio.Task[bool]] = WeakKeyDictionary()
        """See PageDownloads."""
        self._options = WindowOptions(
            headless=headless,
            indicator=for_people,
            downloads=None
            if downloads is None
            else PageDownloads(Path(downloads), download_list, self.download_checks),
        )
        self._browser = browser
        self._requests = requests or RequestEvents()
        self._page_scripts = page_scripts
        self._hosted = hosted
        self.running: RunningBrowser | None = None
        """The parts of the browser, from start() to stop()."""
        self._tasks = Tasks(_log_failure)
        self._with_credentials: dict[int, str] = {}  # URLs of tabs that load next; never stored

    async def start(self, delegate: EngineDelegate) -> None:
        """See Engine."""
        await self.stop()  # after a crash nothing is left to save; for a restart, everything is
        await self._rules.start()
        block_webrtc = await self._services.store.read(has_proxies)
        launched = await launch(self._browser, headless=self._options.headless, block_webrtc=block_webrtc)
        env = BrowserEnvironment(launched, self._services, self._options, delegate, self._tasks)
        resources = None if self._page_scripts is None else self._page_scripts.resources
        self.running = running = RunningBrowser.connect(env, self._requests, resources)
        launched.browser.on("disconnected", log_exceptions(lambda _: self._on_disconnected(running)))
        self._tasks.spawn(self._watch_driver(running))
        if self._page_scripts is not None:
            is_ready = running.interceptor.wait_until_ready
            scripted = ScriptedBrowser(launched, running.contexts, running.pages, running.targets, is_ready)
            await self._page_scripts.browser_started(scripted)
        if self._hosted is not None:
            await self._hosted.start(env)

    async def stop(self) -> None:
        """See Engine."""
        if (running := self.running) is not None and not await running.env.launched.responds():
            self.stop_saving()  # nothing can be saved
            await self._shut_down(kill=True)
            return
        if running is not None:
            running.unsubscribe()
            pages = running.pages.copy()
            running.pages.clear()
            saving = (save_snapshot(running.env.delegate, tab_id, page) for tab_id, page in pages.items())
            await asyncio.gather(*saving, *([] if self._hosted is None else [self._hosted.stop(running.env)]))
            await running.contexts.close_all()
        await self._shut_down()

    def stop_saving(self) -> None:
        """See Engine."""
        if self.running is not None:
            self.running.abandon()
            if self._hosted is not None:
                self._hosted.abandon(self.running.env)

    async def abandon(self) -> None:
        """See Engine."""
        self.stop_saving()
        await self._shut_down()

    def loads_again(self, tab: Tab) -> bool:
        """See Engine."""
        return tab.url != BLANK and not (self.running and tab.id in self.running.minimized)

    async def open(self, tab: Tab, snapshot: bytes | None) -> None:
        """See Engine."""
        running = self._require_running()
        if (hosted := self._host_of(tab)) is not None:
            await hosted.open(tab)
            return
        await self._wait_until_intercepting(running)
        if page := await running.minimized.restore(tab):
            if tab.pending_url and tab.pending_url != tab.url:  # to show the minimized page again needs no load
                page.load(self._pending_url(tab), tab.navigation_id)
            else:
                page.resume()
            return
        with map_browser_errors():
            async with running.contexts.use(tab.cookie_store_id) as context:
                page = await context.new_page()
        running.pages.assign(page, tab)
        if self._page_scripts is not None:
            await self._page_scripts.before_load()
        page_snapshot = decode_snapshot(snapshot, tab.url)
        if tab.pending_url and tab.pending_url != tab.url:
            before = tab.url if tab.url != BLANK else ""
            restored = page_snapshot and page_snapshot.with_navigation(tab.pending_url)
            page.load(self._pending_url(tab), tab.navigation_id, restored, fallback_url=before)
        elif tab.pending_url or tab.url != BLANK:
            is_again = not is_rule_message(tab.error)
            page.load(tab.url, tab.navigation_id, page_snapshot, restored_title=tab.title, is_again=is_again)
        else:
            await page.navigation.clear()
            running.start_pages.show(page, tab)

    async def navigate(self, tab: Tab) -> None:
        """See Engine."""
        running = self._require_running()
        page = running.pages.get(tab.id)
        hosted = self._host_of(tab)
        if hosted is not None and tab.id in hosted.tabs:
            await hosted.navigate(tab)
        elif page is None or page.is_crashed or hosted is not None:
            await self.close(tab.id, hiding=False)
            await self.open(tab, None)
        else:
            await self._wait_until_intercepting(running)
            if self._page_scripts is not None:
                await self._page_scripts.before_load()
            is_again = tab.pending_url in ("", tab.url) and not is_rule_message(tab.error)
            page.load(self._pending_url(tab) or tab.url, tab.navigation_id, is_again=is_again)

    async def activate(self, tab: Tab) -> None:
        """See Engine."""
        if (hosted := self._own_host) is not None and tab.id in hosted.tabs:
            await hosted.activate(tab.id)
        if self.running is not None:
            await self.running.focus.activate(tab.id, self.running.pages.get(tab.id))

    async def close(self, tab_id: int, *, hiding: bool) -> None:
        """See Engine."""
        if (running := self.running) is None:
            return
        if (hosted := self._own_host) is not None and tab_id in hosted.tabs:
            await hosted.close(tab_id)
            return
        page = running.pages.pop(tab_id, None)
        if page is None:
            await running.targets.close_target(tab_id)
            return
        context = running.contexts.of_page(page)
        try:
            if hiding and page.typed_input.is_possible and await running.minimized.minimize(tab_id, page):
                return
            page.is_closing = True
            # Concurrently, so that an unresponsive page costs one timeout, not two.
            await asyncio.gather(
                *([save_snapshot(running.env.delegate, tab_id, page)] if hiding else []),
                *([save_site_data(context, page)] if context else []),
            )
        except asyncio.CancelledError:
            if hiding:  # the engine is stopping, and stop() saves the pages in `pages`
                running.minimized.remove(tab_id)
                running.pages.setdefault(tab_id, page)
            raise
        await running.contexts.close_page(context, page)

    async def input_at_risk(self, cookie_store_id: str, *, uses_proxy: bool) -> dict[int, tuple[str, ...]]:
        """See Engine."""
        if (running := self.running) is None:
            return {}
        is_restart = uses_proxy and not running.env.launched.blocks_webrtc
        contexts = [each for each in running.contexts if is_restart or each.cookie_store_id == cookie_store_id]
        pages = [page for context in contexts for page in context.pages if page.tab_id is not None]
        lost = await asyncio.gather(*map(lost_input, pages))
        return {page.tab_id: fields for page, fields in zip(pages, lost, strict=True) if page.tab_id and fields}

    async def release_identity(self, cookie_store_id: str) -> None:
        """See Engine."""
        if (running := self.running) is not None:
            for page in await running.contexts.close_identity(cookie_store_id):
                running.minimized.discard(page)

    async def remove_identity(self, cookie_store_id: str) -> None:
        """See Engine."""
        if self.running is not None:
            await self.running.contexts.remove_identity(cookie_store_id)

    @property
    def has_windows(self) -> bool:
        """See Engine."""
        return not self._options.headless

    @property
    def options(self) -> EngineOptions:
        """See Engine."""
        return self._options.described(browser_path(self._browser))

    @property
    def tabs(self) -> set[int]:
        """The ids of tabs that have a page now."""
        hosted = self._own_host
        return set(self.running.pages) | (hosted.tabs if hosted else set()) if self.running else set()

    def page_of(self, tab_id: int) -> PlaywrightPage | None:
        """The page of a tab; None if it has none."""
        page = self.running.pages.get(tab_id) if self.running else None
        if page is None and (hosted := self._own_host) is not None:
            return hosted.page_of(tab_id)
        return page.page if page else None

    def use_credentials(self, tab_id: int, url: str) -> None:
        """Use the user name and password of this URL when the tab loads it next. The profile does not store them."""
        self._with_credentials[tab_id] = url

    async def wait_until_loaded(self, tab_id: int) -> None:
        """Wait until nothing is loading in the page of a tab."""
        if self.running and (page := self.running.pages.get(tab_id)):
            await page.state.wait_until_idle()
        elif (hosted := self._own_host) is not None:
            await hosted.wait_until_loaded(tab_id)

    async def wait_until_synced(self) -> None:
        """Wait until changes made so far, in the profile or in the browser, are in both, and Fetch.enable has
        succeeded for the current webRequest listeners and site rules."""
        await self._services.store.deliver_pending_changes()
        if (running := self.running) is not None:
            await running.renewal.wait()
            await self._wait_until_intercepting(running)
            await running.contexts.wait_until_synced()

    async def wait_until_closed(self) -> None:
        """Wait until pages closed so far are closed in the profile. In headed mode, return at once: the user may be
        quitting the browser, and its tabs must stay."""
        if self._options.headless and self.running is not None:
            await self.running.events.wait_until_closed()

    async def context_of(self, cookie_store_id: str) -> BrowserContext:
        """The browser context of an identity, created if needed."""
        with map_browser_errors():
            async with self._require_running().contexts.use(cookie_store_id) as context:
                self.script_pages.add_identity(cookie_store_id)
                await context.close_spare_page()
                if self._page_scripts is not None:
                    await self._page_scripts.before_load()
                return context.context

    async def open_endpoint(
        self,
        cookie_store_id: str,
        authorize: Authorize,
        serves: Callable[[str], bool],
        options: EndpointOptions = NO_OPTIONS,
    ) -> Endpoint:
        """Start a CDP endpoint for an identity, as long as the engine `serves` it. Raises OSError."""
        from hatbox.engines.chromium.endpoint.endpoint_host import EndpointHost  # a server, which few programs need

        if self._endpoints is None:
            self._endpoints = EndpointHost(self._require_running, self.endpoint_pages)
        return await self._endpoints.open(cookie_store_id, authorize, serves, options)

    async def close_endpoints(self) -> None:
        """Close all endpoints, before their pages."""
        if self._endpoints is not None:
            await self._endpoints.close()

    async def _wait_until_intercepting(self, running: RunningBrowser) -> None:
        """Wait until requests are intercepted for the webRequest listeners and site rules added so far.

        Raises EngineError if rules exist and requests are not intercepted: a page that does not load is better than a
        page in the wrong identity.
        """
        await self._rules.wait_until_current()
        await running.interceptor.wait_until_ready()
        if self._rules.are_present and running.interceptor.config is None and running is self.running:
            raise EngineError("site rules cannot be applied: Chromium rejected Fetch.enable. Restart the engine.")

    def _host_of(self, tab: Tab) -> HostedPages | None:
        """The host of the URL that a tab loads next, if Chromium itself cannot load it."""
        hosted = self._own_host
        return hosted if hosted is not None and hosted.serves(tab.pending_url or tab.url) else None

    @property
    def _own_host(self) -> HostedPages | None:
        """The host of pages of extensions, if it shows them in this browser and not in that of another engine."""
        is_own = self._hosted is not None and self.running is not None and self._hosted.is_in(self.running.env)
        return self._hosted if is_own else None

    def _require_running(self) -> RunningBrowser:
        if self.running is None:
            raise EngineError("browser is not running")
        return self.running

    async def _watch_driver(self, running: RunningBrowser) -> None:
        await wait_until_driver_ends(running.env.launched.playwright)
        if running.env.launched.browser.is_connected():  # else the browser has ended, which is reported
            self._on_disconnected(running, "Playwright's driver has ended")

    def _on_disconnected(self, running: RunningBrowser, reason: str = "its process has ended") -> None:
        if running is not self.running:
            return
        running.abandon()
        if self._page_scripts is not None:
            self._page_scripts.browser_stopped()
        if self._hosted is not None:
            self._hosted.abandon(running.env)
        running.env.delegate.engine_crashed(reason)

    async def _shut_down(self, *, kill: bool = False) -> None:
        running, self.running = self.running, None
        if self._page_scripts is not None:
            self._page_scripts.browser_stopped()
        self._rules.stop()
        if running is not None:
            running.interceptor.stop()
            self._tasks.cancel()
            await running.env.launched.stop(kill=kill)

    def _pending_url(self, tab: Tab) -> str:
        """The URL to load, with the credentials of `use_credentials`."""
        url = self._with_credentials.pop(tab.id, "")
        return url if url and without_credentials(url) == tab.pending_url else tab.pending_url


def _log_failure(error: BaseException) -> None:
    level = logging.DEBUG if isinstance(error, PlaywrightError) else logging.ERROR
    logger.log(level, "Chromium engine: background task failed", exc_info=error)
