"""Blank documents at the URLs of sites, loaded without a server. They restore session history and site data."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.base import PageState
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.isolated_world import IsolatedWorld
from hatbox.engines.chromium.navigation_state import NavigationState
from hatbox.engines.chromium.sessions import Session
from hatbox.tasks import Tasks

__all__ = ["BlankDocuments"]

_PAGE_TIMEOUT: Final = 5.0
_BLANK_HEADERS: Final = [
    {"name": "Content-Type", "value": "text/html"},
    {"name": "Cache-Control", "value": "no-store"},  # going back to the entry loads the real page
]


class BlankDocuments:
    """Navigates one page through blank documents."""

    def __init__(self, session: Session, world: IsolatedWorld, state: NavigationState, tasks: Tasks) -> None:
        self._session = session
        self._world = world
        self._state = state
        self._tasks = tasks
        self._has_stopped = False  # loading, since the latest navigation
        self._progress = asyncio.Event()
        session.on("Fetch.requestPaused", log_exceptions(self._on_paused))

    @contextlib.asynccontextmanager
    async def blank_responses(self) -> AsyncIterator[None]:
        """Inside this context, fulfill every request with a blank document, and report nothing to the tab."""
        self._state.is_internal = True
        try:
            await self._session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
            yield
        finally:
            self._state.is_internal = False
            with contextlib.suppress(PlaywrightError):
                await asyncio.shield(self._session.send("Fetch.disable"))

    async def navigate_to_blank(self, url: str) -> None:
        """Load a blank document at this URL. Call it inside `blank_responses`. Raises TimeoutError."""
        self._state.page = PageState("")
        self._world.reset()
        self._has_stopped = False
        await self._session.send("Page.navigate", {"url": url})
        async with asyncio.timeout(_PAGE_TIMEOUT):
            # A later Page.frameStoppedLoading would count as the end of the next navigation.
            while not (self._state.page.url == url and self._world.is_connected and self._has_stopped):
                await self._progress.wait()
                self._progress.clear()

    async def rebuild_history(self, urls: list[str]) -> list[dict[str, Any]]:
        """Replace the session history by these URLs; returns the entries of Page.getNavigationHistory."""
        async with self.blank_responses():
            for index, url in enumerate(urls):
                await self.navigate_to_blank(url)
                if index == 0:
                    await self.reset_history()
            entries: list[dict[str, Any]] = (await self._session.send("Page.getNavigationHistory"))["entries"]
            return entries

    async def reset_history(self) -> None:
        """Remove all entries of the session history but the current one."""
        await self._session.send("Page.resetNavigationHistory")

    def on_progress(self, *, stopped: bool = False) -> None:
        """The page has committed a document, connected its observer, or stopped loading."""
        self._has_stopped = self._has_stopped or stopped
        self._progress.set()

    def _on_paused(self, event: dict[str, Any]) -> None:
        params: dict[str, Any] = {"requestId": event["requestId"]}
        if self._state.is_internal:
            params |= {"responseCode": 200, "responseHeaders": _BLANK_HEADERS, "body": ""}
            self._tasks.spawn(self._session.send("Fetch.fulfillRequest", params))
        else:  # paused before Fetch.disable took effect
            self._tasks.spawn(self._session.send("Fetch.continueRequest", params))
