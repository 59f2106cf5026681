"""Watches the connection to Playwright's driver. If the driver ends, Playwright reports nothing and fails all calls."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from playwright.async_api import Playwright

__all__ = ["wait_until_driver_ends"]

logger = logging.getLogger("hatbox.engines.chromium")

_INTERVAL: Final = 2.0


async def wait_until_driver_ends(playwright: Playwright) -> None:
    """Wait until calls of the driver fail, which happens if it is killed. One that is slow or stopped has not ended.

    Playwright raises the error of an event listener from the next call, once. The error of a driver that has ended is
    raised from each call.
    """
    previous: Exception | None = None
    while True:
        await asyncio.sleep(_INTERVAL)
        try:
            request = await playwright.request.new_context()
            await request.dispose()
        except Exception as error:
            if error is previous:
                return
            previous = error
            logger.warning("Playwright's driver has ended, or a listener of its events failed", exc_info=True)
