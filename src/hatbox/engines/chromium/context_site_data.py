"""Restores, saves and clears the site data of a browser context in blank documents of its pages."""

from __future__ import annotations

import contextlib
from typing import Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.site_data_sync import SiteDataSync
from hatbox.tabs.site_data import CACHE, DATABASES, LOCAL_STORAGE, SERVICE_WORKERS, SiteDataRemoval

__all__ = ["clear_in_browser", "restore_all", "save_unsaved"]

_CDP_STORAGE_TYPES: Final = {
    LOCAL_STORAGE: "local_storage",
    DATABASES: "indexeddb",
    SERVICE_WORKERS: "service_workers,cache_storage",
}


async def restore_all(page: LivePage, site_data: SiteDataSync, saved: list[tuple[str, str]]) -> None:
    """Write the saved data of each origin in a blank document of that origin."""
    async with page.blank.blank_responses():
        for origin, data in saved:
            try:
                await page.blank.navigate_to_blank(f"{origin}/")
            except (PlaywrightError, TimeoutError) as error:
                site_data.restore_failed(origin, error)
                continue
            await site_data.restore(page.world, origin, data)
        await page.blank.reset_history()


async def save_unsaved(page: LivePage, site_data: SiteDataSync) -> None:
    """Save data that was changed just before the last page of its origin was closed."""
    async with page.blank.blank_responses():
        for origin in site_data.unsaved:
            with contextlib.suppress(TimeoutError):
                await page.blank.navigate_to_blank(f"{origin}/")
                await site_data.save(page.world, origin)


async def clear_in_browser(page: LivePage, removal: SiteDataRemoval) -> None:
    """Clear site data in the browser context of a page."""
    storage_types = [_CDP_STORAGE_TYPES[each] for each in removal.storage_types if each in _CDP_STORAGE_TYPES]
    if storage_types:
        for origin in removal.origins:
            await page.storage.clear(origin, storage_types)
    if CACHE in removal.storage_types:
        await page.storage.clear_cache()
