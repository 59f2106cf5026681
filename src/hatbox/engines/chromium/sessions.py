"""Timeouts for all calls to the browser. A lost response is an error, never a hang.

Chromium can accept a command and never complete it, for example `Target.closeTarget` while a navigation commits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from playwright.async_api import CDPSession
from playwright.async_api import TimeoutError as PlaywrightTimeout

__all__ = ["COMMAND_TIMEOUT", "Session", "within"]

T = TypeVar("T")

COMMAND_TIMEOUT: Final = 30.0
"""The timeout of one command. A busy machine takes seconds to open a page."""


async def within(call: Awaitable[T], what: str, seconds: float | None = None) -> T:
    """The result of a call to the browser. Raises Playwright's TimeoutError, which is a Playwright Error."""
    limit = COMMAND_TIMEOUT if seconds is None else seconds
    try:
        async with asyncio.timeout(limit) as scope:
            return await call
    except TimeoutError as error:
        if not scope.expired():
            raise
        raise PlaywrightTimeout(f"{what} timed out after {limit:g} s") from error


class Session:
    """A CDP session. Every command has a timeout."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    def on(self, event: str, listener: Callable[[dict[str, Any]], None]) -> None:
        """Call the listener for each event of this name."""
        self._session.on(event, listener)

    async def send(self, method: str, params: dict[str, Any] | None = None, seconds: float | None = None) -> Any:
        """Send a command; returns its result. Raises a Playwright Error if it fails or times out."""
        return await within(self._session.send(method, params), method, seconds)

    async def navigate(self, url: str) -> Any:
        """Send Page.navigate, without a timeout: its result comes with the server's response. Await it only in a task
        that is cancelled when the page is closed or starts another load."""
        return await self._session.send("Page.navigate", {"url": url})
