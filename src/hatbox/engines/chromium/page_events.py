"""Applies to the profile what users and scripts do in the browser: pages opened, closed and focused.

A browser that quits or crashes closes its pages one after the other. Such pages are not closed in the profile, so a
closed page is reported only after a delay, if the browser still responds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Final

from playwright.async_api import Dialog, Page
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.browser_environment import BrowserEnvironment
from hatbox.engines.chromium.context_registry import ContextRegistry
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.focus import FocusTracker
from hatbox.engines.chromium.identity_context import IdentityContext
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.minimized_pages import MinimizedPages
from hatbox.engines.chromium.person_pages import bypass_service_workers
from hatbox.engines.chromium.ruled_navigation import BlockedPage
from hatbox.engines.chromium.sessions import within
from hatbox.engines.chromium.start_page.start_pages import StartPages
from hatbox.engines.chromium.tab_pages import TabPages
from hatbox.engines.chromium.tab_targets import TabTargets
from hatbox.errors import InvalidIdentity
from hatbox.tabs.tab_model import BLANK
from hatbox.tasks import Tasks

__all__ = ["PageEvents"]

logger = logging.getLogger("hatbox.engines.chromium")

_CLOSE_CONFIRM_DELAY: Final = 0.3  # seconds in which a quitting browser closes the next page
_QUIT_CONFIRM_DELAY: Final = 1.5  # seconds that it needs to end after the last page
_CLOSE_TIMEOUT: Final = 5.0
_POLL_SECONDS: Final = 0.5


class PageEvents:
    """Handles the events of all contexts. Implements identity_context.ContextDelegate."""

    def __init__(
        self,
        env: BrowserEnvironment,
        contexts: ContextRegistry,
        pages: TabPages,
        targets: TabTargets,
        minimized: MinimizedPages,
        focus: FocusTracker,
        start_pages: StartPages,
    ) -> None:
        self._env = env
        self._contexts = contexts
        self._pages = pages
        self._targets = targets
        self._minimized = minimized
        self._focus = focus
        self._start_pages = start_pages
        self._closing: set[asyncio.Task[None]] = set()
        self._skip_close_delay = asyncio.Event()

    def page_opened(self, context: IdentityContext, page: LivePage) -> None:
        """See ContextDelegate."""
        self._env.tasks.spawn(self._adopt_page(context, page))

    def page_closed(self, context: IdentityContext, page: LivePage) -> None:
        """See ContextDelegate."""
        self._minimized.discard(page)
        task = self._env.tasks.spawn(self._confirm_page_closed(context, page))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def context_closed(self, context: IdentityContext) -> None:
        """See ContextDelegate."""
        self._contexts.discard(context)
        pages = [(tab_id, page) for tab_id, page in self._pages.items() if page.page.context is context.context]
        dropped = [tab_id for tab_id, page in pages if not page.is_closed_alone]
        for tab_id in dropped:
            del self._pages[tab_id]
        self._env.tasks.spawn(self._reopen(context, dropped))

    def page_focused(self, page: LivePage) -> None:
        """See ContextDelegate."""
        if not self._minimized.on_focus(page):
            self._focus.on_focus(page.tab_id)

    def identity_chosen(self, page: LivePage, blocked: BlockedPage, cookie_store_id: str) -> None:
        """See ContextDelegate."""
        self._env.tasks.spawn(self._reopen_blocked(page, blocked, cookie_store_id))

    def link_followed(self, page: LivePage, link: str) -> None:
        """See ContextDelegate."""
        if page.tab_id is not None:
            self._env.tasks.spawn(self._env.delegate.link_followed(page.tab_id, link))

    async def wait_until_closed(self) -> None:
        """Wait until pages closed so far are closed in the profile. Skips the delay for a quitting browser."""
        if self._closing:
            self._skip_close_delay.set()
            await asyncio.wait(self._closing, timeout=_CLOSE_TIMEOUT)
            self._skip_close_delay.clear()

    async def _adopt_page(self, context: IdentityContext, page: LivePage) -> None:
        tab = await self._targets.attach(context, page.target_id, page.opener_id, page.page.url)
        if tab is None:
            if self._targets.person_pages.includes(page.target_id):
                await bypass_service_workers(page)
            return
        pages = self._env.services.endpoint_pages
        is_of_client = await pages.has_opened(page.target_id, page.opener_id, context.context_id)
        self._pages.assign(page, tab)
        if is_of_client and self._env.options.headless:
            _ClientDialogs(page.page, lambda: bool(context.clients), self._env.tasks)
        if blocked := self._targets.take_blocked(page.target_id):
            page.navigation.adopt_blocked(blocked)
            page.show_blocked()
        else:
            page.navigation.adopt()
            if page.page.url == BLANK and page.opener_id is None and not is_of_client:
                self._start_pages.show(page, tab)
        if page.page.is_closed():
            self._pages.pop(tab.id, None)
            await self._env.delegate.page_closed(tab.id)

    async def _reopen_blocked(self, page: LivePage, blocked: BlockedPage, cookie_store_id: str) -> None:
        if page.tab_id is None:
            return
        previous = await page.navigation.previous_entry()
        try:
            await self._env.services.rules.choose(page.tab_id, blocked.url, cookie_store_id, close=previous is None)
        except InvalidIdentity as error:
            logger.warning("tab %d: %s", page.tab_id, error)
        else:
            if previous is not None:
                await page.navigation.go_to_entry(previous)

    async def _confirm_page_closed(self, context: IdentityContext, page: LivePage) -> None:
        if not await self._outlives_its_pages():
            return  # reported as a crash
        if page.tab_id is not None and self._pages.get(page.tab_id) is page:
            del self._pages[page.tab_id]
            await self._env.delegate.page_closed(page.tab_id)
        await self._contexts.close_if_empty(context)

    async def _reopen(self, context: IdentityContext, tab_ids: list[int]) -> None:
        """Reopen the tabs of a closed context, unless the browser ends."""
        if not await self._outlives_its_pages():
            return  # reported as a crash
        if tab_ids:
            logger.warning(
                "the browser context of %s was closed; reopening its %d tabs", context.cookie_store_id, len(tab_ids)
            )
        for tab_id in tab_ids:
            self._env.delegate.dropped(tab_id)

    async def _outlives_its_pages(self) -> bool:
        """Whether the browser still responds after the time that a quitting browser needs to end."""
        await self._delay(_CLOSE_CONFIRM_DELAY)
        if all(page.page.is_closed() for page in self._pages.values()):
            await self._delay(_QUIT_CONFIRM_DELAY)
        try:
            await self._env.session.send("Browser.getVersion")
        except PlaywrightError:
            return False
        return True

    async def _delay(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._skip_close_delay.wait()


class _ClientDialogs:
    """The dialogs of one page. Without a listener, Playwright dismisses them at once, and a client is too late.

    When no client is connected any more, a dialog is dismissed: its page would wait for ever.
    """

    def __init__(self, page: Page, has_clients: Callable[[], bool], tasks: Tasks) -> None:
        self._has_clients = has_clients
        self._tasks = tasks
        self._latest: Dialog | None = None
        page.on("dialog", log_exceptions(self._on_dialog))

    def _on_dialog(self, dialog: Dialog) -> None:
        is_watched = self._latest is not None
        self._latest = dialog
        if not is_watched:
            self._tasks.spawn(self._dismiss_without_clients())

    async def _dismiss_without_clients(self) -> None:
        while self._has_clients():  # noqa: ASYNC110 - no event says that another session has closed the dialog
            await asyncio.sleep(_POLL_SECONDS)
        dialog, self._latest = self._latest, None
        if dialog is not None:
            with contextlib.suppress(PlaywrightError):  # a client has closed it
                await within(dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())
