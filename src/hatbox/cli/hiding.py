"""Hides identities while an engine runs: waits until the pages are hidden, and reports typed text that is lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from hatbox.engines.lease import running_engine
from hatbox.identities.model import ContextualIdentity
from hatbox.profile import Profile
from hatbox.tabs.tab_model import Hidden

__all__ = ["hide_and_wait"]

_WAIT: Final = 25.0  # seconds; a page that does not answer is closed after 5 to 20, and then its loss is known


async def hide_and_wait(
    profile: Profile, identities: Sequence[ContextualIdentity], hide: Callable[[ContextualIdentity], Awaitable[None]]
) -> list[str]:
    """Hide identities; returns a line for each tab whose typed text is lost. Without an engine there are no pages."""
    if await running_engine(profile.store) is None:
        await asyncio.gather(*map(hide, identities))
        return []
    stores = {each.cookie_store_id for each in identities}
    open_tabs = {
        tab.id: tab
        for tab in await profile.tabs.query()
        if tab.cookie_store_id in stores
        and not tab.hidden
        and (tab.started or not tab.loading)  # other tabs have no page
    }
    reports: dict[int, tuple[str, ...]] = {}
    all_hidden = asyncio.Event()

    def on_hidden(hidden: Hidden) -> None:
        if hidden.tab_id in open_tabs:
            reports[hidden.tab_id] = hidden.not_saved
        if len(reports) == len(open_tabs):
            all_hidden.set()

    profile.tabs.on_hidden.add_listener(on_hidden)
    try:
        await asyncio.gather(*map(hide, identities))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_WAIT if open_tabs else 0):
                await all_hidden.wait()
    finally:
        profile.tabs.on_hidden.remove_listener(on_hidden)
    lines = [
        f"Tab {tab_id} ({open_tabs[tab_id].display_title}): typed text is not saved: {', '.join(lost)}."
        for tab_id, lost in sorted(reports.items())
        if lost
    ]
    if late := sorted(open_tabs.keys() - reports.keys()):
        lines.append(f"The browser has not confirmed yet that it has hidden: tab {', tab '.join(map(str, late))}.")
    return lines
