"""Tabs as scripts see them (tabs.Tab). Knows nothing of how tabs change."""

from __future__ import annotations

import time
from typing import Any, Final, NamedTuple

from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.tabs.tab_model import Tab, TabUpdate

__all__ = ["NO_TAB", "PROBLEM", "MutedInfo", "TabView", "change_info", "tab_view", "title_of"]

NO_TAB: Final = -1
PROBLEM: Final = "Problem loading page"  # the title of an error page

_RESTRICTED: Final = frozenset({"url", "title", "favIconUrl"})
_WIDTH, _HEIGHT = 1366, 683  # pixels of a page in a window of the default size; engines do not report it


class MutedInfo(NamedTuple):
    """tabs.MutedInfo: whether a tab is muted, and the extension that last changed it."""

    muted: bool
    reason: str | None
    extension_id: str | None


class _SharingState(NamedTuple):
    camera: bool = False
    microphone: bool = False
    screen: str | None = None


class TabView:
    """A tab as a caller sees it."""

    attention = incognito = audible = False
    width, height = _WIDTH, _HEIGHT
    is_article = None
    sharing_state = _SharingState()
    split_view_id = -1

    def __init__(self, tab: Tab, access: TabAccess) -> None:
        can_see = access.can_see(tab)
        self.id = tab.id
        self.index = tab.index
        self.window_id = tab.window_id
        self.active = tab.active
        self.highlighted = tab.highlighted
        self.discarded = tab.discarded
        self.group_id = tab.group_id
        self.pinned = tab.pinned
        self.status = tab.status
        self.hidden = tab.hidden
        self.last_accessed = int((max(time.time(), tab.last_accessed) if tab.active else tab.last_accessed) * 1000)
        self.auto_discardable = tab.discardable
        self.muted_info = _muted_info(tab)
        self.is_in_reader_mode = False if can_see else None
        self.successor_tab_id = NO_TAB if tab.successor_id is None else tab.successor_id
        self.cookie_store_id = tab.cookie_store_id
        self.opener_tab_id = tab.opener_id
        self.url = tab.url if can_see else None
        self.title = title_of(tab) if can_see else None
        self.fav_icon_url = (tab.icon or None) if can_see else None


def tab_view(tab: Tab, access: TabAccess) -> TabView:
    """The view of a tab for a caller."""
    return TabView(tab, access)


def title_of(tab: Tab) -> str:
    """The displayed title of a tab."""
    return PROBLEM if tab.error and not tab.title else tab.display_title


def change_info(update: TabUpdate, access: TabAccess, properties: frozenset[str] | None) -> dict[str, Any]:
    """The changeInfo of tabs.onUpdated: requested and visible changes."""
    view = TabView(update.tab, access)
    muted = {name: value for name, value in zip(_MUTED_INFO, view.muted_info, strict=True) if value is not None}
    values = {
        "status": ("status", view.status),
        "url": ("url", view.url),
        "title": ("title", view.title),
        "icon": ("favIconUrl", view.fav_icon_url),
        "pinned": ("pinned", view.pinned),
        "hidden": ("hidden", view.hidden),
        "muted": ("mutedInfo", muted),
        "discardable": ("autoDiscardable", view.auto_discardable),
        "discarded": ("discarded", view.discarded),
        "group_id": ("groupId", view.group_id),
        "opener_id": ("openerTabId", NO_TAB if view.opener_tab_id is None else view.opener_tab_id),
    }
    changed = dict(values[attribute] for attribute in update.changed)
    can_see = access.can_see(update.tab)
    return {
        name: value
        for name, value in changed.items()
        if (properties is None or name in properties) and (can_see or name not in _RESTRICTED)
    }


_MUTED_INFO: Final = ("muted", "reason", "extensionId")


def _muted_info(tab: Tab) -> MutedInfo:
    return MutedInfo(tab.muted, "extension" if tab.muted_by else None, tab.muted_by or None)
