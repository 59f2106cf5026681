"""The pages of one agent: the tabs that it has opened, and those that their pages open. Starts the browser when needed.

Tabs of the user, and of other agents on the same identity, are not visible here.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from hatbox.errors import EngineAlreadyRunning, HatboxError, InvalidTab
from hatbox.mcp.agent_tab import AgentTab, TabDownload
from hatbox.mcp.host_limits import check_url, may_load, refusal
from hatbox.mcp.tool_output import ToolFailed, ToolRefused
from hatbox.tasks import Tasks
from hatbox.web_requests.request_model import BlockingResponse, RequestSnapshot

if TYPE_CHECKING:
    from hatbox.engines.chromium.chromium_runner import ChromiumRunner
    from hatbox.mcp.agent_session import AgentSession

__all__ = ["MAX_TABS", "AgentPages"]

MAX_TABS: Final = 20
"""Open tabs of one agent."""

_DOCUMENTS: Final = ("main_frame", "sub_frame")
_RELOAD_MS: Final = 15_000.0
_MAX_OPENERS: Final = 50  # a chain of tabs that opened each other
_BLOCKED: Final = BlockingResponse("hatbox-mcp", {"cancel": True})


class AgentPages:
    """The tabs of an agent, and the browser that shows them."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._runner: ChromiumRunner | None = None
        self._starting = asyncio.Lock()
        self._tabs: list[AgentTab] = []
        self._current: AgentTab | None = None
        self._tab_ids: set[int] = set()
        self._is_closed = False
        self._suspended: list[str] | None = None  # the URLs of the tabs, while a person uses the identity
        self._downloads: list[TabDownload] = []
        self._tasks = Tasks()

    @property
    def tabs(self) -> list[AgentTab]:
        """The open tabs, in the order in which they were opened."""
        self._tabs = [each for each in self._tabs if not each.page.is_closed()]
        return self._tabs

    @property
    def current_url(self) -> str:
        """The URL of the current tab; empty without one."""
        return "" if self._current is None else self._current.page.url

    def is_current(self, tab: AgentTab) -> bool:
        """Whether a tab is the current one."""
        return tab is self._current

    @property
    def downloads(self) -> list[TabDownload]:
        """The downloads of all tabs, also of closed ones."""
        return list(self._downloads)

    async def current(self, *, create: bool = False) -> AgentTab:
        """The current tab. Raises ToolFailed if the agent has none, unless it is to be created."""
        if self._current is None or self._current.page.is_closed():
            tabs = self.tabs
            self._current = tabs[-1] if tabs else None
        if self._current is not None:
            return self._current
        if not create:
            raise ToolFailed("no page is open. Open one with browser_navigate.")
        return await self.open_tab()

    async def open_tab(self) -> AgentTab:
        """Open an empty tab, and make it the current one."""
        if len(self.tabs) >= MAX_TABS:
            raise ToolRefused(f"{MAX_TABS} tabs are open. Close one first, with browser_tabs.")
        runner = await self._started()
        before = runner.engine.tabs
        page = await runner.new_page(self._session.identity)
        self._tab_ids |= {each for each in runner.engine.tabs - before if runner.engine.page_of(each) is page}
        self._current = self._add(page)
        return self._current

    def select(self, index: int) -> AgentTab:
        """Make a tab the current one."""
        self._current = self._at(index)
        return self._current

    async def close_tab(self, index: int | None) -> None:
        """Close a tab; without an index, the current one."""
        tab = await self.current() if index is None else self._at(index)
        await tab.page.close()
        if tab is self._current:
            self._current = None

    def end(self) -> None:
        """Open no more tabs: the access of the agent ends."""
        self._is_closed = True

    async def close(self) -> None:
        """Close all tabs of the agent, and stop the browser."""
        self.end()
        await self._stop()

    async def _stop(self) -> None:
        async with self._starting:
            self._session.profile.web_requests.on_before_request.remove_listener(self._on_request)
            if self._runner is not None:
                runner, self._runner = self._runner, None
                await runner.stop()

    # ── For a person ──

    @property
    def runner_with_windows(self) -> ChromiumRunner | None:
        """The running browser, if a person can see it."""
        return self._runner if self._runner is not None and self._runner.engine.has_windows else None

    async def suspend(self) -> None:
        """Close all tabs and stop the browser, until `resume`: a person uses the identity in another one.

        Raises ToolFailed if other programs use the browser.
        """
        if self._runner is not None and self._runner.has_clients:
            raise ToolFailed(
                "other programs use the browser of this identity, which has no windows. Ask the user to close them, or "
                "to start hatbox mcp with --headed."
            )
        tabs = self.tabs
        with contextlib.suppress(ToolFailed):
            current = await self.current()
            tabs = [*(each for each in tabs if each is not current), current]  # the last one is the current one again
        self._suspended = [each.page.url for each in tabs]
        await self._stop()

    async def resume(self) -> None:
        """Open the tabs again that `suspend` has closed. What does not load is left to the agent."""
        urls, self._suspended = self._suspended or [], None
        with contextlib.suppress(ToolFailed, HatboxError):
            for url in urls:
                tab = await self.open_tab()
                with contextlib.suppress(PlaywrightError, ToolFailed):
                    await tab.page.goto(check_url(self._session.grant("pages"), url), timeout=_RELOAD_MS)

    def _at(self, index: int) -> AgentTab:
        tabs = self.tabs
        if index >= len(tabs):
            raise ToolFailed(f"tab {index} does not exist. {len(tabs)} tabs are open, the first has the index 0.")
        return tabs[index]

    def _add(self, page: Page) -> AgentTab:
        tab = AgentTab(page, self._session, self._downloads)
        self._tabs.append(tab)
        page.on("popup", self._on_popup)
        return tab

    def _on_popup(self, page: Page) -> None:
        if len(self.tabs) >= MAX_TABS or self._is_closed:
            self._tasks.spawn(_close(page))
            return
        self._current = self._add(page)

    # ── The browser ──

    async def _started(self) -> ChromiumRunner:
        async with self._starting:
            if self._is_closed:
                raise ToolRefused("the access of this agent has ended.")
            if self._suspended is not None:
                raise ToolFailed("a person uses the browser. Call ask_person_wait.")
            if self._runner is None:
                self._runner = await self._start()
            return self._runner

    async def _start(self) -> ChromiumRunner:
        session, options = self._session, self._session.options
        runner = session.profile.chromium(
            headless=options.headless,
            browser=options.browser,
            downloads=options.downloads,
            identities=session.identity,
        )
        # Before the first page. The hosts of a grant never change.
        if session.grant().hosts is not None:
            filters = ({"types": list(_DOCUMENTS)}, ["blocking"])
            session.profile.web_requests.on_before_request.add_listener(self._on_request, filters)
        try:
            await runner.__aenter__()
            await runner.wait_until_synced()
        except EngineAlreadyRunning as error:
            raise ToolFailed(
                f"{error} Ask the user to close it. fetch and signed_in work meanwhile, without a page."
            ) from error
        return runner

    async def _on_request(self, request: RequestSnapshot) -> BlockingResponse | None:
        """Cancel requests for documents of other hosts in the tabs of the agent: the first hop and all redirects.

        A listener that raises would allow the request.
        """
        try:
            if request.type not in _DOCUMENTS or request.place.is_for_person:
                return None
            if not await self._is_own(request.place.tab_id):
                return None
            if may_load(self._session.grant("pages"), request.url):
                return None
        except Exception:  # noqa: BLE001 - unknown is refused
            return _BLOCKED
        with contextlib.suppress(HatboxError):
            self._session.record("navigate", request.url, "refused")
        self._note_refusal(request)
        return _BLOCKED

    def _note_refusal(self, request: RequestSnapshot) -> None:
        if request.type != "main_frame":
            return
        page = None if self._runner is None else self._runner.engine.page_of(request.place.tab_id)
        found = [tab for tab in self._tabs if tab.page is page]
        for tab in found or self._tabs:  # a new page, which is not in the list yet, was opened by one of these
            tab.refused = refusal(self._session.grant(), request.url)

    async def _is_own(self, tab_id: int) -> bool:
        """Whether a tab was opened by this agent, or by a page of it. An unknown tab counts as such."""
        if tab_id in self._tab_ids:
            return True
        seen = [tab_id]
        while len(seen) < _MAX_OPENERS:
            try:
                opener = (await self._session.profile.tabs.get(seen[-1])).opener_id
            except InvalidTab:
                return True
            if opener is None:
                return self._is_unknown_page(tab_id)
            if opener in self._tab_ids:
                self._tab_ids.update(seen)
                return True
            seen.append(opener)
        return True

    def _is_unknown_page(self, tab_id: int) -> bool:
        """Whether the page of a tab without an opener is one of the agent: its tab is being opened."""
        page = None if self._runner is None else self._runner.engine.page_of(tab_id)
        return any(each.page is page for each in self._tabs)

    async def check_and_open(self, url: str) -> tuple[AgentTab, str]:
        """The current tab, created if necessary, and the checked URL to load in it. Raises before anything starts."""
        checked = check_url(self._session.grant("pages"), url)
        return await self.current(create=True), checked


async def _close(page: Page) -> None:
    with contextlib.suppress(PlaywrightError):
        await page.close()
