"""What the functions of the namespace tabs do, each as a function of a transaction. The words are Firefox's.

`details` are in the normal form of the schema; who asks goes before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.api.namespaces.tabs.tab_arguments import resolve_cookie_store, resolve_tab_url
from hatbox.api.namespaces.tabs.tab_query import CURRENT_WINDOW, parse_query
from hatbox.api.namespaces.tabs.tab_views import NO_TAB, TabView, tab_view
from hatbox.errors import ApiError
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.moving import move_tabs, pin_without_event
from hatbox.tabs.opening import duplicate, open_tab
from hatbox.tabs.pages import navigate, reload
from hatbox.tabs.strip import change, close_rows, record_update, row_of
from hatbox.tabs.tab_model import Tab, is_blank, tab_of
from hatbox.tabs.visibility import hide_tabs, show_and_activate, show_tabs
from hatbox.tabs.windows import get_windows, last_focused, window_for_new_tab

__all__ = [
    "Details",
    "create",
    "duplicate_",
    "get",
    "hide_tabs",
    "move",
    "query",
    "reload_",
    "remove",
    "show_tabs",
    "update",
    "window_id_of",
]

Details: TypeAlias = Mapping[str, Any]


def get(transaction: Transaction, asker: TabAccess, tab_id: int) -> TabView:
    """The tab with this id."""
    return tab_view(tab_of(row_of(transaction, tab_id)), asker)


def query(transaction: Transaction, asker: TabAccess, details: Details) -> list[TabView]:
    """The tabs that have all that is asked for, window by window."""
    wanted = parse_query(details)
    windows = {window.id: window for window in get_windows(transaction)}
    tabs = map(tab_of, transaction.tabs.find())
    return [tab_view(tab, asker) for tab in tabs if wanted.matches(tab, windows[tab.window_id], asker)]


def create(transaction: Transaction, asker: TabAccess, details: Details) -> TabView:
    """A new tab; its page is loaded later."""
    window = window_for_new_tab(transaction, window_id_of(transaction, details["windowId"]))
    store = resolve_cookie_store(transaction, details["cookieStoreId"], asker)
    url = None if details["url"] is None else resolve_tab_url(details["url"], asker)
    opener = _opener(transaction, details["openerTabId"], window.id, "created") if _has_opener(details) else None
    active = details["active"] is not False
    _reject_unsupported(details, url)
    tab = open_tab(
        transaction,
        url,
        cookie_store_id=store,
        window_id=window.id,
        index=details["index"],
        active=active,
        pinned=bool(details["pinned"]),
        opener_id=opener.id if opener else None,
    )
    if details["muted"]:
        tab = tab_of(change(transaction, row_of(transaction, tab.id), muted=1, muted_by=asker.id))
    return tab_view(tab, asker)


def _has_opener(details: Details) -> bool:
    return details["openerTabId"] is not None


def _reject_unsupported(details: Details, url: str | None) -> None:
    if details["discarded"]:
        if details["active"]:
            raise ApiError("Active tabs cannot be created and discarded.")
        if details["pinned"]:
            raise ApiError("Pinned tabs cannot be created and discarded.")
        if url is None or is_blank(url):
            raise ApiError('Cannot create a discarded new tab or "about" urls.')
        raise ApiError("Discarded tabs are not supported.")
    if details["title"]:
        raise ApiError("Title may only be set for discarded tabs.")
    if details["openInReaderMode"]:
        raise ApiError("Reader mode is not supported.")


def duplicate_(transaction: Transaction, asker: TabAccess, tab_id: int, details: Details | None) -> TabView:
    """The page of a tab once more. It becomes active, unless there are details that do not say so: as in Firefox."""
    if details is None:
        return tab_view(duplicate(transaction, tab_id), asker)
    return tab_view(duplicate(transaction, tab_id, details["index"], active=bool(details["active"])), asker)


def update(transaction: Transaction, asker: TabAccess, tab_id: int | None, details: Details) -> TabView:
    """Change what is given of a tab. A page that is asked for is not there yet when this resolves."""
    row = _row_or_active(transaction, tab_id)
    tab_id = row.id
    if details["url"] is not None:
        navigate(transaction, tab_id, resolve_tab_url(details["url"], asker))
    # In this order, because so it is told of: that it moved, that it is active, and last that it is pinned.
    pins = details["pinned"] is not None and pin_without_event(transaction, row, pinned=details["pinned"])
    if details["active"] or (details["highlighted"] and details["active"] is None):
        show_and_activate(transaction, row_of(transaction, tab_id))
    if details["autoDiscardable"] is not None:
        change(transaction, row_of(transaction, tab_id), discardable=int(details["autoDiscardable"]))
    if details["muted"] not in (None, row.muted == 1):
        change(transaction, row_of(transaction, tab_id), muted=int(details["muted"]), muted_by=asker.id)
    if pins:
        record_update(transaction, row_of(transaction, tab_id), "pinned")
    if details["openerTabId"] is not None:
        _set_opener(transaction, row_of(transaction, tab_id), details["openerTabId"])
    if details["successorTabId"] is not None:
        _set_successor(transaction, row_of(transaction, tab_id), details["successorTabId"])
    return get(transaction, asker, tab_id)


def _set_opener(transaction: Transaction, row: TabRow, opener_id: int) -> None:
    opener = None if opener_id == NO_TAB else _opener(transaction, opener_id, row.window, "updated")
    change(transaction, row, opener=opener.id if opener else None)


def _opener(transaction: Transaction, opener_id: int, window: int, what: str) -> TabRow:
    opener = row_of(transaction, opener_id)
    if opener.window != window:
        raise ApiError(f"Opener tab must be in the same window as the tab being {what}")
    return opener


def _set_successor(transaction: Transaction, row: TabRow, successor_id: int) -> None:
    successor = transaction.tabs.get(successor_id)
    if successor is None and successor_id != NO_TAB:
        raise ApiError("Invalid successorTabId")
    if successor is not None and successor.window != row.window:
        raise ApiError("Successor tab must be in the same window as the tab being updated")
    change(transaction, row, successor=None if successor is None or successor.id == row.id else successor.id)


def move(transaction: Transaction, asker: TabAccess, tab_ids: Sequence[int], details: Details) -> list[TabView]:
    """Bring tabs to another place."""
    window_id = window_id_of(transaction, details["windowId"])
    return [tab_view(tab, asker) for tab in move_tabs(transaction, tab_ids, details["index"], window_id)]


def reload_(transaction: Transaction, tab_id: int | None) -> Tab:
    """Load a tab's page again."""
    return reload(transaction, _row_or_active(transaction, tab_id).id)


def remove(transaction: Transaction, tab_ids: Sequence[int]) -> None:
    """Close tabs: all of them, or none if there is one that does not exist."""
    close_rows(transaction, [row_of(transaction, tab_id) for tab_id in tab_ids])


def window_id_of(transaction: Transaction, window_id: int | None) -> int | None:
    """The id of the window that is meant; None stays None."""
    if window_id == CURRENT_WINDOW:
        window = last_focused(transaction)
        return window.id if window else None
    return window_id


def _row_or_active(transaction: Transaction, tab_id: int | None) -> TabRow:
    if tab_id is not None:
        return row_of(transaction, tab_id)
    window = last_focused(transaction)
    rows = transaction.tabs.find(window=window.id) if window else []
    active = next((row for row in rows if row.active), None)
    if active is None:
        raise ApiError("Cannot access activeTab")
    return active
