"""The pages of one agent: the tabs that it has opened, and those that their pages open.

Tabs of the user, and of other agents on the same identity, are not visible here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox.engines.chromium.closing import close_page
from hatbox.engines.chromium.sessions import within
from hatbox.errors import HatboxError, InvalidTab
from hatbox.mcp.agent_tab import AgentTab
from hatbox.mcp.host_limits import ERROR_PAGE, check_url
from hatbox.mcp.password_fields import KnownPasswords
from hatbox.mcp.tab_downloads import TabDownloads
from hatbox.mcp.tool_output import ToolFailed, ToolRefused
from hatbox.tasks import Tasks

if TYPE_CHECKING:
    from hatbox.mcp.agent_session import AgentSession

__all__ = ["MAX_TABS", "AgentPages"]

logger = logging.getLogger("hatbox.mcp")

MAX_TABS: Final = 20
"""Open tabs of one agent."""

_RELOAD_SECONDS: Final = 15.0  # for all tabs together, after which they go on loading in the background
_LOAD_SECONDS: Final = 60.0
_CLOSE_SECONDS: Final = 3.0
_NOT_LOADED: Final = ("about:blank", ERROR_PAGE)
_MAX_OPENERS: Final = 50  # a chain of tabs that opened each other
_ENDED: Final = "the access of this agent has ended."
_RESTORING: Final = (
    "a person has used this identity, and your pages are loaded again. Try again in some seconds, and take a new "
    "browser_snapshot first: earlier references are invalid."
)


class AgentPages:
    """The tabs of an agent."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._browser = session.browser
        self._tabs: list[AgentTab] = []
        self._current: AgentTab | None = None
        self._tab_ids: set[int] = set()
        self._is_closed = False
        self.downloads = TabDownloads(session)
        """The downloads of all tabs, also of closed ones."""
        self.has_shown_pdf = False
        """Whether a page has shown a PDF: its viewer opens tabs without an opener."""
        self._passwords = KnownPasswords()
        self._opening = 0
        self._suspended: list[str] = []  # the URLs of the tabs, while a person uses the identity
        self._reloading: dict[AgentTab, str] = {}  # those of the tabs that have not loaded again
        self._is_restoring = False
        self._tasks = Tasks(lambda _: None)  # the tool that waits for a task gets its error

    @property
    def tabs(self) -> list[AgentTab]:
        """The open tabs, in the order in which they were opened."""
        if any(each.is_disconnected for each in self._tabs) and self._tab_ids:
            # The next browser opens them again, as those of users. They are no pages of this agent any more.
            lost, self._tab_ids = sorted(self._tab_ids), set()
            self._tasks.spawn(self._close_lost(lost))
        self._tabs = [each for each in self._tabs if each.is_open]
        return self._tabs

    @property
    def current_url(self) -> str:
        """The URL of the current tab; empty without one."""
        return "" if self._current is None else self._current.page.url

    @property
    def known_passwords(self) -> set[str]:
        """The values of the password fields of all tabs, now and earlier."""
        return self._passwords.values

    def is_current(self, tab: AgentTab) -> bool:
        """Whether a tab is the current one."""
        return tab is self._current

    async def current(self, *, create: bool = False) -> AgentTab:
        """The current tab. Raises ToolFailed if the agent has none, unless it is to be created."""
        if self._current is None or not self._current.is_open:
            why = "" if self._current is None else self._current.why_lost
            tabs = self.tabs
            self._current = tabs[-1] if tabs else None
            if why and not create:  # once
                raise ToolFailed(why)
        if self._current is not None:
            return self._current
        if not create:
            raise ToolFailed("no page is open. Open one with browser_navigate.")
        return await self.open_tab()

    async def open_tab(self) -> AgentTab:
        """Open an empty tab, and make it the current one."""
        if len(self.tabs) + self._opening >= MAX_TABS:
            raise ToolRefused(f"{MAX_TABS} tabs are open. Close one first, with browser_tabs.")
        # A task of its own: a tab that opens after its client has gone away would have no owner.
        return await asyncio.shield(self._tasks.spawn(self._open_tab()))

    async def _open_tab(self) -> AgentTab:
        if self._is_closed:  # since this task was spawned: no later call would stop the browser
            raise ToolRefused(_ENDED)
        self._opening += 1
        try:
            page, tab_id = await self._browser.new_page(self)
        finally:
            self._opening -= 1
        if tab_id is not None:
            self._tab_ids.add(tab_id)
        self._current = self._add(page)
        if self._is_closed:
            await _close(page)
        return self._current

    async def _close_lost(self, tab_ids: list[int]) -> None:
        with contextlib.suppress(HatboxError):
            await self._session.profile.tabs.close(tab_ids, missing_ok=True)

    def select(self, index: int) -> AgentTab:
        """Make a tab the current one."""
        self._current = self._at(index)
        return self._current

    async def close_tab(self, index: int | None) -> None:
        """Close a tab; without an index, the current one."""
        tab = await self.current() if index is None else self._at(index)
        try:
            await close_page(tab.page)
        except PlaywrightTimeout as error:
            raise ToolFailed("the browser does not respond: the tab is still open. Try again.") from error
        if tab is self._current:
            self._current = None

    def end(self) -> None:
        """Open no more tabs: the access of the agent ends."""
        self._is_closed = True

    async def close(self) -> None:
        """Close all tabs of the agent. The browser stops if no other agent uses it."""
        self.end()
        await asyncio.gather(*(_close(each.page) for each in self.tabs))
        await self._browser.release(self)

    async def adopt_tabs(self) -> None:
        """Add the tabs that pages of the agent have opened without an opener: by a click with Ctrl or Shift."""
        shown = {id(each.page) for each in self.tabs}
        for tab_id in sorted(self._browser.tabs - self._tab_ids):
            page = self._browser.page_of(tab_id)
            with contextlib.suppress(InvalidTab):  # closed meanwhile
                if page is not None and id(page) not in shown and await self._has_own_opener(tab_id):
                    self._on_popup(page)

    # ── For a person ──

    def remember(self) -> None:
        """Remember the URLs of the tabs: the browser is about to be stopped, because a person uses the identity."""
        tabs = sorted(self.tabs, key=self.is_current)  # the last one is the current one again
        self._suspended = [self._url_of(each) for each in tabs]
        self._reloading.clear()
        self._current = None
        self._is_restoring = bool(tabs)

    @property
    def are_suspended(self) -> bool:
        """Whether tabs are remembered, to be opened again."""
        return bool(self._suspended)

    def check_restored(self) -> None:
        """Raise ToolFailed until the remembered tabs are open again: a tool would use one that is not the current."""
        if self._is_restoring:
            raise ToolFailed(_RESTORING)

    @property
    def are_loading(self) -> bool:
        """Whether tabs that were opened again are still empty."""
        return any(each in self._reloading and each.page.url in _NOT_LOADED for each in self.tabs)

    async def restore(self) -> None:
        """Open the remembered tabs again. What does not load, or not within a time, is left to the agent."""
        urls, self._suspended = self._suspended, []
        loads = []
        try:
            with contextlib.suppress(ToolFailed, HatboxError, PlaywrightError):
                for url in urls:
                    tab = await self.open_tab()
                    self._reloading[tab] = url
                    loads.append(self._tasks.spawn(self._load_again(tab, url)))
            if loads:
                await asyncio.wait(loads, timeout=_RELOAD_SECONDS)
                self._current = tab  # a page may have opened another one
        finally:
            self._is_restoring = False

    async def _load_again(self, tab: AgentTab, url: str) -> None:
        with contextlib.suppress(PlaywrightError, ToolFailed):
            checked = check_url(self._session.grant("pages"), url)
            await within(tab.page.goto(checked, timeout=0, wait_until="domcontentloaded"), seconds=_LOAD_SECONDS)
            self._reloading.pop(tab, None)

    def _url_of(self, tab: AgentTab) -> str:
        """The URL of a tab, or the one that it has not loaded yet after the last time."""
        url = tab.page.url
        return self._reloading.get(tab, url) if url in _NOT_LOADED else url

    def _at(self, index: int) -> AgentTab:
        tabs = self.tabs
        if index >= len(tabs):
            raise ToolFailed(f"tab {index} does not exist. {len(tabs)} tabs are open, the first has the index 0.")
        return tabs[index]

    def _add(self, page: Page) -> AgentTab:
        tab = AgentTab(page, self._session, self.downloads, self._passwords)
        self._tabs.append(tab)
        page.on("popup", self._on_popup)
        return tab

    def _on_popup(self, page: Page) -> None:
        if any(each.page is page for each in self._tabs):
            return
        if len(self.tabs) >= MAX_TABS or self._is_closed:
            self._tasks.spawn(_close(page))
            return
        self._current = self._add(page)
        self._tasks.spawn(self._browser.limit.add_page(page, self))

    # ── The limit of documents ──

    async def owns(self, tab_id: int) -> bool:
        """See PageOwner."""
        if tab_id in self._tab_ids:
            return True
        try:
            if await self._has_own_opener(tab_id) or self._is_unknown_page(tab_id):
                return True
            return self.has_shown_pdf and await self._is_of_browser(tab_id)
        except InvalidTab:
            return True

    async def _has_own_opener(self, tab_id: int) -> bool:
        """Whether a page of the agent has opened a tab, or one that has opened it. Raises InvalidTab."""
        seen = [tab_id]
        while len(seen) < _MAX_OPENERS:
            opener = (await self._session.profile.tabs.get(seen[-1])).opener_id
            if opener is None:
                return False
            if opener in self._tab_ids:
                self._tab_ids.update(seen)
                return True
            seen.append(opener)
        return True

    def _is_unknown_page(self, tab_id: int) -> bool:
        """Whether the page of a tab without an opener is one of the agent: its tab is being opened."""
        page = self._browser.page_of(tab_id)
        return any(each.page is page for each in self._tabs)

    async def _is_of_browser(self, tab_id: int) -> bool:
        """Whether the browser has opened a tab without an opener, not a program. Raises InvalidTab.

        A link of a PDF does so after a click with Ctrl or Shift. In a window, a person can do it too: such a tab is
        limited, but the agent does not get it.
        """
        return (await self._session.profile.tabs.get(tab_id)).navigation_id == 0

    def refused(self, page: Page | None, reason: str, url: str) -> None:
        """See PageOwner."""
        with contextlib.suppress(HatboxError):
            self._session.record("navigate", url, "refused")
        if not reason:
            return
        found = [tab for tab in self._tabs if tab.page is page]
        for tab in found or self._tabs:  # a new page, which is not in the list yet, was opened by one of these
            tab.refused = reason

    async def check_and_open(self, url: str) -> tuple[AgentTab, str]:
        """The current tab, created if necessary, and the checked URL to load in it. Raises before anything starts."""
        checked = check_url(self._session.grant("pages"), url)
        return await self.current(create=True), checked


async def _close(page: Page) -> None:
    """Close a page. One that stays open is closed with the browser."""
    try:
        await within(close_page(page), "closing a page", _CLOSE_SECONDS)
    except PlaywrightError as error:
        logger.warning("a page of an agent is still open: %s", error)
