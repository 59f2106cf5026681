"""Finds the tab of a CDP target, and opens a tab for a target that a page or the user has opened.

A target can send requests before Playwright has a page for it. So its tab is opened when the first of both is seen.
"""

from __future__ import annotations

import asyncio
import contextlib

import msgspec
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.browser_environment import BrowserEnvironment
from hatbox.engines.chromium.context_registry import ContextRegistry
from hatbox.engines.chromium.focus import FocusTracker
from hatbox.engines.chromium.frame_path import Target
from hatbox.engines.chromium.identity_context import IdentityContext
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.person_pages import PersonPages
from hatbox.engines.chromium.ruled_navigation import BlockedPage, RequestedNavigation
from hatbox.engines.chromium.tab_pages import TabPages
from hatbox.errors import EngineError, InvalidIdentity
from hatbox.store.base import Transaction
from hatbox.tabs.bound_tabs import bind_tab, is_bound
from hatbox.tabs.tab_model import Tab
from hatbox.web_requests import RequestFrame

__all__ = ["TabTargets"]


class TabTargets:
    """The tabs of targets. Implements request_details.TabLookup and rule_checks.RuledTabs."""

    def __init__(
        self, env: BrowserEnvironment, contexts: ContextRegistry, pages: TabPages, focus: FocusTracker
    ) -> None:
        self._env = env
        self._contexts = contexts
        self._pages = pages
        self._focus = focus
        self.person_pages = PersonPages(env.services.endpoint_pages)
        """The pages in which a person answers a request of a program. They have no tab."""
        self._blocked: dict[str, BlockedPage] = {}  # by target id, until Playwright has a page
        self._unattached: dict[str, asyncio.Task[Tab | None]] = {}  # by target id, until Playwright has a page
        self._endpoint_pages = env.services.endpoint_pages
        self._endpoint_pages.on_driven = self._on_driven
        pages.on_assigned = self._on_assigned

    async def attach(self, context: IdentityContext, target_id: str, opener_id: str | None, url: str) -> Tab | None:
        """The tab of a target for which Playwright has a page now; None for `person_pages`, and if the identity was
        removed."""
        tab = await self._tab_for_target(context, target_id, opener_id, url)
        self._unattached.pop(target_id, None)
        return tab

    async def close_target(self, tab_id: int) -> None:
        """Close the target of a tab for which Playwright has no page yet."""
        for target_id, opening in list(self._unattached.items()):
            tab = opening.result() if opening.done() and not opening.cancelled() else None
            if tab is not None and tab.id == tab_id:
                del self._unattached[target_id]
                with contextlib.suppress(PlaywrightError):
                    await self._env.session.send("Target.closeTarget", {"targetId": target_id})

    def clear(self) -> None:
        """Remove all targets: the browser has ended. Their tabs stay open in the profile."""
        self._unattached.clear()
        self._blocked.clear()

    async def request_frame(self, target: Target) -> RequestFrame | None:
        """See TabLookup."""
        context = self._contexts.find(target.context_id)
        if context is None:
            return None  # the engine itself loads pages there, to restore or to save site data
        if target.kind != "page":
            return RequestFrame(-1, -1, context.cookie_store_id)
        page = context.page_at(target.id)
        if page is not None and page.state.is_internal:
            return None  # the page fulfills its own requests; Chromium 156 does not even pause them here
        tab_id = page.tab_id if page is not None else None
        if tab_id is None:
            tab = await self._tab_for_target(context, target.id, target.opener_id, target.url)
            tab_id = tab.id if tab is not None else -1
        if self.person_pages.includes(target.id):
            return RequestFrame(-1, -1, context.cookie_store_id, is_for_person=True)
        row = await self._env.store.read(lambda transaction: transaction.tabs.get(tab_id))
        return RequestFrame(tab_id, row.window if row is not None else -1, context.cookie_store_id)

    async def requested_navigation(self, target: Target, tab_id: int, network_id: str, url: str) -> RequestedNavigation:
        """See RuledTabs."""
        if self.person_pages.includes(target.id):
            return RequestedNavigation(is_refused=True)  # the identity was named, as for scripts
        context = self._contexts.find(target.context_id)
        page = context.page_at(target.id) if context is not None else None
        row = await self._env.store.read(lambda transaction: transaction.tabs.get(tab_id))
        cookie_store_id = context.cookie_store_id if context is not None else ""
        opener = self._pages.get(row.opener) if row is not None and row.opener is not None else None
        opener_id = target.opener_id or (opener.target_id if opener is not None else None)
        if await self._endpoint_pages.controls(target.id, opener_id, target.context_id):
            await self._bind(tab_id)
            return RequestedNavigation(is_refused=True)
        scripts = self._env.services.script_pages
        is_refused = scripts.includes(tab_id, row.opener if row else None, cookie_store_id)
        if page is None:
            return RequestedNavigation(is_refused=is_refused)
        is_requested = bool(network_id) and page.state.requested_loader == network_id
        requested = page.state.requested if is_requested else RequestedNavigation()
        is_unchecked = page.state.is_unchecked(url)
        return msgspec.structs.replace(requested, is_refused=is_refused, is_unchecked=is_unchecked)

    def _on_driven(self, target_id: str) -> None:
        """A client starts to control a page. A rule that is added later must not reopen it, in whichever engine."""
        for tab_id, page in self._pages.items():
            if page.target_id == target_id:
                self._env.tasks.spawn(self._bind(tab_id))

    def _on_assigned(self, page: LivePage, tab_id: int) -> None:
        if self._endpoint_pages.is_driven(page.target_id):  # before it had a tab
            self._env.tasks.spawn(self._bind(tab_id))

    async def _bind(self, tab_id: int) -> None:
        """The tab outlives the client, and another engine may load it: it must not be reopened there either."""

        def bind(transaction: Transaction) -> None:
            if transaction.tabs.get(tab_id) is not None:
                bind_tab(transaction, tab_id)

        if not await self._env.store.read(lambda transaction: is_bound(transaction, tab_id)):
            await self._env.store.write(bind)

    def is_for_person(self, target_id: str) -> bool:
        """See RuledTabs."""
        return self.person_pages.includes(target_id)

    def identity_of(self, context_id: str) -> str | None:
        """See RuledTabs."""
        context = self._contexts.find(context_id)
        return context.cookie_store_id if context is not None else None

    def block_page(self, target_id: str, blocked: BlockedPage) -> None:
        """See RuledTabs."""
        page = next((page for context in self._contexts if (page := context.page_at(target_id))), None)
        if page is not None and (page.tab_id is not None or self.person_pages.includes(target_id)):
            page.state.block(blocked)
        else:
            self._blocked[target_id] = blocked

    def take_blocked(self, target_id: str) -> BlockedPage | None:
        """The navigation of a new page that a rule has blocked."""
        return self._blocked.pop(target_id, None)

    def fail_load(self, target_id: str, url: str, why: str) -> None:
        """See TabLookup."""
        for context in self._contexts:
            if page := context.page_at(target_id):
                page.state.fail(url, why)

    def target_destroyed(self, target_id: str) -> None:
        """See TabLookup."""
        self._blocked.pop(target_id, None)
        if opening := self._unattached.pop(target_id, None):
            self._env.tasks.spawn(self._close_unattached_tab(opening))

    def _tab_for_target(
        self, context: IdentityContext, target_id: str, opener_id: str | None, url: str
    ) -> asyncio.Task[Tab | None]:
        if target_id not in self._unattached:
            self._unattached[target_id] = self._env.tasks.spawn(self._open_tab(context, target_id, opener_id, url))
        return self._unattached[target_id]

    async def _open_tab(self, context: IdentityContext, target_id: str, opener_id: str | None, url: str) -> Tab | None:
        requested = context.openers.take(opener_id, url)
        in_background = opener_id is None and requested is not None and requested.in_background
        if opener_id is None and requested is None and context.has_windows:  # see root_commands
            in_background = await self._endpoint_pages.has_opened(target_id, None, context.context_id)
        opener_id = opener_id or (requested.target_id if requested else None)
        if self.person_pages.includes(target_id, opener_id):
            return None
        opener = next((page for page in self._pages.values() if page.target_id == opener_id), None)
        if opener is not None and await self._is_popup_of_program(context, target_id, opener):
            in_background = True
            await self._focus.restore(self._pages)
        try:
            return await self._env.delegate.page_opened(
                context.cookie_store_id, opener.tab_id if opener else None, active=not in_background
            )
        except (EngineError, InvalidIdentity):
            return None  # the engine is stopping, or the identity was removed

    async def _is_popup_of_program(self, context: IdentityContext, target_id: str, opener: LivePage) -> bool:
        """Whether a page that a program has opened opens another one, in front of that of a person."""
        return context.has_windows and await self._endpoint_pages.has_opened(
            target_id, opener.target_id, context.context_id
        )

    async def _close_unattached_tab(self, opening: asyncio.Task[Tab | None]) -> None:
        if (tab := await opening) is not None and tab.id not in self._pages:
            await self._env.delegate.page_closed(tab.id)
