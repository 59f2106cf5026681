"""Tabs that are replaced while they load.

An extension that assigns sites to identities closes the opened tab, and opens another in the assigned identity. Nothing
in the profile links the two.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hatbox.store.base import Transaction
from hatbox.tabs import Tab
from hatbox.tabs.tab_model import all_tabs, tabs_of

__all__ = ["OpenedTabs"]

_REPLACEMENT_TIMEOUT: Final = 1.0  # seconds for a replacement to appear after a tab was closed


class OpenedTabs:
    """The tabs that `Profile.open_tabs` has opened, or the tabs that replace them."""

    def __init__(self, opened: Sequence[Tab]) -> None:
        self.tabs: list[Tab] = list(opened)
        """All tabs, in the order of the URLs, when they were last read."""
        self.replaced: dict[int, int] = {}
        """The id of each replacement, and the id of the tab that it replaces."""
        self._closed_at: dict[int, float] = {}

    @property
    def closed(self) -> list[Tab]:
        """The tabs that were closed without a replacement."""
        return [tab for tab in self.tabs if tab.id in self._closed_at]

    @property
    def open(self) -> list[Tab]:
        """The tabs that are open."""
        return [tab for tab in self.tabs if tab.id not in self._closed_at]

    @property
    def may_be_replaced(self) -> bool:
        """Whether a tab was closed so recently that its replacement may still appear."""
        return any(_now() - closed_at < _REPLACEMENT_TIMEOUT for closed_at in self._closed_at.values())

    def read(self, transaction: Transaction) -> list[Tab]:
        """What `update` needs: the tabs, or all tabs of the profile if one was closed."""
        ids = {tab.id for tab in self.tabs}
        rows = transaction.tabs.get_many(ids)
        return tabs_of(transaction, rows) if len(rows) == len(ids) else all_tabs(transaction)

    def update(self, found: Sequence[Tab]) -> None:
        """Update the tabs from those that were read."""
        by_id = {tab.id: tab for tab in found}
        self.tabs = [self._latest(by_id, tab) for tab in self.tabs]

    def _latest(self, found: Mapping[int, Tab], tab: Tab) -> Tab:
        if tab.id in found:
            return found[tab.id]
        replacement = self._replacement(found.values(), tab)
        if replacement is None:
            self._closed_at.setdefault(tab.id, _now())
            return tab
        self._closed_at.pop(tab.id, None)
        self.replaced[replacement.id] = tab.id
        return replacement

    def _replacement(self, found: Iterable[Tab], closed: Tab) -> Tab | None:
        known = {tab.id for tab in self.tabs} | set(self.replaced)
        newer = [tab for tab in found if tab.id > closed.id and tab.id not in known]
        url = closed.pending_url or closed.url
        same_page = [tab for tab in newer if url in (tab.pending_url, tab.url)]
        # After a redirect to the assigned site, the replacement has another URL, at the same position.
        same_position = [
            tab for tab in newer if tab.window_id == closed.window_id and 0 <= tab.index - closed.index <= 1
        ]
        return next(iter(same_page + same_position), None)


def _now() -> float:
    return asyncio.get_running_loop().time()
