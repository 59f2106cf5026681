"""Shows the tabs of pages of extensions in the Chromium engine of this process. Implements engines' HostedPages.

Imports Playwright only when a browser runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final

from hatbox.errors import EngineError, HatboxError
from hatbox.extension_data.page_opening import PAGE_COMMANDED, PAGE_REQUESTED, decode_command, decode_request
from hatbox.extension_data.sidebars import SIDEBARS_CHANGED, decode_sidebar
from hatbox.extensions.pages.requested_pages import RequestedPages
from hatbox.extensions.pages.sidebar_windows import SidebarWindows
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.store.base import ChangeRecord, Store, Transaction
from hatbox.tabs.opening import open_tab
from hatbox.tabs.pages import navigate, reload
from hatbox.tabs.tab_model import WINDOW_REMOVED, Tab, decoder
from hatbox.tasks import Tasks

if TYPE_CHECKING:
    from playwright.async_api import Page

    from hatbox.engines.chromium.browser_environment import BrowserEnvironment
    from hatbox.extensions.extension import Extension
    from hatbox.extensions.pages.extension_tab import ExtensionTab
    from hatbox.extensions.pages.extension_window import ExtensionWindow
    from hatbox.extensions.pages.extension_windows import ExtensionWindows

__all__ = ["ExtensionTabs"]

logger = logging.getLogger("hatbox.extensions")

_decode_window_id = decoder(int)

_MAX_OPENERS: Final = 1000
_NO_BROWSER: Final = (
    "pages of extensions need the Chromium engine in the same program: hatbox run EXTENSION --engine chromium, "
    "or `async with profile.chromium()`"
)


class ExtensionTabs:
    """The running browser, and the tabs in it that show pages of extensions. `running` returns the extensions."""

    def __init__(self, store: Store, running: Callable[[], Iterable[Extension]]) -> None:
        self._store = store
        self._running = running
        self._envs: list[BrowserEnvironment] = []  # of all running engines; the first one shows the pages
        self._tabs: dict[int, ExtensionTab] = {}
        self._openers: dict[str, tuple[str, int]] = {}  # cookie store and tab by target, also of tabs that are closed
        self._sidebars = SidebarWindows(store, running)
        self._requested = RequestedPages(store, self._require_started)
        self._start_browser: Callable[[], Awaitable[None]] | None = None
        self._requests = Tasks(_log_failure)

    @property
    def _env(self) -> BrowserEnvironment | None:
        return self._envs[0] if self._envs else None

    @property
    def is_running(self) -> bool:
        """Whether a browser is running."""
        return self._env is not None

    @property
    def has_extensions(self) -> bool:
        """See HostedPages."""
        return any(True for _ in self._running())

    @property
    def opens_browser(self) -> bool:
        """Whether a browser is started when a page is requested."""
        return self._start_browser is not None

    def start_on_request(self, start: Callable[[], Awaitable[None]]) -> None:
        """Call `start`, which starts a browser, when a page is requested while no browser is running."""
        self._start_browser = start
        if not self._envs:
            self._store.subscribe(self._on_change)

    def stop_requests(self) -> None:
        """Show no more pages on request."""
        self._start_browser = None
        self._requests.cancel()
        if not self._envs:
            self._store.unsubscribe(self._on_change)

    def require_browser(self) -> BrowserEnvironment:
        """The running browser. Raises EngineError without one."""
        if self._env is None:
            raise EngineError(_NO_BROWSER)
        return self._env

    async def extension_started(self, extension: Extension) -> None:
        """Load the tabs of its pages again: they could not be loaded while it was not running."""
        base = extension.manifest.base_url

        def reload_failed(transaction: Transaction) -> None:
            for row in transaction.tabs.find():
                if row.url.startswith(base) and row.error:
                    reload(transaction, row.id)

        if self._env is not None:
            await self._store.write(reload_failed)

    async def open_sidebar(self, extension: Extension, window_id: int) -> ExtensionWindow:
        """Open the sidebar of an extension in a window of the profile. Raises EngineError and ExtensionError."""
        return await self._sidebars.open(extension, window_id, self.require_browser().tasks)

    def stop_reporting(self) -> None:
        """Report no page as closed any more: the extensions are about to end, and their tabs stay in the profile."""
        for tab in self._tabs.values():
            tab.stop()

    # ----------------------------------------------------------------------------------------------------- HostedPages

    def is_in(self, env: BrowserEnvironment) -> bool:
        """See HostedPages."""
        return env is self._env

    @property
    def tabs(self) -> set[int]:
        """See HostedPages."""
        return set(self._tabs)

    def serves(self, url: str) -> bool:
        """See HostedPages."""
        return self._extension_of(url) is not None

    def page_of(self, tab_id: int) -> Page | None:
        """See HostedPages."""
        found = self._tabs.get(tab_id)
        return None if found is None else found.window.page

    async def start(self, env: BrowserEnvironment) -> None:
        """See HostedPages."""
        if not self._envs and not self.opens_browser:
            self._store.subscribe(self._on_change)
        self._envs.append(env)
        if env is self._env:
            for extension in self._running():
                env.tasks.spawn(self._sidebars.show_open(extension.area, env.tasks))

    async def stop(self, env: BrowserEnvironment) -> None:
        """See HostedPages."""
        if not self._forget_browser(env):
            return
        await asyncio.gather(*(extension.browser_pages.close() for extension in self._running()))

    def abandon(self, env: BrowserEnvironment) -> None:
        """See HostedPages."""
        if not self._forget_browser(env):
            return
        for extension in self._running():
            extension.browser_pages.abandon()

    async def open(self, tab: Tab) -> None:
        """See HostedPages."""
        url = tab.pending_url or tab.url
        extension = self._extension_of(url)
        if extension is None:
            raise EngineError(f"the extension of {url} is not running")
        from hatbox.extensions.pages.extension_tab import ExtensionTab

        window = await extension.browser_pages.windows().open(url, tab_id=tab.id, load=False)
        self._add(ExtensionTab(self.require_browser().delegate, window, tab)).load(url, tab.navigation_id)

    async def navigate(self, tab: Tab) -> None:
        """See HostedPages."""
        url, shown = tab.pending_url or tab.url, self._tabs[tab.id]
        if self._extension_of(url) is not self._extension_of(shown.window.url):
            await self.close(tab.id)
            await self.open(tab)
        else:
            shown.load(url, tab.navigation_id)

    async def activate(self, tab_id: int) -> None:
        """See HostedPages."""
        if (tab := self._tabs.get(tab_id)) is not None:
            await tab.activate()

    async def close(self, tab_id: int) -> None:
        """See HostedPages."""
        if (tab := self._tabs.pop(tab_id, None)) is not None:
            tab.stop()
            await tab.window.close()

    async def wait_until_loaded(self, tab_id: int) -> None:
        """See HostedPages."""
        if (tab := self._tabs.get(tab_id)) is not None:
            await tab.wait_until_loaded()

    # -------------------------------------------------------------------------------------------------- WindowDelegate

    async def page_opened(self, windows: ExtensionWindows, page: Page) -> None:
        """See WindowDelegate."""
        from hatbox.engines.chromium.closing import close_page  # imports Playwright
        from hatbox.extensions.pages.extension_tab import ExtensionTab

        opened = await windows.opened_page(page)
        store, opener_id = self._openers.get(opened.opener_id or "", (DEFAULT_COOKIE_STORE_ID, None))
        tab: Tab | None = None
        try:
            delegate = self.require_browser().delegate
            tab = await delegate.page_opened(store, opener_id, active=not opened.in_background)
            window = await windows.adopt(page, tab.id)
        except HatboxError as error:  # the engine is stopping, or the page was closed meanwhile
            logger.debug("page of an extension closed: %s", error)
            if tab is not None:
                await delegate.page_closed(tab.id)
            await close_page(page)
            return
        shown = self._add(ExtensionTab(delegate, window, tab))
        if opened.url.startswith("moz-extension:"):
            shown.load_opened(opened.url)
        else:
            await self.open_url(window, opened.url)

    async def open_url(self, window: ExtensionWindow | None, url: str) -> None:
        """See WindowDelegate."""
        tab_id = None if window is None else window.tab_id
        if not url.startswith(("http://", "https://")):
            return
        if tab_id is None:
            await self._store.write(
                lambda transaction: open_tab(transaction, url, cookie_store_id=DEFAULT_COOKIE_STORE_ID)
            )
        else:
            await self._store.write(lambda transaction: navigate(transaction, tab_id, url))

    # ---------------------------------------------------------------------------------------------------------- shared

    def _forget_browser(self, env: BrowserEnvironment) -> bool:
        """Forget a browser, and stop the tabs in it. Returns False if another one shows the pages."""
        is_shown_elsewhere = self._env is not None and self._env is not env
        if env in self._envs:
            self._envs.remove(env)
            if not self._envs and not self.opens_browser:
                self._store.unsubscribe(self._on_change)
        if is_shown_elsewhere:
            return False
        self.stop_reporting()
        self._tabs.clear()
        self._openers.clear()
        self._sidebars.clear()
        self._requested.clear()
        return True

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic == SIDEBARS_CHANGED and self._env is not None:
            self._env.tasks.spawn(self._sidebars.show(decode_sidebar(change.payload), self._env.tasks))
        elif change.topic == SIDEBARS_CHANGED and self._extension_with(decode_sidebar(change.payload).extension):
            self._requests.spawn(self._require_started())  # and then all open sidebars are shown
        elif change.topic == WINDOW_REMOVED and self._env is not None:
            self._env.tasks.spawn(self._sidebars.window_removed(_decode_window_id(change.payload)))
        elif change.topic == PAGE_REQUESTED and (self._env is not None or self.opens_browser):
            requested = decode_request(change.payload)
            if extension := self._extension_with(requested.extension):
                tasks = self._requests if self._env is None else self._env.tasks
                tasks.spawn(self._requested.show(extension, requested))
        elif change.topic == PAGE_COMMANDED:
            wanted = decode_command(change.payload)
            if extension := self._extension_with(wanted.extension):
                self._requests.spawn(self._requested.control(extension, wanted))

    async def _require_started(self) -> None:
        """Start a browser if none is running. Raises EngineError."""
        if self._env is None and self._start_browser is not None:
            await self._start_browser()

    def _add(self, tab: ExtensionTab) -> ExtensionTab:
        self._tabs[tab.tab_id] = tab
        self._openers[tab.window.documents.target_id] = tab.cookie_store_id, tab.tab_id
        if len(self._openers) > _MAX_OPENERS:
            del self._openers[next(iter(self._openers))]
        tab.on_closed = self._on_closed
        return tab

    def _on_closed(self, tab: ExtensionTab) -> None:
        """The user or a script has closed the page."""
        if self._tabs.get(tab.tab_id) is tab:
            del self._tabs[tab.tab_id]
            if self._env is not None:
                self._env.tasks.spawn(self._env.delegate.page_closed(tab.tab_id))

    def _extension_with(self, area: str) -> Extension | None:
        return next((each for each in self._running() if each.area == area), None)

    def _extension_of(self, url: str) -> Extension | None:
        return next((each for each in self._running() if url.startswith(each.manifest.base_url)), None)


def _log_failure(error: BaseException) -> None:
    logger.warning("page of an extension not shown: %s", error)
