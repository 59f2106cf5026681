"""The browser of the agents of one server: started when the first of them needs a page, stopped after the last one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final

from playwright.async_api import Download, Page

from hatbox.engines.chromium.driver_connection import PreparedDriver
from hatbox.errors import EngineAlreadyRunning, HatboxError
from hatbox.mcp.document_limit import DocumentLimit
from hatbox.mcp.tool_output import ToolFailed, ToolRefused
from hatbox.shell_words import shell_word
from hatbox.tasks import Tasks

if TYPE_CHECKING:
    from hatbox.engines.chromium.chromium_runner import ChromiumRunner
    from hatbox.mcp.agent_pages import AgentPages
    from hatbox.mcp.agent_session import AgentSession

__all__ = ["MAX_TABS_OF_ALL", "AgentBrowser"]

MAX_TABS_OF_ALL: Final = 60
"""Open tabs of all agents of a server."""
_PREPARED_SECONDS: Final = 300.0
_NEEDS_OWN: Final = (
    " An agent with limited hosts needs a browser of its own. Several of them on one identity work with hatbox mcp "
    "--http."
)
_IS_SHARED: Final = (
    "other programs, such as another agent, use the browser of this identity, which has to be closed while a person "
    "uses it. Ask the user to end them. Several agents on one identity can ask a person if they use one server, hatbox "
    "mcp --http, or if the user has a browser of the identity open before they start: hatbox open {name}"
)
_ENDED: Final = "the access of this agent has ended."
_SUSPENDED: Final = "a person uses this identity now, at the request of an agent. Try again later."


class AgentBrowser:
    """A browser that shows the pages of several agents, which use the same identity and the same grant."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._users: list[AgentPages] = []
        self._running: asyncio.Task[ChromiumRunner] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._prepared: PreparedDriver | None = None
        self._is_closed = False
        self._is_suspended = False
        self._tasks = Tasks(lambda _: None)  # the agent that waits for a task gets its error
        self.person_tasks = Tasks()
        """The open request to a person. The agent that has made it may end earlier."""
        self.limit = DocumentLimit(session.profile, session.grant, self._users)
        """The limit of documents to the hosts of the grant."""

    def prepare(self) -> None:
        """Start Playwright's driver, which the first page needs. It is stopped if no page is opened within a time."""
        if self._prepared is None and self._running is None and not self._is_closed:
            self._prepared = PreparedDriver(_PREPARED_SECONDS)

    async def new_page(self, user: AgentPages) -> tuple[Page, int | None]:
        """Open an empty page for an agent; starts the browser if necessary.

        Returns it with the id of its tab; None in the browser of another program, where nothing depends on it.
        """
        if sum(len(each.tabs) for each in self._users) >= MAX_TABS_OF_ALL:
            raise ToolRefused(f"{MAX_TABS_OF_ALL} tabs of all agents are open. Close one first, with browser_tabs.")
        runner = await self._started(user)
        self.limit.check()
        page = await runner.new_page(self._session.identity)
        tab_id = next((each for each in self.tabs if self.page_of(each) is page), None)
        if tab_id is None and runner.attached_to is None:
            raise ToolFailed("the tab was closed. Try again.")
        await self.limit.add_page(page, user)
        return page, tab_id

    def save_if(self, download: Download, is_allowed: asyncio.Task[bool]) -> None:
        """Save a download only if a task returns true. The browser of another program saves it itself."""
        runner = self._runner
        if runner is not None and runner.attached_to is None:
            runner.engine.download_checks[download] = is_allowed

    async def release(self, user: AgentPages) -> None:
        """An agent has no more pages. The browser is stopped after the last one."""
        if user in self._users:
            self._users.remove(user)
        if not self._users:
            await self._stop()

    async def close(self) -> None:
        """Stop the browser for good."""
        self._is_closed = True
        self.person_tasks.cancel()
        await self.person_tasks.wait()
        if self._prepared is not None:
            await self._prepared.close()
        await self._stop()

    def check_person(self) -> None:
        """Raise ToolFailed while a person uses the identity at the request of an agent."""
        if self._is_suspended:
            raise ToolFailed(_SUSPENDED)

    @contextlib.asynccontextmanager
    async def suspended(self) -> AsyncIterator[None]:
        """Close the pages of all agents, and stop the browser: a person uses the identity in another one.

        No page of an agent is open meanwhile, because it could get the keys that the person presses. Afterwards they
        are loaded again. Raises ToolFailed if other programs use the browser.
        """
        self.check_person()
        for each in self._users:
            each.check_restored()  # what is not open yet could not be remembered
        runner = self._runner
        if runner is not None and (runner.has_clients or (runner.attached_to is not None and not runner.has_windows)):
            raise ToolFailed(_IS_SHARED.format(name=shell_word(self._session.identity.name)))
        self._is_suspended = True
        try:
            for each in self._users:
                each.remember()
            await self._stop_running()
            yield
        finally:
            self._is_suspended = False
            await asyncio.gather(*(each.restore() for each in self._users))

    def page_of(self, tab_id: int) -> Page | None:
        """The page of a tab, in a browser of this process."""
        runner = self._runner
        return None if runner is None or runner.attached_to is not None else runner.engine.page_of(tab_id)

    @property
    def tabs(self) -> set[int]:
        """The ids of all tabs that have a page, also of users, in a browser of this process."""
        runner = self._runner
        return set() if runner is None or runner.attached_to is not None else runner.engine.tabs

    @property
    def connection(self) -> object:
        """The connection to the running browser; another one after the browser or the connection was lost."""
        runner = self._runner
        return runner if runner is None or runner.attached_to is not None else runner.engine.running

    @property
    def _runner(self) -> ChromiumRunner | None:
        running = self._running
        is_up = running is not None and running.done() and not running.cancelled() and running.exception() is None
        return running.result() if running is not None and is_up else None

    async def _started(self, user: AgentPages) -> ChromiumRunner:
        if user not in self._users:
            self._users.append(user)
        while self._stopping is not None:
            await asyncio.shield(self._stopping)
        if self._is_closed or user not in self._users:  # it has left meanwhile, and would not release the browser
            raise ToolRefused(_ENDED)
        self.check_person()
        if self._running is None:
            # A task of its own: a client that goes away while the browser starts would leave it without an owner.
            self._running = self._tasks.spawn(self._start())
        running = self._running
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            if running.cancelled():
                self.check_person()
                raise ToolRefused(_ENDED) from None
            raise
        except Exception:
            if self._running is running:
                self._running = None
            raise

    async def _start(self) -> ChromiumRunner:
        session, options = self._session, self._session.options
        runner = session.profile.chromium(
            headless=options.headless,
            browser=options.browser,
            downloads=options.downloads,
            identities=session.identity,
        )
        self.limit.start(runner)  # before the first page
        try:
            await runner.__aenter__()
            await runner.wait_until_synced()
            await self.limit.on_started(runner)
        except BaseException as error:
            self.limit.stop()
            await runner.stop()
            if isinstance(error, EngineAlreadyRunning):
                why = _NEEDS_OWN if session.grant().is_limited else ""
                raise ToolFailed(
                    f"{error}{why} Ask the user to close it. fetch and signed_in work meanwhile, without a page."
                ) from error
            raise
        self._tasks.spawn(self._watch(runner))
        return runner

    async def _watch(self, runner: ChromiumRunner) -> None:
        """The browser of another program may end before its agents: the next page needs another one."""
        with contextlib.suppress(HatboxError):
            await runner.wait_until_stopped()
        if self._runner is runner and self._stopping is None:
            self._running = None
            self.limit.stop()
            await runner.stop()

    async def _stop(self) -> None:
        if self._users and not self._is_closed:  # another agent has come meanwhile
            return
        await self._stop_running()

    async def _stop_running(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            self._stopping = self._tasks.spawn(self._end(running))
        if self._stopping is not None:
            await asyncio.shield(self._stopping)

    async def _end(self, running: asyncio.Task[ChromiumRunner]) -> None:
        try:
            running.cancel()  # a start that is not complete stops what it has started
            await asyncio.wait([running])
            if not running.cancelled() and running.exception() is None:
                await running.result().stop()
        finally:
            self.limit.stop()
            self._stopping = None
