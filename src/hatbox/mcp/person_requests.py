"""What an agent requests of a person, such as a sign-in: one request at a time, in a window that the agent cannot see.

Knows neither tools nor the SDK. While a request is open, the tools of the agent that use sites are refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from hatbox.errors import EngineError, HatboxError
from hatbox.mcp.tool_output import ToolFailed, ToolRefused

if TYPE_CHECKING:
    from hatbox.engines.chromium.chromium_runner import ChromiumRunner
    from hatbox.engines.person_windows import OpenPersonWindow
    from hatbox.mcp.agent_session import AgentSession

__all__ = ["PersonRequest", "PersonRequests"]

logger = logging.getLogger("hatbox.mcp")

_LIMIT: Final = 900.0  # seconds after which a window without an answer is closed
_POLL: Final = 1.0
_MAX_REQUESTS: Final = 10
_PERIOD: Final = 3600.0  # seconds in which an agent can open that many windows
_BUSY: Final = "a person is answering your request. Call ask_person_wait; this tool works again afterwards."


class PersonRequest:
    """One request. Its outcome is `done`, `refused`, `closed`, `ended`, `expired` or `failed`."""

    def __init__(self, message: str, url: str) -> None:
        self.id = secrets.token_urlsafe(16)
        self.message = message
        self.url = url
        self.no_window = ""
        """Why no window could be opened; empty if one is open."""
        self.had_pages = False
        """Whether pages of the agent were closed for it. They are loaded again afterwards."""
        self.failure = ""
        """The error of the outcome `failed`."""
        self.is_ending = False
        """The request has an outcome, but the person has not closed its empty window yet."""
        loop = asyncio.get_running_loop()
        self.has_visible_pages = False
        """Whether the pages of the agents open in windows afterwards, where they could get the keys of the person."""
        self.answer: asyncio.Future[str] = loop.create_future()
        """The answer that the client of the agent, or the agent itself, has given in place of the window."""
        self.finished: asyncio.Future[str] = loop.create_future()
        """The outcome, when the window is closed and the pages of the agent are open again."""


class PersonRequests:
    """The requests of one agent."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._current: PersonRequest | None = None
        self._last: PersonRequest | None = None
        self._opened: deque[float] = deque(maxlen=_MAX_REQUESTS)

    @property
    def current(self) -> PersonRequest | None:
        """The open request."""
        return self._current

    def check(self) -> None:
        """Raise ToolFailed while a request is open."""
        if self._current is not None:
            raise ToolFailed(_BUSY)

    async def open(self, message: str, url: str) -> PersonRequest:
        """Open a window for a request. Without a display, the person has to use another browser."""
        if self._current is not None:
            raise ToolFailed("a request to the person is open already. Call ask_person_wait.")
        now = time.monotonic()
        if len(self._opened) == _MAX_REQUESTS and now - self._opened[0] < _PERIOD:
            raise ToolRefused(f"you have asked {_MAX_REQUESTS} times within an hour. Tell the user what is missing.")
        self._opened.append(now)
        self._current = self._last = request = PersonRequest(message, url)
        opened = asyncio.Event()
        serving = self._session.browser.person_tasks.spawn(self._serve(request, opened))
        waiting = asyncio.ensure_future(opened.wait())
        try:
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if request.failure and not opened.is_set():
            self._last = None
            raise ToolFailed(request.failure)
        return request

    async def wait(self, seconds: float) -> PersonRequest | None:
        """The last request, if it is finished within this time; else None. Raises ToolFailed without a request."""
        request = self._last
        if request is None:
            raise ToolFailed("no request to a person is open. Open one with ask_person.")
        await asyncio.wait({request.finished}, timeout=seconds)
        if not request.finished.done():
            return None
        if self._last is request:
            self._last = None
        return request

    def answer(self, answer: str) -> None:
        """Answer the open request in place of its window."""
        if self._current is not None and not self._current.answer.done():
            self._current.answer.set_result(answer)

    async def _serve(self, request: PersonRequest, opened: asyncio.Event) -> None:
        outcome = "ended"
        try:
            async with contextlib.AsyncExitStack() as stack:
                window = await self._open_window(request, stack)
                opened.set()
                outcome = await self._outcome(request, window)
                if window is not None and not window.answer.done() and request.has_visible_pages:
                    request.is_ending = True
                    await window.end()
        except (HatboxError, ToolFailed) as error:
            logger.warning("the window for a person failed: %s", error)
            outcome, request.failure = "failed", str(error)
        finally:
            self._current = None
            request.finished.set_result(outcome)

    async def _open_window(self, request: PersonRequest, stack: contextlib.AsyncExitStack) -> OpenPersonWindow | None:
        """Open the window in a browser that replaces that of the agents, or in the one that the person has open."""
        session = self._session
        await stack.enter_async_context(session.browser.suspended())
        request.had_pages = session.pages.are_suspended
        try:
            runner = await stack.enter_async_context(_browser(session))
        except EngineError as error:
            request.no_window = str(error)
            return None
        request.has_visible_pages = not session.options.headless or runner.attached_to is not None
        window = await runner.open_for_person(session.identity, request.url, request.message)
        stack.push_async_callback(window.close)
        return window

    async def _outcome(self, request: PersonRequest, window: OpenPersonWindow | None) -> str:
        other = asyncio.ensure_future(self._other_browser_closed()) if window is None else window.answer
        try:
            answers = {request.answer, other}
            done, _ = await asyncio.wait(answers, timeout=_LIMIT, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if window is None:
                other.cancel()
        return next((each.result() for each in (request.answer, other) if each in done), "expired")

    async def _other_browser_closed(self) -> str:
        """Wait until the person has used the identity in another browser, and has closed it."""
        was_open = False
        while True:
            is_open = await self._session.profile.running_engine(self._session.identity) is not None
            if was_open and not is_open:
                return "closed"
            was_open = is_open
            await asyncio.sleep(_POLL)


def _browser(session: AgentSession) -> ChromiumRunner:
    return session.profile.chromium(
        headless=False, browser=session.options.browser, identities=session.identity.cookie_store_id
    )
