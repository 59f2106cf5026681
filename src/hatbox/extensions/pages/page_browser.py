"""A Chromium that only shows pages of extensions: it opens no tab of the profile, and needs no lease.

It starts when a page is requested, and stops after the last page was closed. Imports no Playwright.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from hatbox.engines.base import PageState
from hatbox.errors import EngineError
from hatbox.tabs.tab_model import Tab
from hatbox.tasks import Tasks

if TYPE_CHECKING:
    from hatbox.engines.base import Engine
    from hatbox.extensions.service import Extensions

__all__ = ["PageBrowser"]

logger = logging.getLogger("hatbox.extensions")

_IDLE_SECONDS: Final = 30.0  # without a page, until the browser is stopped


class PageBrowser:
    """Shows the pages of the extensions of this process, for the duration of `async with`.

    `create` returns a Chromium that is not running. It is called when the first page is requested.
    """

    def __init__(
        self, create: Callable[[], Engine], extensions: Extensions, *, idle_seconds: float = _IDLE_SECONDS
    ) -> None:
        self._create = create
        self._engine: Engine | None = None
        self._extensions = extensions
        self._idle_seconds = idle_seconds
        self._changing = asyncio.Lock()
        self._tasks = Tasks()

    async def __aenter__(self) -> Self:
        self._extensions.page_tabs.start_on_request(self._start)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._extensions.page_tabs.stop_requests()
        self._tasks.cancel()
        await self._tasks.wait()
        if self._engine is not None:
            await self._engine.stop()

    async def _start(self) -> None:
        async with self._changing:
            if not self._extensions.page_tabs.is_running:
                self._engine = engine = self._engine or self._create()
                await engine.start(_NoTabs())
                self._tasks.spawn(self._stop_when_idle(engine))

    async def _stop_when_idle(self, engine: Engine) -> None:
        idle_before = False
        while self._extensions.page_tabs.is_running:
            await asyncio.sleep(self._idle_seconds)
            async with self._changing:
                is_idle = not any(each.browser_pages.open_windows for each in self._extensions.running)
                if is_idle and idle_before:
                    await engine.stop()
                    return
                idle_before = is_idle


class _NoTabs:
    """The delegate of an engine without tabs. See EngineDelegate."""

    async def navigation_started(self, *_: object) -> int | None:
        return None

    async def page_updated(
        self, tab_id: int, page: PageState, *, done: bool = True, navigation: int | None = None
    ) -> None:
        pass

    async def save_snapshot(self, tab_id: int, page: bytes) -> None:
        pass

    async def not_saved(self, tab_id: int, what: Sequence[str]) -> None:
        pass

    async def shown(self, tab_id: int) -> None:
        pass

    async def page_opened(self, *_: object, **__: object) -> Tab:
        raise EngineError("this browser opens no tabs. Use browser.tabs.create()")

    async def link_followed(self, tab_id: int, link: str) -> None:
        pass

    async def page_activated(self, tab_id: int) -> None:
        pass

    async def page_closed(self, tab_id: int) -> None:
        pass

    def dropped(self, tab_id: int) -> None:
        pass

    def engine_crashed(self, reason: str) -> None:
        logger.info("the browser with pages of extensions has ended: %s", reason)

    def restart_needed(self, reason: str) -> None:
        logger.debug("the browser with pages of extensions is not restarted: %s", reason)
