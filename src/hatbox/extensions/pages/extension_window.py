"""One open page of an extension in Chromium: a popup, a sidebar, an options page or a tab."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Final, Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox.engines.chromium.closing import close_page
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.sessions import within
from hatbox.errors import ExtensionError
from hatbox.extensions.pages.page_context import PageContext
from hatbox.extensions.pages.page_documents import PageDocuments, PageServices
from hatbox.extensions.pages.popup_size import FIRST_POPUP_SIZE, PopupSize
from hatbox.tasks import Tasks

__all__ = ["ExtensionWindow", "WindowKind"]

WindowKind = Literal["POPUP", "SIDE_PANEL", "TAB"]
"""The runtime.ContextType of a page."""

_SIZES: Final = {"POPUP": FIRST_POPUP_SIZE, "SIDE_PANEL": (320, 800)}
_LOAD_SECONDS: Final = 10.0  # a page that loads longer is shown as it is


class ExtensionWindow:
    """An open page of an extension. It is closed at the end of `async with`, and when the extension stops."""

    def __init__(self, context: PageContext, page: Page, kind: WindowKind, *, tab_id: int | None) -> None:
        self.page = page
        """The page for Playwright: its locators, clicks and screenshots."""
        self.kind: WindowKind = kind
        self.tab_id = tab_id
        """The tab that shows the page; None for a popup or a sidebar."""
        self.documents: PageDocuments
        """Its documents."""
        self.on_changed: Callable[[], None] = lambda: None
        """Called when the content of the page has changed."""
        self._context = context
        self._size: PopupSize | None = None
        self._tasks = Tasks()
        self._closed = asyncio.Event()

    @classmethod
    async def create(
        cls,
        context: PageContext,
        services: PageServices,
        kind: WindowKind,
        *,
        headless: bool,
        tab_id: int | None = None,
        page: Page | None = None,
    ) -> ExtensionWindow:
        """Open a blank page, or use `page`, which is blank, and connect it to the API."""
        size = _SIZES.get(kind)
        if page is None:
            page = await context.new_page(None if headless else size)
        window = cls(context, page, kind, tab_id=tab_id)
        try:
            window.documents = await PageDocuments.attach(
                page, services, context.urls, window, kind=kind, tab_id=tab_id
            )
            if size is not None and headless:
                await within(page.set_viewport_size({"width": size[0], "height": size[1]}))
        except BaseException:
            await close_page(page)
            raise
        if kind == "POPUP":
            window._size = PopupSize(page, window.documents, None if headless else context.browser_session)
        page.on("close", log_exceptions(lambda _: window._on_close()))
        page.on("crash", log_exceptions(lambda _: window.close_requested()))
        return window

    @property
    def url(self) -> str:
        """The moz-extension:// URL of the page."""
        return self._context.urls.extension_url(self.page.url)

    @property
    def is_closed(self) -> bool:
        """Whether the page is closed."""
        return self._closed.is_set()

    async def load(self, url: str) -> None:
        """Load a moz-extension:// URL, and wait until it has loaded. Raises ExtensionError."""
        try:
            page_url = self._context.urls.page_url(url)
            await within(self.page.goto(page_url, wait_until="commit", timeout=0), seconds=_LOAD_SECONDS)
            with contextlib.suppress(PlaywrightTimeout):
                await within(self.page.wait_for_load_state("load", timeout=0), seconds=_LOAD_SECONDS)
        except PlaywrightError as error:
            if not self.page.is_closed():  # a page may close itself at once
                raise ExtensionError(f"{url} did not load: {str(error).splitlines()[0]}") from error
        if self._size is not None:
            await self._size.wait()

    async def close(self) -> None:
        """Close the page."""
        with contextlib.suppress(PlaywrightError):
            await close_page(self.page, self.documents.target_id, self._context.browser_session)
        await self._disconnect()

    async def bring_to_front(self) -> None:
        """Show the page in front of the other windows of Chromium."""
        with contextlib.suppress(PlaywrightError):
            await within(self.page.bring_to_front(), "Page.bringToFront")

    async def wait_until_closed(self) -> None:
        """Wait until the user, a script or the program has closed the page."""
        await self._closed.wait()

    def close_requested(self) -> None:
        """See PageObserver."""
        self._tasks.spawn(self.close())

    def content_changed(self) -> None:
        """See PageObserver."""
        if self._size is not None:
            self._size.schedule()
        self.on_changed()

    def _on_close(self) -> None:
        self._tasks.spawn(self._disconnect())

    async def _disconnect(self) -> None:
        if self._size is not None:
            self._size.stop()
        await self.documents.close()
        self._closed.set()

    async def __aenter__(self) -> ExtensionWindow:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{self.kind.lower()} {self.url}>"
