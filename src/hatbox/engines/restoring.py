"""Closes pages before a restore: a page that stays open would save its old site data over what was restored."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from hatbox.archive.restore_report import RestoreReport
from hatbox.engines.hiding import hide_and_wait
from hatbox.engines.running_engines import engine_for, running_engines
from hatbox.engines.site_data_holders import SiteDataHolders
from hatbox.errors import ProfileError
from hatbox.identities.service import Identities
from hatbox.store.base import Store
from hatbox.store.recorded_calls import unrecorded
from hatbox.tabs.service import Tabs

__all__ = ["closed_pages"]

_PROBLEM: Final = "a running browser would overwrite the restored site data of the default store"


@contextlib.asynccontextmanager
async def closed_pages(store: Store, tabs: Tabs, identities: Identities, planned: RestoreReport) -> AsyncIterator[None]:
    """Hide the identities whose site data will be replaced, and which a running engine displays.

    The restore in the body shows them, unless they are hidden in the archive. If it fails, they are shown again.
    The default store cannot be hidden: raises ProfileError if a running browser displays it and its data differs.
    """
    default = planned.default_store
    if default is not None and default.sites_changed and default.cookie_store_id in await _browsers(store):
        raise ProfileError(store.label, _PROBLEM, "Nothing was restored. Close the browser, or name the identities.")
    found = [
        await identities.get(each.cookie_store_id)
        for each in planned.identities
        if each.sites_changed and not each.created
    ]
    displayed = [each for each in found if not each.hidden and await engine_for(store, each.cookie_store_id)]
    try:
        if displayed:
            with unrecorded():  # nothing is restored yet
                await hide_and_wait(tabs, identities, displayed)
        yield
    except BaseException:
        with unrecorded():
            await asyncio.gather(*map(identities.show, displayed))
        raise


async def _browsers(store: Store) -> SiteDataHolders:
    return SiteDataHolders(await running_engines(store))
