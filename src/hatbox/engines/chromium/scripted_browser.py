"""The part of the engine that content scripts use: its contexts, the pages of tabs, a hook for its start and stop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Protocol

from hatbox.engines.chromium.context_registry import ContextRegistry
from hatbox.engines.chromium.extension_resources import ExtensionResources
from hatbox.engines.chromium.frame_path import Target
from hatbox.engines.chromium.launch import Launched
from hatbox.engines.chromium.tab_pages import TabPages
from hatbox.engines.chromium.tab_targets import TabTargets

__all__ = ["PageScripts", "ScriptedBrowser"]


class PageScripts(Protocol):
    """Adds scripts and files of extensions to the pages of one engine."""

    @property
    def resources(self) -> ExtensionResources | None:
        """The files that pages may load."""

    async def browser_started(self, browser: ScriptedBrowser) -> None:
        """A browser was launched. It has no page yet."""

    async def before_load(self) -> None:
        """Called before a tab loads a URL, when its page exists. The load waits for it. Raises no error."""

    def browser_stopped(self) -> None:
        """The browser has ended, or is about to. Called again without effect."""


class ScriptedBrowser:
    """A launched browser, its contexts and the tabs of its pages."""

    def __init__(
        self,
        launched: Launched,
        contexts: ContextRegistry,
        pages: TabPages,
        targets: TabTargets,
        wait_until_intercepted: Callable[[], Awaitable[None]],
    ) -> None:
        self.launched = launched
        self.wait_until_intercepted = wait_until_intercepted
        """Wait until requests are intercepted as PageScripts.resources needs now."""
        self._contexts = contexts
        self._pages = pages
        self._targets = targets

    def contexts(self) -> Iterator[tuple[str, str]]:
        """browserContextId and cookieStoreId of the open contexts."""
        return ((context.context_id, context.cookie_store_id) for context in self._contexts)

    def on_context_opened(self, listener: Callable[[str, str], None]) -> None:
        """Call the listener with the browserContextId and cookieStoreId of each context that is opened from now on."""
        self._contexts.on_opened = listener

    def cookie_store_of(self, context_id: str) -> str:
        """The cookieStoreId of a context; empty if it is closed."""
        context = self._contexts.find(context_id)
        return context.cookie_store_id if context is not None else ""

    def tab_of(self, target_id: str) -> int | None:
        """The tab of a page; None if it has none yet."""
        page = next((page for context in self._contexts if (page := context.page_at(target_id))), None)
        return page.tab_id if page is not None else None

    async def open_tab_of(self, target_id: str, context_id: str, opener_id: str | None, url: str) -> int | None:
        """The tab of a page. It is opened if the page is so new that it has none."""
        target = Target(target_id, "page", url, context_id, opener_id, None)
        frame = await self._targets.request_frame(target)
        return frame.tab_id if frame is not None and frame.tab_id >= 0 else None

    def target_of(self, tab_id: int) -> str | None:
        """The target id of the page of a tab; None if it has no page."""
        page = self._pages.get(tab_id)
        return page.target_id if page is not None else None

    @property
    def has_pages(self) -> bool:
        """Whether a page is open."""
        return any(context.pages for context in self._contexts)
