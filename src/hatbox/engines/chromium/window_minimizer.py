"""Minimizes and restores browser windows with CDP (Browser.setWindowBounds).

Whether a window can be minimized is known only after trying: without a window manager nothing happens, and Chromium
still reports the previous state. Knows neither tabs nor identities.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.sessions import Session

__all__ = ["WindowMinimizer"]

_MINIMIZE_TIMEOUT: Final = 1.0
_POLL_SECONDS: Final = 0.01
_MINIMIZED, _NORMAL = "minimized", "normal"


class WindowMinimizer:
    """Minimizes and restores the windows of one browser, with the session of the browser."""

    def __init__(self, session: Session, *, headless: bool) -> None:
        self._session = session
        self._can_minimize = not headless

    async def minimize(self, target_id: str, visible: Iterable[str]) -> bool:
        """Minimize the window of a target; False if that fails, or if a visible target is in the same window."""
        if not self._can_minimize:
            return False
        try:
            window = await self._window_of(target_id)
            if window in [await self._window_of(each) for each in visible]:
                return False
            async with asyncio.timeout(_MINIMIZE_TIMEOUT):
                await self._set(window, _MINIMIZED)
                while await self._state_of(window) != _MINIMIZED:  # noqa: ASYNC110 - CDP has no such event
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError:
            self._can_minimize = False  # each attempt costs the user a second
            return False
        except PlaywrightError:
            return False
        return True

    async def restore(self, target_id: str) -> None:
        """Show the window of a target as it was before it was minimized."""
        with contextlib.suppress(PlaywrightError):
            window = await self._window_of(target_id)
            if await self._state_of(window) == _MINIMIZED:
                await self._set(window, _NORMAL)

    async def is_minimized(self, target_id: str) -> bool:
        """Whether the window of a target is minimized; the user may have restored it."""
        with contextlib.suppress(PlaywrightError):
            return await self._state_of(await self._window_of(target_id)) == _MINIMIZED
        return False

    async def _window_of(self, target_id: str) -> int:
        return int((await self._session.send("Browser.getWindowForTarget", {"targetId": target_id}))["windowId"])

    async def _state_of(self, window: int) -> str:
        result = await self._session.send("Browser.getWindowBounds", {"windowId": window})
        return str(result["bounds"].get("windowState", _NORMAL))

    async def _set(self, window: int, state: str) -> None:
        params = {"windowId": window, "bounds": {"windowState": state}}
        await self._session.send("Browser.setWindowBounds", params)
