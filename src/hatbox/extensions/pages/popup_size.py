"""Sizes a popup to its content, as Firefox does: the preferred width and height of the document, up to 800 by 600."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from hatbox.engines.chromium.sessions import Session, within
from hatbox.extensions.pages.page_documents import PageDocuments

__all__ = ["FIRST_POPUP_SIZE", "POPUP_LIMIT", "PopupSize"]

FIRST_POPUP_SIZE: Final = (320, 50)
"""The size before the content is measured. Small, because the height of some documents is that of the viewport."""

POPUP_LIMIT: Final = (800, 600)
"""The maximum width and height of a popup, in CSS pixels."""

_MINIMUM: Final = (25, 25)
_INTERVAL: Final = 0.1  # seconds between two measurements
# A style sheet of the inspector, which scripts do not see.
_PREFERRED: Final = (
    f"html {{ width: max-content !important; max-width: {POPUP_LIMIT[0]}px !important; "
    "height: max-content !important; min-height: 0 !important }"
)
_MEASURE: Final = """(() => {
  const root = document.documentElement, body = document.body;
  if (root === null) return null;
  const outer = root.getBoundingClientRect();
  const inner = body?.getBoundingClientRect() ?? outer;
  const {scrollHeight} = document.scrollingElement ?? root; // at least the height of the viewport
  const overflow = scrollHeight > innerHeight ? scrollHeight : 0;
  return [Math.max(outer.width, inner.right), Math.max(outer.height, inner.bottom, overflow)];
})()"""
_FRAME: Final = (0, 87)  # of a window whose own frame is not known yet


class PopupSize:
    """The size of one popup. `browser` is the browser-level session if the popup has a window."""

    def __init__(self, page: Page, documents: PageDocuments, browser: Session | None) -> None:
        self._page = page
        self._documents = documents
        self._browser = browser
        self._size: tuple[int, int] | None = None
        self._is_changed = False
        self._task: asyncio.Task[None] | None = None

    def schedule(self) -> None:
        """Measure the content again."""
        self._is_changed = True
        if self._task is None:
            self._task = asyncio.create_task(self._fit_repeatedly())

    async def wait(self) -> None:
        """Wait until the size is that of the content, unless that changes all the time."""
        self.schedule()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_INTERVAL * 10):
                while self._is_changed and self._task is not None:
                    await asyncio.wait([self._task], timeout=_INTERVAL)

    def stop(self) -> None:
        """Stop measuring: the popup is closed."""
        if self._task is not None:
            self._task.cancel()

    async def _fit_repeatedly(self) -> None:
        try:
            while self._is_changed:
                self._is_changed = False
                with contextlib.suppress(PlaywrightError, LookupError):
                    await self._fit()
                if self._is_changed:
                    await asyncio.sleep(_INTERVAL)
        finally:
            self._task = None

    async def _fit(self) -> None:
        measured = await self._measure()
        if measured is None:
            return
        width, height = (
            int(min(max(-(-each // 1), least), most))
            for each, least, most in zip(measured, _MINIMUM, POPUP_LIMIT, strict=True)
        )
        if (width, height) != self._size:
            self._size = width, height
            await self._resize(width, height)

    async def _measure(self) -> list[float] | None:
        session, frame_id = self._documents.session, self._documents.target_id
        await asyncio.gather(session.send("DOM.enable"), session.send("CSS.enable"))
        sheet = (await session.send("CSS.createStyleSheet", {"frameId": frame_id}))["styleSheetId"]
        try:
            await session.send("CSS.setStyleSheetText", {"styleSheetId": sheet, "text": _PREFERRED})
            found: Any = await self._documents.evaluate(_MEASURE)
        finally:
            await session.send("CSS.setStyleSheetText", {"styleSheetId": sheet, "text": ""})
            await session.send("CSS.disable")
        return found if isinstance(found, list) else None

    async def _resize(self, width: int, height: int) -> None:
        if self._browser is None:
            await within(self._page.set_viewport_size({"width": width, "height": height}), "Emulation.setDeviceMetrics")
            return
        window = await self._browser.send("Browser.getWindowForTarget", {"targetId": self._documents.target_id})
        viewport = (await self._documents.session.send("Page.getLayoutMetrics"))["cssLayoutViewport"]
        outer, inner = window["bounds"], (viewport["clientWidth"], viewport["clientHeight"])
        frame = outer.get("width", 0) - inner[0], outer.get("height", 0) - inner[1]
        if min(frame) < 0:  # the viewport does not have the size of the window yet
            frame = _FRAME
        bounds = {"width": width + frame[0], "height": height + frame[1]}
        await self._browser.send("Browser.setWindowBounds", {"windowId": window["windowId"], "bounds": bounds})
