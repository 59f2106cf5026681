"""Functions of the namespace tabs about pages that an engine of this process shows: images, back and forward."""

from __future__ import annotations

import base64

from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.api.namespaces.tabs.tab_functions import Details, row_or_active
from hatbox.api.namespaces.tabs.tab_strip_functions import window_of_argument
from hatbox.errors import ApiError, EngineError
from hatbox.store.base import Transaction
from hatbox.tabs.open_pages import CaptureRect, PageAccess, PageCapture
from hatbox.tabs.service import Tabs
from hatbox.tabs.tab_model import Tab, tab_of
from hatbox.urls.protected_pages import is_protected_page
from hatbox.urls.url import parse_url

__all__ = ["ShownPages"]


class ShownPages:
    """The pages of tabs that are open in this process."""

    def __init__(self, tabs: Tabs) -> None:
        self._tabs = tabs

    async def capture_tab(self, tab_id: int | None, options: Details | None) -> str:
        """The page of a tab, or of the active tab, as a data: URL."""
        tab = await self._tabs.read(lambda each: tab_of(each, row_or_active(each, tab_id)))
        return await self._capture(tab, options)

    async def capture_visible_tab(
        self, access: TabAccess | None, window_id: int | None, options: Details | None
    ) -> str:
        """The page of the active tab of a window, as a data: URL. With `access`, it must include the page."""
        tab = await self._tabs.read(lambda each: _active_tab(each, window_id))
        if access is not None and not access.has_active_tab(tab):
            raise ApiError("Missing activeTab permission")
        return await self._capture(tab, options)

    async def move_in_history(self, tab_id: int | None, steps: int) -> None:
        """Go back (-1) or forward (1) in a tab, or in the active tab."""
        tab = await self._tabs.read(lambda each: tab_of(each, row_or_active(each, tab_id)))
        try:
            await self._engine(tab).move_in_history(tab.id, steps)
        except EngineError as error:
            raise ApiError(f"Tab {tab.id} did not navigate: {error}") from error

    def _engine(self, tab: Tab) -> PageAccess:
        engine = self._tabs.open_pages.find(tab.id)
        if engine is None:
            raise ApiError(
                f"Tab {tab.id} has no page in this program. It must be open in a Chromium engine in the same program "
                "as the extension."
            )
        return engine

    async def _capture(self, tab: Tab, options: Details | None) -> str:
        url = parse_url(tab.url)
        if url is not None and is_protected_page(url):
            raise ApiError(f"Tab {tab.id} shows the manager page of Hatbox, which extensions cannot capture.")
        capture = _capture_of(options)
        try:
            image = await self._engine(tab).capture(tab.id, capture)
        except EngineError as error:
            raise ApiError(f"Tab {tab.id} was not captured: {error}") from error
        return f"data:image/{capture.format};base64,{base64.b64encode(image).decode('ascii')}"


def _active_tab(transaction: Transaction, window_id: int | None) -> Tab:
    active = transaction.tabs.active(window_of_argument(transaction, window_id))
    if active is None:
        raise ApiError("Cannot access activeTab")
    return tab_of(transaction, active)


def _capture_of(options: Details | None) -> PageCapture:
    if options is None:
        return PageCapture()
    rect = options["rect"]
    return PageCapture(
        format=options["format"] or "png",
        quality=92 if options["quality"] is None else options["quality"],
        rect=None if rect is None else CaptureRect(rect["x"], rect["y"], rect["width"], rect["height"]),
        scale=options["scale"],
    )
