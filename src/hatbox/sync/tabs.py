"""The tabs of a synchronous profile."""

from __future__ import annotations

from collections.abc import Sequence

from hatbox.identity.model import IdentityLike
from hatbox.sync.loop_thread import LoopThread, SyncEvent
from hatbox.tabs.service import Tabs
from hatbox.tabs.tab_model import BLANK, Tab, Window

__all__ = ["SyncTabs"]


class SyncTabs:
    """The tabs of a profile. Calls return when their change is durable. An engine, in any process, opens the pages."""

    def __init__(self, tabs: Tabs, loop: LoopThread) -> None:
        self._tabs = tabs
        self._run = loop.run
        self.on_created = SyncEvent(tabs.on_created, loop)
        """Emitted for each new tab. Listeners run in the thread of the profile."""
        self.on_opened_by_page = SyncEvent(tabs.on_opened_by_page, loop)
        """See Tabs.on_opened_by_page."""
        self.on_updated = SyncEvent(tabs.on_updated, loop)
        """Emitted for each observable change of a tab."""
        self.on_activated = SyncEvent(tabs.on_activated, loop)
        """Emitted for each tab that becomes active in its window."""
        self.on_highlighted = SyncEvent(tabs.on_highlighted, loop)
        """Emitted when other tabs of a window are highlighted."""
        self.on_group_created = SyncEvent(tabs.on_group_created, loop)
        """Emitted for each new tab group."""
        self.on_group_updated = SyncEvent(tabs.on_group_updated, loop)
        """Emitted for each change of a tab group."""
        self.on_group_moved = SyncEvent(tabs.on_group_moved, loop)
        """Emitted for each tab group that was moved, with its new window."""
        self.on_group_removed = SyncEvent(tabs.on_group_removed, loop)
        """Emitted for each tab group that lost its last tab."""
        self.on_hidden = SyncEvent(tabs.on_hidden, loop)
        """Emitted when an engine has hidden the page of a tab, with a description of lost typed text."""
        self.on_moved = SyncEvent(tabs.on_moved, loop)
        """Emitted for each tab moved within its window."""
        self.on_attached = SyncEvent(tabs.on_attached, loop)
        """Emitted for each tab moved here from another window."""
        self.on_detached = SyncEvent(tabs.on_detached, loop)
        """Emitted for each tab that leaves for another window."""
        self.on_removed = SyncEvent(tabs.on_removed, loop)
        """Emitted for each closed tab, with its last state."""
        self.on_window_created = SyncEvent(tabs.on_window_created, loop)
        """Emitted for each new window."""
        self.on_window_updated = SyncEvent(tabs.on_window_updated, loop)
        """Emitted for each window whose position, size or state was set."""
        self.on_window_focused = SyncEvent(tabs.on_window_focused, loop)
        """Emitted with the id of the focused window; -1 for none."""
        self.on_window_removed = SyncEvent(tabs.on_window_removed, loop)
        """Emitted with the id of each closed window."""

    def open(
        self, identity: IdentityLike, url: str = BLANK, *, active: bool = True, window_id: int | None = None
    ) -> Tab:
        """Open a tab in an identity: its name, cookieStoreId or object, or `firefox-default`."""
        return self._run(lambda: self._tabs.open(identity, url, active=active, window_id=window_id))

    def get(self, tab_id: int) -> Tab:
        """The tab with this id."""
        return self._run(lambda: self._tabs.get(tab_id))

    def query(self, identity: IdentityLike | None = None) -> list[Tab]:
        """All tabs, or those of an identity, by window, including hidden tabs."""
        return self._run(lambda: self._tabs.query(identity))

    def windows(self) -> list[Window]:
        """All windows in the order of opening."""
        return self._run(self._tabs.windows)

    def navigate(self, tab_id: int, url: str) -> Tab:
        """Navigate a tab to another URL. A running engine loads the page."""
        return self._run(lambda: self._tabs.navigate(tab_id, url))

    def reload(self, tab_id: int) -> Tab:
        """Reload the page of a tab."""
        return self._run(lambda: self._tabs.reload(tab_id))

    def activate(self, tab_id: int) -> None:
        """Activate a tab. Shows a hidden tab and its identity."""
        return self._run(lambda: self._tabs.activate(tab_id))

    def move(self, tab_ids: int | Sequence[int], index: int) -> list[Tab]:
        """Move tabs to a position in their windows; -1 is the end. Returns the moved tabs."""
        return self._run(lambda: self._tabs.move(tab_ids, index))

    def close(self, tab_ids: int | Sequence[int], *, missing_ok: bool = False) -> None:
        """Close tabs. Raises InvalidTab if one does not exist, and closes none, unless `missing_ok`."""
        return self._run(lambda: self._tabs.close(tab_ids, missing_ok=missing_ok))

    def unused_tab(self) -> int | None:
        """The id of the unused blank tab that running extensions have in an empty profile. `query` excludes it."""
        return self._run(self._tabs.unused_tab)
