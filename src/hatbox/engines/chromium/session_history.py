"""Moves a page of Chromium through its session history: back and forward."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from playwright.async_api import Page

from hatbox.engines.chromium.context_registry import map_browser_errors
from hatbox.engines.chromium.sessions import Session
from hatbox.errors import EngineError

__all__ = ["move_in_history"]

_TIMEOUT: Final = 20.0  # seconds


async def move_in_history(page: Page, steps: int) -> None:
    """Request the page that is so many steps ahead. Without such a page nothing happens. Raises EngineError."""
    try:
        async with asyncio.timeout(_TIMEOUT):
            with map_browser_errors():
                session = await Session.of_page(page)
                try:
                    history: dict[str, Any] = await session.send("Page.getNavigationHistory")
                    wanted = history["currentIndex"] + steps
                    if 0 <= wanted < len(history["entries"]):
                        entry = history["entries"][wanted]["id"]
                        await session.send("Page.navigateToHistoryEntry", {"entryId": entry})
                finally:
                    await session.detach()
    except TimeoutError as error:
        raise EngineError(f"the browser did not answer within {_TIMEOUT:g} seconds") from error
