"""Timeouts for all calls to the browser and to Playwright's driver. A lost response is an error, never a hang.

Chromium can accept a command and never complete it, for example `Target.closeTarget` while a navigation commits.
Playwright's own timeouts run in its driver, which can stop, too. `tests/bare_calls.py` rejects calls past this module.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Final, Self, TypeVar

from playwright.async_api import Browser, CDPSession, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

__all__ = ["COMMAND_TIMEOUT", "ScriptSession", "Session", "within", "without_limit"]

T = TypeVar("T")

COMMAND_TIMEOUT: Final = 30.0
"""The timeout of one command. A busy machine takes seconds to open a page."""

_DETACH_TIMEOUT: Final = 5.0


async def within(call: Awaitable[T], what: str = "", seconds: float | None = None) -> T:
    """The result of a call to the browser. Raises Playwright's TimeoutError, which is a Playwright Error.

    Its message names `what`, by default the method, such as `Page.close`.
    """
    limit = COMMAND_TIMEOUT if seconds is None else seconds
    try:
        async with asyncio.timeout(limit) as scope:
            return await call
    except TimeoutError as error:
        if not scope.expired():
            raise
        raise PlaywrightTimeout(f"{what or _name(call)} timed out after {limit:g} s") from error


async def without_limit(call: Awaitable[T]) -> T:
    """The result of a call that ends with a download, a load or a client's command: none of them has a limit.

    Await it only in a task that is cancelled when the page, the client or the browser ends.
    """
    return await call


class Session:
    """A CDP session. Every command has a timeout."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    @classmethod
    async def of_page(cls, page: Page) -> Self:
        """Open a session with a page. Raises a Playwright Error."""
        return cls(await within(page.context.new_cdp_session(page), "Target.attachToTarget"))

    @classmethod
    async def of_browser(cls, browser: Browser) -> Self:
        """Open a session with the browser. Raises a Playwright Error."""
        return cls(await within(browser.new_browser_cdp_session(), "Target.attachToBrowserTarget"))

    def on(self, event: str, listener: Callable[[dict[str, Any]], None]) -> None:
        """Call the listener for each event of this name."""
        self._session.on(event, listener)

    async def send(self, method: str, params: dict[str, Any] | None = None, seconds: float | None = None) -> Any:
        """Send a command; returns its result. Raises a Playwright Error if it fails or times out."""
        return await within(self._session.send(method, params), method, seconds)

    async def navigate(self, url: str) -> Any:
        """Send Page.navigate: its result comes with the server's response. See `send_without_limit`."""
        return await self.send_without_limit("Page.navigate", {"url": url})

    async def send_without_limit(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Send a command whose result comes when a server or a page responds. See `without_limit`."""
        return await without_limit(self._session.send(method, params))

    async def detach(self) -> None:
        """End the session, which may have ended already."""
        with contextlib.suppress(PlaywrightError):
            await within(self._session.detach(), "Target.detachFromTarget", _DETACH_TIMEOUT)


class ScriptSession(Session):
    """A session whose commands run scripts of a page: without `seconds`, they end with the script or with the page."""

    async def send(self, method: str, params: dict[str, Any] | None = None, seconds: float | None = None) -> Any:
        """See Session."""
        if seconds is None:
            return await self.send_without_limit(method, params)
        return await super().send(method, params, seconds)


def _name(call: Awaitable[Any]) -> str:
    return getattr(call, "__qualname__", "") or "the browser's response"
