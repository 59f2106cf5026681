"""Saves a page before it is closed: its snapshot, its typed text and its site data."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.base import EngineDelegate
from hatbox.engines.chromium.identity_context import IdentityContext
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.typed_input import FROZEN, NOT_WEB, TypedInput, describe_lost

__all__ = ["lost_input", "read_snapshot", "save_site_data", "save_snapshot"]

logger = logging.getLogger("hatbox.engines.chromium")

_SNAPSHOT_TIMEOUT: Final = 5.0
_SITE_DATA_TIMEOUT: Final = 15.0


async def read_snapshot(page: LivePage) -> tuple[TypedInput, bytes | None]:
    """The typed text and the snapshot of a page. Raises TimeoutError or Playwright's Error."""
    async with asyncio.timeout(_SNAPSHOT_TIMEOUT):
        typed = await page.typed_input.read()
        return typed, await page.snapshots.snapshot(typed.forms)


async def lost_input(page: LivePage) -> tuple[str, ...]:
    """Descriptions of the typed text that is lost if the page is closed."""
    _, lost = await _try_read(page)
    return (*describe_lost(lost),)


async def save_snapshot(delegate: EngineDelegate, tab_id: int, page: LivePage) -> None:
    """Save the last snapshot of a page, and report typed text that is lost."""
    snapshot, lost_fields = await _try_read(page)
    if snapshot is not None:
        page.snapshots.cancel()
        await delegate.save_snapshot(tab_id, snapshot)
    if lost_fields:
        lost = describe_lost(lost_fields)
        logger.warning("tab %d: typed text is not saved: %s", tab_id, ", ".join(lost))
        await delegate.not_saved(tab_id, lost)


async def _try_read(page: LivePage) -> tuple[bytes | None, dict[str, int]]:
    """The snapshot of a page, if it has one, and how many fields of each kind it does not contain."""
    try:
        typed, snapshot = await read_snapshot(page)
    except (PlaywrightError, TimeoutError) as error:
        logger.debug("tab %s: snapshot failed: %s", page.tab_id, error)
        return None, {FROZEN: 1} if page.typed_input.is_possible else {}
    if snapshot is None and typed.forms:
        return None, {**typed.lost, NOT_WEB: sum(len(form.fields) for form in typed.forms)}
    return snapshot, typed.lost


async def save_site_data(context: IdentityContext, page: LivePage) -> None:
    """Save the site data of a page. After a timeout, the context reads it from a blank page when it closes."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SITE_DATA_TIMEOUT):
            await context.save(page)
