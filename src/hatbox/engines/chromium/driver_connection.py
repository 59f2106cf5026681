"""Watches the connection to Playwright's driver. If the driver ends, Playwright reports nothing and fails all calls."""

from __future__ import annotations

import asyncio
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright

__all__ = ["wait_until_driver_ends"]

_INTERVAL: Final = 2.0


async def wait_until_driver_ends(playwright: Playwright) -> None:
    """Wait until calls of the driver fail, which happens if it is killed. One that is slow or stopped has not ended."""
    try:
        while True:
            await asyncio.sleep(_INTERVAL)
            request = await playwright.request.new_context()
            await request.dispose()
    except PlaywrightError:
        return
