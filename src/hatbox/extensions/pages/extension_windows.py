"""The open pages of one extension in Chromium, and the browser context that they share.

The context is created with the first page, and closed with the browser or the extension.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from hatbox.engines.chromium.context_registry import map_browser_errors
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.openers import Openers
from hatbox.engines.chromium.sessions import within
from hatbox.errors import ExtensionError
from hatbox.extensions.pages.dom_storage import DomStorage
from hatbox.extensions.pages.extension_window import ExtensionWindow, WindowKind
from hatbox.extensions.pages.page_context import PageContext
from hatbox.extensions.pages.page_documents import PageServices
from hatbox.extensions.pages.page_files import PageFiles
from hatbox.extensions.pages.page_requests import PageRequests
from hatbox.extensions.runtime.boot import default_navigator
from hatbox.extensions.runtime.host import FetchRequest, FetchResponse, LogEntry

if TYPE_CHECKING:
    from hatbox.engines.chromium.browser_environment import BrowserEnvironment

__all__ = ["ExtensionWindows", "OpenedPage", "WindowDelegate", "WindowResources"]

logger = logging.getLogger("hatbox.extensions")


class WindowDelegate(Protocol):
    """Handles what pages do with the tabs of the profile."""

    async def page_opened(self, windows: ExtensionWindows, page: Page) -> None:
        """A script or a link has opened a blank page, which is about to load a page of the extension."""

    async def open_url(self, window: ExtensionWindow | None, url: str) -> None:
        """A page wants to show a URL that is not of the extension: in its tab, or in a new tab."""


class WindowResources(NamedTuple):
    """What the pages of one extension use."""

    files: PageFiles
    services: PageServices
    fetch: Callable[[FetchRequest], Awaitable[FetchResponse]]
    storage: DomStorage


class OpenedPage(NamedTuple):
    """A page that a script or a link has opened."""

    opener_id: str | None
    """The target of the page with the script or link, which may be closed; None if it is unknown."""
    url: str
    """The URL that it was opened with. After a middle click, the page itself has failed to load it."""
    in_background: bool


class ExtensionWindows:
    """The pages of one extension in one browser."""

    def __init__(self, env: BrowserEnvironment, resources: WindowResources, delegate: WindowDelegate) -> None:
        self.resources = resources
        self.windows: list[ExtensionWindow] = []
        """The open pages."""
        self._openers = Openers()
        self._env = env
        self._delegate = delegate
        self._context: PageContext | None = None
        self._creating = asyncio.Lock()

    async def open(
        self,
        url: str,
        kind: WindowKind = "TAB",
        *,
        tab_id: int | None = None,
        load: bool = True,
        on_created: Callable[[ExtensionWindow], None] | None = None,
    ) -> ExtensionWindow:
        """Open a page of the extension, and wait until it has loaded, unless `load` is False.

        `on_created` is called with the page before it is loaded.

        Raises ExtensionError if the package has no such page, and EngineError if the browser does not open it.
        """
        urls = self.resources.files.urls
        if urls.path_of(url) is None:
            raise ExtensionError(f"{url} is not a page of the extension. Its pages are at {urls.extension_origin}/")
        if load and await asyncio.to_thread(self.resources.files.response, url) is None:
            raise ExtensionError(f"the package has no file {urls.path_of(url)}")
        with map_browser_errors():
            context = await self.context()
            window = await self._create(context, kind, tab_id=tab_id)
        if on_created is not None:
            on_created(window)
        if load:
            try:
                await window.load(url)
            except BaseException:
                await window.close()
                raise
        return window

    async def adopt(self, page: Page, tab_id: int) -> ExtensionWindow:
        """Connect a blank page that a script has opened to the API."""
        with map_browser_errors():
            return await self._create(await self.context(), "TAB", tab_id=tab_id, page=page)

    async def opened_page(self, page: Page) -> OpenedPage:
        """How a page was opened that `open` has not opened."""
        opener = await within(page.opener())
        window = next((each for each in self.windows if each.page is opener), None)
        opener_id = None if window is None else window.documents.target_id
        url = "" if page.url.startswith("chrome-error:") else page.url
        requested = self._openers.take(opener_id, url)
        if requested is not None:
            opener_id, url = requested.target_id, url or requested.url
        in_background = opener is None and requested is not None and requested.in_background
        return OpenedPage(opener_id, self.resources.files.urls.extension_url(url), in_background)

    async def context(self) -> PageContext:
        """The browser context, created if needed, with the stored DOM storage."""
        async with self._creating:
            if self._context is None:
                files, services = self.resources.files, self.resources.services
                requests = PageRequests(
                    files,
                    self.resources.fetch,
                    default_navigator()["userAgent"],
                    lambda text: services.log(LogEntry("console", "warn", text)),
                )
                context = await PageContext.open(
                    self._env.launched, requests, self, headless=self._env.options.headless
                )
                try:
                    await self.resources.storage.restore(context)
                except BaseException:
                    await context.close()
                    raise
                self._context = context
            return self._context

    async def close(self) -> None:
        """Save DOM storage, and close all pages and the context."""
        async with self._creating:
            context, self._context = self._context, None
            if context is None:
                return
            with contextlib.suppress(PlaywrightError):
                await self.resources.storage.save(context)
            self.resources.storage.detach()
            await asyncio.gather(*(window.documents.close() for window in self.windows))
            self.windows.clear()
            await context.close()

    def abandon(self) -> None:
        """Stop all work: the browser has ended."""
        context, self._context = self._context, None
        if context is not None:
            context.abandon()
        self.resources.storage.detach()
        self.windows.clear()

    def permissions_changed(self) -> None:
        """Update the namespaces of all pages."""
        for window in self.windows:
            window.documents.permissions_changed()

    async def _create(
        self, context: PageContext, kind: WindowKind, *, tab_id: int | None, page: Page | None = None
    ) -> ExtensionWindow:
        window = await ExtensionWindow.create(
            context,
            self.resources.services,
            kind,
            headless=self._env.options.headless,
            tab_id=tab_id,
            page=page,
        )
        self.windows.append(window)
        window.page.on("close", lambda _: self._on_close(window))
        for name in ("Page.frameRequestedNavigation", "Page.windowOpen"):
            window.documents.session.on(name, log_exceptions(lambda event: self._on_requested(window, event)))
        await self.resources.storage.attach(window.documents)
        return window

    def _on_requested(self, window: ExtensionWindow, event: dict[str, Any]) -> None:
        """A page may be closed before the page that it opens is reported: Page.windowOpen comes before both."""
        self._openers.request(window.documents.target_id, event["url"], event.get("disposition", "newWindow"))

    def _on_close(self, window: ExtensionWindow) -> None:
        if window in self.windows:
            self.windows.remove(window)
        self.resources.storage.remove(window.documents)

    # --------------------------------------------------------------------------------------------- PageContextDelegate

    async def page_opened(self, page: Page) -> None:
        """See PageContextDelegate."""
        await self._delegate.page_opened(self, page)

    def left_extension(self, page: Page, url: str) -> None:
        """See PageContextDelegate."""
        window = next((each for each in self.windows if each.page is page), None)
        self._env.tasks.spawn(self._delegate.open_url(window, url))
