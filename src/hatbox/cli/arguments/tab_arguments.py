"""Tabs given by id, and the identities of tabs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

from hatbox.cli.terminal.command_errors import CommandError
from hatbox.errors import InvalidIdentity, InvalidTab
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity
from hatbox.profile import Profile
from hatbox.tabs import Tab

__all__ = ["TabAndIdentity", "existing_tabs", "with_identities"]

TabAndIdentity: TypeAlias = tuple[Tab, ContextualIdentity | None]
"""A tab and its identity; None for the default store, and for a removed identity."""


async def existing_tabs(profile: Profile, tab_ids: Sequence[int], *, missing_ok: bool = False) -> list[Tab]:
    """The tabs with these ids. Raises CommandError with the ids that do not exist, unless `missing_ok`."""
    found = await asyncio.gather(*map(profile.tabs.get, tab_ids), return_exceptions=True)
    missing = [each.tab_id for each in found if isinstance(each, InvalidTab)]
    if missing and not missing_ok:
        which = f"{'tab' if len(missing) == 1 else 'tabs'} not found: {', '.join(map(str, missing))}"
        raise CommandError(InvalidTab.__name__, f"{which}. List tabs with: hatbox tabs", details={"missing": missing})
    for each in found:
        if isinstance(each, BaseException) and not isinstance(each, InvalidTab):
            raise each
    return [each for each in found if isinstance(each, Tab)]


async def with_identities(profile: Profile, tabs: Sequence[Tab]) -> list[TabAndIdentity]:
    """Each tab with its identity."""
    stores = list(dict.fromkeys(tab.cookie_store_id for tab in tabs))
    found = await asyncio.gather(*(_identity(profile, store) for store in stores))
    known = dict(zip(stores, found, strict=True))
    return [(tab, known[tab.cookie_store_id]) for tab in tabs]


async def _identity(profile: Profile, cookie_store_id: str) -> ContextualIdentity | None:
    if cookie_store_id == DEFAULT_COOKIE_STORE_ID:
        return None
    try:
        return await profile.identities.get(cookie_store_id)
    except InvalidIdentity:  # removed
        return None
