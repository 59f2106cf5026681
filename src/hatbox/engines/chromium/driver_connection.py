"""Watches the connection to Playwright's driver. If the driver ends, Playwright reports nothing and fails all calls."""

from __future__ import annotations

import asyncio
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright

from hatbox.engines.chromium.sessions import within

__all__ = ["wait_until_driver_ends"]

_INTERVAL: Final = 2.0
_ANSWER_SECONDS: Final = 30.0


async def wait_until_driver_ends(playwright: Playwright) -> None:
    """Wait until the driver does not answer any more, which happens if it is killed."""
    try:
        while True:
            await asyncio.sleep(_INTERVAL)
            request = await within(playwright.request.new_context(), "APIRequest.newContext", _ANSWER_SECONDS)
            await within(request.dispose(), "APIRequestContext.dispose", _ANSWER_SECONDS)
    except PlaywrightError:
        return
