"""Arguments of the listeners of the namespace tabs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hatbox.api.caller import Caller
from hatbox.api.namespaces.tabs.tab_access import tab_access
from hatbox.api.namespaces.tabs.tab_query import CURRENT_WINDOW, matches_any
from hatbox.api.namespaces.tabs.tab_views import TabView, change_info
from hatbox.tabs.tab_model import Tab, TabActivation, TabHighlight, TabMove, TabPosition, TabRemoval, TabUpdate
from hatbox.urls.match_patterns import parse_url_pattern

__all__ = ["activated", "attached", "created", "detached", "highlighted", "moved", "removed", "replaced", "updated"]


class _RemoveInfo(NamedTuple):
    window_id: int
    is_window_closing: bool


class _DetachInfo(NamedTuple):
    old_window_id: int
    old_position: int


class _AttachInfo(NamedTuple):
    new_window_id: int
    new_position: int


def created(caller: Caller, tab: Tab) -> tuple[TabView]:
    """(tab)"""
    return (TabView(tab, tab_access(caller)),)


def updated(caller: Caller, update: TabUpdate, filter_: Mapping[str, Any] | None) -> Sequence[Any] | None:
    """(tabId, changeInfo, tab), if the filter of the listener matches."""
    access = tab_access(caller)
    if filter_ is not None and not _matches(update, filter_):
        return None
    if filter_ is not None and filter_["urls"] is not None:
        patterns = [parse_url_pattern(text) for text in filter_["urls"]]
        valid = [pattern for pattern in patterns if pattern is not None]
        # As in Firefox, a listener with an invalid pattern is never called.
        if len(valid) < len(patterns) or not access.can_see(update.tab) or not matches_any(valid, update.tab.url):
            return None
    properties = filter_["properties"] if filter_ is not None else None
    info = change_info(update, access, None if properties is None else frozenset(properties))
    return (update.tab.id, info, TabView(update.tab, access)) if info else None


def _matches(update: TabUpdate, filter_: Mapping[str, Any]) -> bool:
    tab, window_id = update.tab, filter_["windowId"]
    return (
        filter_["tabId"] in (None, tab.id)
        and (window_id in (None, tab.window_id) or (window_id == CURRENT_WINDOW and update.focused))
        and filter_["cookieStoreId"] in (None, tab.cookie_store_id)
    )


def moved(_: Caller, move: TabMove) -> tuple[int, TabMove]:
    """(tabId, moveInfo)"""
    return move.tab_id, move


def activated(_: Caller, activation: TabActivation) -> tuple[TabActivation]:
    """(activeInfo)"""
    return (activation,)


def highlighted(_: Caller, highlight: TabHighlight) -> tuple[TabHighlight]:
    """(highlightInfo)"""
    return (highlight,)


def replaced(_: Caller, __: Any) -> None:
    """(addedTabId, removedTabId): never, because no tab replaces another."""


def detached(_: Caller, position: TabPosition) -> tuple[int, _DetachInfo]:
    """(tabId, detachInfo)"""
    return position.tab_id, _DetachInfo(position.window_id, position.index)


def attached(_: Caller, position: TabPosition) -> tuple[int, _AttachInfo]:
    """(tabId, attachInfo)"""
    return position.tab_id, _AttachInfo(position.window_id, position.index)


def removed(_: Caller, removal: TabRemoval) -> tuple[int, _RemoveInfo]:
    """(tabId, removeInfo)"""
    return removal.tab.id, _RemoveInfo(removal.tab.window_id, removal.window_closing)
