"""What listeners of the namespace tabs are told, of what happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hatbox.api.caller import Caller
from hatbox.api.namespaces.tabs.tab_access import tab_access
from hatbox.api.namespaces.tabs.tab_query import CURRENT_WINDOW, matches_any
from hatbox.api.namespaces.tabs.tab_views import TabView, change_info
from hatbox.tabs.tab_model import Activation, Move, Tab, TabPosition, TabRemoval, Update
from hatbox.urls.match_patterns import parse_url_pattern

__all__ = ["activated", "attached", "created", "detached", "highlighted", "moved", "removed", "updated"]


class _RemoveInfo(NamedTuple):
    window_id: int
    is_window_closing: bool


class _HighlightInfo(NamedTuple):
    tab_ids: list[int]
    window_id: int


class _DetachInfo(NamedTuple):
    old_window_id: int
    old_position: int


class _AttachInfo(NamedTuple):
    new_window_id: int
    new_position: int


def created(caller: Caller, tab: Tab) -> tuple[TabView]:
    """(tab)"""
    return (TabView(tab, tab_access(caller)),)


def updated(caller: Caller, update: Update, wishes: Mapping[str, Any] | None) -> Sequence[Any] | None:
    """(tabId, changeInfo, tab), if the listener wants to hear of the tab and of what has changed."""
    asker = tab_access(caller)
    if wishes is not None and not _is_wanted(update, wishes):
        return None
    if wishes is not None and wishes["urls"] is not None:
        patterns = [parse_url_pattern(text) for text in wishes["urls"]]
        good = [pattern for pattern in patterns if pattern is not None]
        # One that is none spoils them all, as in Firefox, which only logs that the listener will never be called.
        if len(good) < len(patterns) or not asker.can_see(update.tab) or not matches_any(good, update.tab.url):
            return None
    wanted = wishes["properties"] if wishes is not None else None
    info = change_info(update, asker, None if wanted is None else frozenset(wanted))
    return (update.tab.id, info, TabView(update.tab, asker)) if info else None


def _is_wanted(update: Update, wishes: Mapping[str, Any]) -> bool:
    tab, window_id = update.tab, wishes["windowId"]
    return (
        wishes["tabId"] in (None, tab.id)
        and (window_id in (None, tab.window_id) or (window_id == CURRENT_WINDOW and update.focused))
        and wishes["cookieStoreId"] in (None, tab.cookie_store_id)
    )


def moved(_: Caller, move: Move) -> tuple[int, Move]:
    """(tabId, moveInfo)"""
    return move.tab_id, move


def activated(_: Caller, activation: Activation) -> tuple[Activation]:
    """(activeInfo)"""
    return (activation,)


def highlighted(_: Caller, activation: Activation) -> tuple[_HighlightInfo]:
    """(highlightInfo)"""
    return (_HighlightInfo([activation.tab_id], activation.window_id),)


def detached(_: Caller, placement: TabPosition) -> tuple[int, _DetachInfo]:
    """(tabId, detachInfo)"""
    return placement.tab_id, _DetachInfo(placement.window_id, placement.index)


def attached(_: Caller, placement: TabPosition) -> tuple[int, _AttachInfo]:
    """(tabId, attachInfo)"""
    return placement.tab_id, _AttachInfo(placement.window_id, placement.index)


def removed(_: Caller, removal: TabRemoval) -> tuple[int, _RemoveInfo]:
    """(tabId, removeInfo)"""
    return removal.tab.id, _RemoveInfo(removal.tab.window_id, removal.window_closing)
