"""Hides identities and waits until the running engine has hidden their pages. Reports typed text that was not saved."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from hatbox.identities.service import Identities
from hatbox.identity.model import ContextualIdentity
from hatbox.tabs.service import Tabs
from hatbox.tabs.tab_model import PageHidden, Tab

__all__ = ["HideReport", "UnsavedInput", "hide_and_wait"]

_HIDE_TIMEOUT: Final = 25.0  # seconds; the engine closes a page that does not respond after 5 to 20


class UnsavedInput(NamedTuple):
    """Typed text that was not saved when a tab was hidden. `fields` describes it, without the text."""

    tab: Tab
    fields: tuple[str, ...]


class HideReport(NamedTuple):
    """What became of the pages of hidden identities."""

    unsaved: list[UnsavedInput]
    unconfirmed: list[int]
    """The ids of tabs whose pages the engine has not reported as hidden."""


async def hide_and_wait(tabs: Tabs, service: Identities, identities: Sequence[ContextualIdentity]) -> HideReport:
    """Hide identities, and wait until the engine has reported all of their pages as hidden."""
    stores = {each.cookie_store_id for each in identities}
    open_tabs = {
        tab.id: tab
        for tab in await tabs.query()
        if tab.cookie_store_id in stores
        and not tab.hidden
        and not tab.discarded
        and (tab.started or not tab.loading)  # other tabs have no page
    }
    reports: dict[int, tuple[str, ...]] = {}
    all_hidden = asyncio.Event()

    def on_hidden(hidden: PageHidden) -> None:
        if hidden.tab_id in open_tabs:
            reports[hidden.tab_id] = hidden.not_saved
        if len(reports) == len(open_tabs):
            all_hidden.set()

    tabs.on_hidden.add_listener(on_hidden)
    try:
        await asyncio.gather(*map(service.hide, identities))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_HIDE_TIMEOUT if open_tabs else 0):
                await all_hidden.wait()
    finally:
        tabs.on_hidden.remove_listener(on_hidden)
    unsaved = [UnsavedInput(open_tabs[tab_id], fields) for tab_id, fields in sorted(reports.items()) if fields]
    return HideReport(unsaved, sorted(open_tabs.keys() - reports.keys()))
