"""The pages of extensions that a user has requested in another program, such as the manager page.

Opens them in the Chromium of this process, brings them to the front, closes them, and reports when they are closed.
Imports no Playwright.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from hatbox.errors import ExtensionError, HatboxError, ProfileError
from hatbox.extension_data.page_opening import (
    PageCommand,
    PageRequested,
    answer_page,
    report_closed_page,
    requested_name,
)
from hatbox.store.base import Store
from hatbox.tasks import Tasks, wait_for_first

if TYPE_CHECKING:
    from hatbox.extensions.extension import Extension
    from hatbox.extensions.pages.extension_window import ExtensionWindow, WindowKind

__all__ = ["RequestedPages"]

logger = logging.getLogger("hatbox.extensions")


class RequestedPages:
    """The requested pages that are open. `require_browser` starts a browser if none is running."""

    def __init__(self, store: Store, require_browser: Callable[[], Awaitable[None]]) -> None:
        self._store = store
        self._require_browser = require_browser
        self._shown: dict[tuple[str, str], ExtensionWindow] = {}  # by data area and name of the page
        self._opening_popups: set[str] = set()  # of these data areas
        self._ended = asyncio.Event()  # the browser that shows the pages has ended
        self._watching = Tasks()

    async def show(self, extension: Extension, requested: PageRequested) -> None:
        """Show a page, and answer. A popup replaces the one that is open; while one opens, others are not shown."""
        if "POPUP" not in (requested.kind, requested.page.upper()):
            await self._show(extension, requested)
        elif extension.area not in self._opening_popups:
            self._opening_popups.add(extension.area)
            try:
                await extension.browser_pages.close_popups()
                await self._show(extension, requested)
            finally:
                self._opening_popups.discard(extension.area)

    async def control(self, extension: Extension, wanted: PageCommand) -> None:
        """Bring a page to the front or close it, and answer."""
        window = self._shown.get((extension.area, wanted.page))
        problem = ""
        try:
            if window is None or window.is_closed:
                raise ExtensionError(f"the page of {extension.manifest.name} was closed. Open it again.")
            await (window.close() if wanted.command == "close" else window.bring_to_front())
        except HatboxError as error:
            problem = error.page_message
        await self._answer(extension.area, problem)

    def clear(self) -> None:
        """Report the pages of a browser that has ended as closed."""
        self._shown.clear()
        self._ended.set()
        self._ended = asyncio.Event()

    async def _show(self, extension: Extension, requested: PageRequested) -> None:
        kind: WindowKind = "POPUP" if requested.kind == "POPUP" else "TAB"
        problem = ""
        try:
            await self._require_browser()
            window = await extension.browser_pages.show(requested.page, tab_id=requested.tab_id, kind=kind)
        except HatboxError as error:
            logger.warning("%s: page not shown: %s", extension.id, error)
            problem = error.page_message
        else:
            page = requested_name(requested)
            self._shown[extension.area, page] = window
            self._watching.spawn(self._report_closed(extension.area, page, window, self._ended))
        await self._answer(extension.area, problem)

    async def _answer(self, area: str, problem: str) -> None:
        await self._store.write(lambda transaction: answer_page(transaction, area, problem))

    async def _report_closed(self, area: str, page: str, window: ExtensionWindow, ended: asyncio.Event) -> None:
        await wait_for_first(window.wait_until_closed(), ended.wait())
        if self._shown.get((area, page), window) is not window:
            return  # another one has replaced it
        self._shown.pop((area, page), None)
        with contextlib.suppress(ProfileError):  # the profile may be closed with the browser
            await self._store.write(lambda transaction: report_closed_page(transaction, area, page))
