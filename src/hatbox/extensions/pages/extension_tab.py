"""A tab that shows a page of an extension: loads URLs, and reports the state of the page to the engine's delegate."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame

from hatbox.engines.base import EngineDelegate, PageState
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.sessions import without_limit
from hatbox.engines.chromium.tab_reporter import TabReporter
from hatbox.errors import ExtensionError
from hatbox.extensions.pages.extension_window import ExtensionWindow
from hatbox.tabs.tab_model import BLANK, Tab
from hatbox.tasks import Tasks

__all__ = ["ExtensionTab"]

logger = logging.getLogger("hatbox.extensions")


class ExtensionTab:
    """One tab."""

    def __init__(self, delegate: EngineDelegate, window: ExtensionWindow, tab: Tab) -> None:
        self.window = window
        """The page."""
        self.tab_id = tab.id
        self.cookie_store_id = tab.cookie_store_id
        self.on_closed: Callable[[ExtensionTab], None] = lambda _: None
        """Called when the user or a script has closed the page."""
        self._reporter = TabReporter(delegate, tab.id, tab.navigation_id)
        self._tasks = Tasks(_log_failure)
        self._loading: asyncio.Task[None] | None = None
        self._reported: PageState | None = None
        self._is_stopped = False
        page = window.page
        page.on("framenavigated", log_exceptions(self._on_navigated))
        page.on("load", log_exceptions(lambda _: self._report_soon()))
        page.on("close", log_exceptions(lambda _: self._on_close()))
        window.on_changed = self._report_soon

    def load(self, url: str, navigation_id: int) -> None:
        """Start loading a URL of the extension."""
        self._reporter.navigation_requested(navigation_id)
        if self._loading is not None:
            self._loading.cancel()
        self._loading = self._tasks.spawn(self._load(url))

    def load_opened(self, url: str) -> None:
        """Load the URL of a page that a script or a link has opened, and that shows an empty document."""
        self._reporter.navigation_started(url)
        self._loading = self._tasks.spawn(self._load(url))

    def stop(self) -> None:
        """Report nothing any more: the engine closes the page."""
        self._is_stopped = True
        self._reporter.stop()
        self._tasks.cancel()

    async def activate(self) -> None:
        """Bring the page to the front."""
        await self.window.bring_to_front()

    async def wait_until_loaded(self) -> None:
        """Wait until nothing is loading."""
        if self._loading is not None:
            await asyncio.wait([self._loading])

    async def _load(self, url: str) -> None:
        try:
            await self.window.load(url)
        except ExtensionError as error:
            self._report(PageState(url, error=str(error)))
        else:
            await self._report_page(is_again=True)

    def _on_navigated(self, frame: Frame) -> None:
        if frame.parent_frame is not None or self._is_stopped:
            return
        if (self._loading is None or self._loading.done()) and self.window.url != BLANK:  # by a script or a link
            self._reporter.navigation_started(self.window.url)
            self._reported = None
            self._report_soon()

    def _report_soon(self) -> None:
        if not self._is_stopped:
            self._tasks.spawn(self._report_page())

    async def _report_page(self, *, is_again: bool = False) -> None:
        if self.window.url == BLANK:
            return
        title = await without_limit(self.window.page.title())  # a dialog may be open
        state = PageState(self.window.url, title=title, http_status=200, content_type="text/html")
        if is_again or state != self._reported:
            self._report(state)

    def _report(self, state: PageState) -> None:
        self._reported = state
        self._reporter.page_changed(state, done=True)

    def _on_close(self) -> None:
        if not self._is_stopped:
            self.stop()
            self.on_closed(self)


def _log_failure(error: BaseException) -> None:
    level = logging.DEBUG if isinstance(error, PlaywrightError) else logging.ERROR
    logger.log(level, "tab of an extension: background task failed", exc_info=error)
