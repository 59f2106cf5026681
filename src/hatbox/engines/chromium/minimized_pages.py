"""Pages of hidden tabs that stay open in minimized windows, because they have typed text."""

from __future__ import annotations

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.browser_environment import BrowserEnvironment
from hatbox.engines.chromium.context_registry import ContextRegistry
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.page_saving import read_snapshot
from hatbox.engines.chromium.tab_pages import TabPages
from hatbox.engines.chromium.window_minimizer import WindowMinimizer
from hatbox.identity.ids import user_context_id_of
from hatbox.store.base import RESYNC, ChangeRecord
from hatbox.tabs.tab_model import REMOVED, Tab

__all__ = ["MinimizedPages"]


class MinimizedPages:
    """The minimized pages of one launched browser, by tab id. Empty in headless mode."""

    def __init__(self, env: BrowserEnvironment, contexts: ContextRegistry, pages: TabPages) -> None:
        self._env = env
        self._contexts = contexts
        self._pages = pages
        self._minimizer = WindowMinimizer(env.session, headless=env.options.headless)
        self._minimized: dict[int, LivePage] = {}

    def __contains__(self, tab_id: int) -> bool:
        return tab_id in self._minimized

    def start(self) -> None:
        """Close minimized pages when their tabs are closed in the profile."""
        self._env.store.subscribe(self._on_change)

    def stop(self) -> None:
        """Unsubscribe. Minimized pages stay open."""
        self._env.store.unsubscribe(self._on_change)

    async def minimize(self, tab_id: int, page: LivePage) -> bool:
        """Minimize the window of a page with typed text instead of closing it; False if the page is to be closed.

        The typed text is saved too, because the browser may end before the tab is shown again.
        """
        context = self._contexts.of_page(page)
        if self._env.options.headless or context is None or page.is_crashed:
            return False
        try:
            typed, snapshot = await read_snapshot(page)
        except (PlaywrightError, TimeoutError):
            return False
        user_context_id = user_context_id_of(context.cookie_store_id)
        rows = await self._env.store.read(lambda transaction: transaction.tabs.find(store=user_context_id))
        visible = [self._pages[row.id].target_id for row in rows if not row.hidden and row.id in self._pages]
        if typed.is_empty or not await self._minimizer.minimize(page.target_id, visible):
            return False
        page.stop_reporting()
        self._minimized[tab_id] = page
        if snapshot is not None:
            await self._env.delegate.save_snapshot(tab_id, snapshot)
        await context.save(page)
        return True

    async def restore(self, tab: Tab) -> LivePage | None:
        """Restore the window of a tab's minimized page, and assign the page to the tab; None if it has none."""
        page = self._minimized.pop(tab.id, None)
        if page is None or page.page.is_closed():
            return None
        if page.is_crashed:
            await page.close()
            return None
        self._pages.assign(page, tab)
        await self._minimizer.restore(page.target_id)
        return page

    def discard(self, page: LivePage) -> None:
        """Remove a page that was closed."""
        self._minimized = {tab_id: other for tab_id, other in self._minimized.items() if other is not page}

    def remove(self, tab_id: int) -> None:
        """Remove the page of a tab."""
        self._minimized.pop(tab_id, None)

    def clear(self) -> None:
        """Remove all pages: the browser has ended."""
        self._minimized.clear()

    def on_focus(self, page: LivePage) -> bool:
        """Whether the focused page is one of these. If the user has restored its window, its tab is shown."""
        if page not in self._minimized.values():
            return False
        self._env.tasks.spawn(self._show_if_restored(page))
        return True

    async def _show_if_restored(self, page: LivePage) -> None:
        if not await self._minimizer.is_minimized(page.target_id):
            for tab_id in [tab_id for tab_id, other in self._minimized.items() if other is page]:
                await self._env.delegate.shown(tab_id)

    def _on_change(self, change: ChangeRecord) -> None:
        if self._minimized and change.topic in (RESYNC, REMOVED):
            self._env.tasks.spawn(self._close_removed())

    async def _close_removed(self) -> None:
        """Close the pages whose tabs were closed in the profile."""
        tab_ids = list(self._minimized)
        removed = await self._env.store.read(
            lambda each: [tab_id for tab_id in tab_ids if each.tabs.get(tab_id) is None]
        )
        for tab_id in removed:
            if page := self._minimized.pop(tab_id, None):
                await self._contexts.close_page(self._contexts.of_page(page), page)
