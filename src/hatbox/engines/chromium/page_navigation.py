"""Navigations of one page: starts those that the engine requests, and follows those that the page starts.

Knows neither tabs nor what else happens in the page: see NavigationDelegate.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final, Protocol

import msgspec
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as PlaywrightPage

from hatbox.engines.base import PageState
from hatbox.engines.chromium.addresses import refusal
from hatbox.engines.chromium.blank_documents import BlankDocuments
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.isolated_world import IsolatedWorld
from hatbox.engines.chromium.navigation_state import NavigationState
from hatbox.engines.chromium.net_errors import ABORTED, load_error_message
from hatbox.engines.chromium.page_snapshot import PageSnapshot
from hatbox.engines.chromium.ruled_navigation import BlockedPage, RequestedNavigation
from hatbox.engines.chromium.sessions import Session, without_limit
from hatbox.tabs.tab_model import BLANK
from hatbox.tasks import Tasks

__all__ = ["NavigationDelegate", "PageNavigation"]

logger = logging.getLogger("hatbox.engines.chromium")

_SAME_DOCUMENT: Final = ("sameDocument", "historySameDocument")


class NavigationDelegate(Protocol):
    """The page whose navigations these are."""

    target_id: str
    """Also the id of the main frame."""
    is_crashed: bool

    def navigation_started(self) -> None:
        """The current document is about to be unloaded."""

    def document_replaced(self) -> None:
        """A new document, internal or not, has replaced the previous one."""

    def document_committed(self, url: str) -> None:
        """A document of the tab is committed."""

    def same_document_navigation(self) -> None:
        """The URL has changed without a new document."""

    def navigation_completed(self) -> None:
        """Nothing is loading any more."""


class PageNavigation:
    """Navigates one page, and updates its NavigationState."""

    def __init__(
        self,
        page: PlaywrightPage,
        session: Session,
        world: IsolatedWorld,
        blank: BlankDocuments,
        state: NavigationState,
        delegate: NavigationDelegate,
        tasks: Tasks,
    ) -> None:
        self._page = page
        self._session = session
        self._world = world
        self._blank = blank
        self._state = state
        self._delegate = delegate
        self._tasks = tasks
        self._fallback_url = ""
        self._navigate_command: object = None  # the pending Page.navigate: its result says whether a document follows
        self._started_loader = ""  # of the navigation that was started last
        self._must_reset_history = True  # the first document follows a blank one
        self._is_resetting_history = False
        self._load: asyncio.Task[None] | None = None
        self._listen()

    def load(
        self,
        url: str,
        navigation_id: int,
        snapshot: PageSnapshot | None,
        fallback_url: str,
        *,
        is_again: bool = False,
    ) -> None:
        """Start loading a URL, with the session history of the snapshot. Replaces a load in progress.

        The page loads `fallback_url` if the navigation ends without a document and the tab has none yet. `is_again` if
        the tab has shown the URL: rules do not reopen it.
        """
        self._fallback_url = fallback_url
        self._state.requested = RequestedNavigation(navigation_id, stays=is_again)
        self._state.requested_loader = ""
        if self._load is not None:
            self._load.cancel()
        if self._state.reporter is not None:
            self._state.reporter.navigation_requested(navigation_id)
        if url == self._page.url == self._state.page.url == BLANK and self._state.is_idle:
            self._state.report()
            return
        self._state.is_requested = True
        self._state.set_loading()
        self._load = self._tasks.spawn(self._load_with_history(url, snapshot))

    def adopt(self) -> None:
        """Report the current state of a page that the engine has not opened."""
        self._must_reset_history = False
        self._state.has_document = True
        url = self._page.url or BLANK
        self._state.page = msgspec.structs.replace(self._state.page, url=url)
        if url != BLANK and self._state.reporter is not None:
            self._state.reporter.navigation_started(url)
            self._state.set_loading()
            self._commit(url)
            self._tasks.spawn(self._complete_when_loaded())

    def adopt_blocked(self, blocked: BlockedPage) -> None:
        """Report a page that the engine has not opened, and that shows the error page of a blocked navigation."""
        self._must_reset_history = False
        self._state.has_document = True
        self._state.block(blocked)
        self._state.blocked = blocked
        if self._state.reporter is not None:
            self._state.reporter.navigation_started(blocked.url)
        self._state.fail(blocked.url, blocked.outcome.message)

    async def previous_entry(self) -> int | None:
        """The id of the previous entry of the session history; None if the tab has shown no page before."""
        history = await self._session.send("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] - 1] if history["currentIndex"] > 0 else None
        return int(entry["id"]) if entry is not None and entry["url"] != BLANK else None

    async def go_to_entry(self, entry_id: int) -> None:
        """Go to an entry of the session history."""
        await self._session.send("Page.navigateToHistoryEntry", {"entryId": entry_id})

    async def clear(self) -> None:
        """Navigate from the blank document at a site's URL to about:blank."""
        if self._page.url != BLANK:
            try:
                async with self._blank.blank_responses():
                    await self._blank.navigate_to_blank(BLANK)
                    await self._blank.reset_history()
            except (PlaywrightError, TimeoutError) as error:
                logger.debug("tab %s: navigating to about:blank failed: %s", self._state.tab_id, error)
        self._state.page = PageState(BLANK)

    # ---------------------------------------------------------------------------------------------------- commands

    async def _load_with_history(self, url: str, snapshot: PageSnapshot | None) -> None:
        if snapshot is None or len(snapshot.entries) == 1:
            await self._navigate(url)
            return
        self._must_reset_history = False
        entries, index = snapshot.entries, snapshot.index
        is_last = index == len(entries) - 1
        try:
            history = await self._blank.rebuild_history(entries[:index] if is_last else entries)
            if not is_last:
                await self._session.send("Page.navigateToHistoryEntry", {"entryId": history[index]["id"]})
                return
        except (PlaywrightError, TimeoutError, IndexError) as error:
            logger.warning("tab %s: restoring session history failed: %s", self._state.tab_id, error)
        await self._navigate(url)

    async def _navigate(self, url: str) -> None:
        if error := refusal(url):
            self._state.fail(url, error)
            return
        try:
            result = await self._send_navigate(url)
            if result.get("errorText") and self._state.is_requested:  # not started: the URL is opened by a program
                self._state.is_requested = False
                self._complete()
            elif result.get("errorText") == ABORTED and result.get("loaderId") == self._started_loader:
                self._state.is_download = result.get("isDownload", False)
                self._complete()
        except PlaywrightError as error:
            if self._page.is_closed() or self._delegate.is_crashed:
                return
            # The URL is not logged: it can have a password.
            logger.debug("tab %s: Page.navigate failed: %s", self._state.tab_id, error)
            self._state.fail(url, load_error_message("net::ERR_INVALID_URL", url))

    async def _send_navigate(self, url: str) -> dict[str, Any]:
        command = self._navigate_command = object()
        try:
            result: dict[str, Any] = await self._session.navigate(url)
            return result
        finally:
            if self._navigate_command is command:
                self._navigate_command = None

    # ------------------------------------------------------------------------------------------------------ events

    def _listen(self) -> None:
        def on(name: str, listener: Callable[[dict[str, Any]], object]) -> None:
            self._session.on(name, log_exceptions(listener))

        on("Page.frameStartedNavigating", self._on_started)
        on("Page.frameNavigated", self._on_navigated)
        on("Page.navigatedWithinDocument", self._on_same_document_navigation)
        on("Page.frameStoppedLoading", self._on_stopped)
        on("Page.loadEventFired", lambda _: self._complete() if self._state.is_committed else None)

    def _on_started(self, event: dict[str, Any]) -> None:
        if event["frameId"] != self._delegate.target_id or event["navigationType"] in _SAME_DOCUMENT:
            return
        self._world.is_connected = self._state.is_committed = False
        if self._state.is_internal:
            return
        self._started_loader = event["loaderId"]
        self._state.is_download = False
        self._state.set_loading()
        self._delegate.navigation_started()
        if self._state.is_requested:
            self._state.is_requested = False
            self._state.requested_loader = event["loaderId"]
        elif self._state.reporter is not None:
            self._state.restored_title = ""
            self._state.reporter.navigation_started(event["url"])

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        if frame.get("parentId"):
            return
        self._delegate.document_replaced()
        if not self._world.is_connected:
            self._state.reset_title_and_icon()
            self._world.reset()
        self._state.is_committed = True
        self._blank.on_progress()
        url = frame["url"] + frame.get("urlFragment", "")
        if self._state.is_internal:
            self._state.page = PageState(url)
            return
        self._state.has_document = True
        unreachable_url = frame.get("unreachableUrl")
        self._commit(unreachable_url or url, failed=bool(unreachable_url))

    def _commit(self, url: str, *, failed: bool = False) -> None:
        self._state.commit(url, failed=failed)
        self._delegate.document_committed(url)

    def _on_same_document_navigation(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._delegate.target_id:
            self._state.move_within_document(event["url"])
            self._delegate.same_document_navigation()

    def _on_stopped(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._delegate.target_id:
            self._blank.on_progress(stopped=True)
            self._complete()

    # -------------------------------------------------------------------------------------------------- completion

    def _complete(self) -> None:
        """End the navigation, with a document or without."""
        state = self._state
        if state.is_internal or state.is_requested or self._is_resetting_history or state.is_idle:
            return  # the event belongs to another navigation
        if not state.is_committed and self._navigate_command is not None:
            return  # the previous document has stopped loading
        if not state.is_committed and not state.has_document and self._fallback_url:
            url, self._fallback_url, state.is_requested = self._fallback_url, "", True
            state.requested, state.requested_loader = RequestedNavigation(stays=True), ""
            self._load = self._tasks.spawn(self._navigate(url))
        elif not state.is_committed and not state.has_document and state.page.url != BLANK:
            self._load = self._tasks.spawn(self._clear_and_complete())
        elif self._must_reset_history and state.is_committed:  # a download and status 204 add no history entry
            self._must_reset_history, self._is_resetting_history = False, True
            self._tasks.spawn(self._reset_history_and_complete())
        else:
            state.set_idle()
            state.report()
            state.is_committed = True
            self._delegate.navigation_completed()

    async def _clear_and_complete(self) -> None:
        """The navigation ended without a document, so the tab is blank."""
        await self.clear()
        self._state.is_committed = False
        self._complete()

    async def _reset_history_and_complete(self) -> None:
        """Remove the blank document before the first document of a tab from the session history."""
        try:
            history = await self._session.send("Page.getNavigationHistory")
            if history["currentIndex"] == 1 and self._state.is_committed:
                await self._blank.reset_history()
        finally:
            self._is_resetting_history = False
            if self._state.is_committed:  # otherwise another navigation has started, and completes by itself
                self._complete()

    async def _complete_when_loaded(self) -> None:
        await without_limit(self._page.wait_for_load_state(timeout=0))  # the task is cancelled when the page is closed
        self._complete()
