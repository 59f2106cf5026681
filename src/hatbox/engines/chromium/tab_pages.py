"""The open pages, by tab id."""

from __future__ import annotations

from collections.abc import Callable

from hatbox.engines.base import EngineDelegate
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.tab_reporter import TabReporter
from hatbox.tabs.tab_model import Tab

__all__ = ["TabPages"]


class TabPages(dict[int, LivePage]):
    """The page of each tab that has one. Hidden tabs are not in it, also where their pages stay open."""

    def __init__(self, delegate: EngineDelegate) -> None:
        super().__init__()
        self._delegate = delegate
        self.on_assigned: Callable[[LivePage, int], None] = lambda _, __: None
        """Called with each page that becomes the page of a tab, and the id of the tab."""

    def assign(self, page: LivePage, tab: Tab) -> None:
        """Make a page the page of a tab: its changes are reported from now on."""
        page.assign(TabReporter(self._delegate, tab.id, tab.navigation_id))
        self[tab.id] = page
        self.on_assigned(page, tab.id)
