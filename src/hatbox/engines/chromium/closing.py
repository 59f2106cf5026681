"""Closes pages and contexts, with retries.

Chromium loses a close request that arrives while a navigation commits: it responds with success, and the page stays
open. Playwright's `page.close()` then never returns. So the command is repeated until the target is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Final

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox.engines.chromium.sessions import Session, within

__all__ = ["close_context", "close_page", "end_workers"]

logger = logging.getLogger("hatbox.engines.chromium")

_ATTEMPT_TIMEOUT: Final = 0.5
_ATTEMPTS: Final = 10
_CONTEXT_TIMEOUT: Final = 5.0
_WORKERS: Final = ("shared_worker", "service_worker")


async def close_page(page: Page, target_id: str = "", browser: Session | None = None) -> None:
    """Close a page, which may be closed already. Raises Playwright's TimeoutError if it is open after all attempts.

    Without a target id and a session with the browser, they are requested if the first attempt fails.
    """
    closed, opened = asyncio.Event(), None
    page.on("close", lambda _: closed.set())
    try:
        with contextlib.suppress(PlaywrightTimeout):
            await within(page.close(), "page.close()", _ATTEMPT_TIMEOUT)
        for _ in range(_ATTEMPTS):
            if page.is_closed():
                return
            if browser is None:
                browser, target_id = opened, _ = await _target_of(page)
            logger.debug("target %s is still open; repeating Target.closeTarget", target_id)
            with contextlib.suppress(PlaywrightTimeout):
                await browser.send("Target.closeTarget", {"targetId": target_id}, _ATTEMPT_TIMEOUT)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_ATTEMPT_TIMEOUT):
                    await closed.wait()
    except PlaywrightError as error:
        logger.debug("target %s closed: %s", target_id, error)
        return
    finally:
        if opened is not None:
            await opened.detach()
    if not page.is_closed():
        raise PlaywrightTimeout(f"closing target {target_id} timed out")


async def _target_of(page: Page) -> tuple[Session, str]:
    """A session with the browser, and the target id of a page, which may not respond itself."""
    if (browser := page.context.browser) is None:
        raise PlaywrightError("the browser is closed")
    session = await Session.of_page(page)
    info = await session.send("Target.getTargetInfo")
    return await Session.of_browser(browser), info["targetInfo"]["targetId"]


async def close_context(context: BrowserContext, context_id: str, browser: Session) -> None:
    """Close a context with all its pages. If that fails, the context ends with the browser."""
    try:
        await within(context.close(), "context.close()", _CONTEXT_TIMEOUT)
    except PlaywrightTimeout:
        logger.debug("context %s is still open; sending Target.disposeBrowserContext", context_id)
        try:
            await browser.send("Target.disposeBrowserContext", {"browserContextId": context_id}, _CONTEXT_TIMEOUT)
        except PlaywrightError as error:
            logger.warning("Target.disposeBrowserContext failed: %s", error)
    except PlaywrightError as error:
        logger.debug("context %s closed: %s", context_id, error)


async def end_workers(browser: Session, context_id: str) -> None:
    """End the shared workers and service workers of a context: Playwright takes only pages offline."""
    found = (await browser.send("Target.getTargets"))["targetInfos"]
    for target in found:
        if target["type"] in _WORKERS and target.get("browserContextId") == context_id:
            await browser.send("Target.closeTarget", {"targetId": target["targetId"]})
