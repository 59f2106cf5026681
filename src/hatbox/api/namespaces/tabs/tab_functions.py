"""Functions of the namespace tabs: transaction functions. Error messages match Firefox.

`details` are normalized by the schema.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.api.namespaces.tabs.tab_arguments import resolve_cookie_store, resolve_tab_url
from hatbox.api.namespaces.tabs.tab_query import CURRENT_WINDOW, TabQuery, parse_query
from hatbox.api.namespaces.tabs.tab_views import NO_TAB, TabView, tab_view
from hatbox.errors import ApiError
from hatbox.extension_data.new_tab_page import NEW_TAB_ROW, new_tab_page
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of, user_context_id_of
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.bound_tabs import bind_tab
from hatbox.tabs.highlighting import set_highlighted
from hatbox.tabs.moving import move_tabs, pin_without_event
from hatbox.tabs.named_identity import mark_identity_named
from hatbox.tabs.opening import duplicate, open_tab
from hatbox.tabs.pages import navigate, reload
from hatbox.tabs.strip import change, close_rows, record_update, row_of, rows_of
from hatbox.tabs.tab_model import Tab, Window, all_tabs, is_blank, tab_of, tabs_of
from hatbox.tabs.visibility import hide_tabs, show_and_activate, show_tabs
from hatbox.tabs.windows import get_windows, last_focused, window_for_new_tab

__all__ = [
    "Details",
    "create",
    "duplicate_tab",
    "get",
    "hide_tabs",
    "move",
    "query",
    "reload_tab",
    "remove",
    "resolve_window_id",
    "row_or_active",
    "show_tabs",
    "update",
]

Details: TypeAlias = Mapping[str, Any]


def get(transaction: Transaction, access: TabAccess, tab_id: int) -> TabView:
    """The tab with this id."""
    return tab_view(tab_of(transaction, row_of(transaction, tab_id)), access)


def query(transaction: Transaction, access: TabAccess, details: Details) -> list[TabView]:
    """The tabs that match, by window and index."""
    parsed = parse_query(details)
    stores = [store for store in map(user_context_id_of, parsed.cookie_store_ids or ()) if store is not None]
    transaction.load(stores=stores, last_focused=True)
    windows = {window.id: window for window in get_windows(transaction)}
    tabs = _candidates(transaction, parsed, stores, windows.values())
    return [tab_view(tab, access) for tab in tabs if parsed.matches(tab, windows[tab.window_id], access)]


def _candidates(
    transaction: Transaction, query: TabQuery, stores: Collection[int], windows: Collection[Window]
) -> list[Tab]:
    """The tabs of the stores or windows of a query, or all tabs, by window and index."""
    if query.cookie_store_ids is not None:
        rows = [row for store in set(stores) for row in transaction.tabs.find(store=store)]
        return tabs_of(transaction, sorted(rows, key=lambda row: (row.window, row.position)))
    wanted = [window.id for window in windows if query.matches_window(window)]
    if query.details["active"]:
        rows = [row for window in wanted if (row := transaction.tabs.active(window)) is not None]
        return tabs_of(transaction, rows)
    if len(wanted) == len(windows):
        return all_tabs(transaction)
    return [tab for window in wanted for tab in all_tabs(transaction, window)]


def create(transaction: Transaction, access: TabAccess, details: Details) -> TabView:
    """Open a tab. Its page loads later."""
    _load_for_create(transaction, details)
    window = window_for_new_tab(transaction, resolve_window_id(transaction, details["windowId"]))
    named_store = resolve_cookie_store(transaction, details["cookieStoreId"], access)
    url = None if details["url"] is None else resolve_tab_url(details["url"], access, transaction)
    opener = _opener(transaction, details["openerTabId"], window.id, "created") if _has_opener(details) else None
    store = named_store or (cookie_store_id_of(opener.store) if opener else DEFAULT_COOKIE_STORE_ID)
    active = not details["discarded"] if details["active"] is None else details["active"]
    _check_discarded(details, url, active=active)
    tab = open_tab(
        transaction,
        new_tab_page(transaction) if url is None else url,
        cookie_store_id=store,
        window_id=window.id,
        index=details["index"],
        active=active,
        pinned=bool(details["pinned"]),
        opener_id=opener.id if opener else None,
        discarded_title=(details["title"] or "") if details["discarded"] else None,
    )
    if named_store:
        mark_identity_named(transaction, tab.id, store)
    if access.guard is not None:
        bind_tab(transaction, tab.id)
    if details["muted"]:
        tab = tab_of(transaction, change(transaction, row_of(transaction, tab.id), muted=1, muted_by=access.id))
    return tab_view(tab, access)


def _load_for_create(transaction: Transaction, details: Details) -> None:
    store = user_context_id_of(details["cookieStoreId"] or "")
    window = details["windowId"]
    transaction.load(
        identities=[store] if store else [],
        tabs=[details["openerTabId"]] if _has_opener(details) else [],
        windows=[window] if window is not None and window != CURRENT_WINDOW else [],
        values=[NEW_TAB_ROW] if details["url"] is None else [],
        last_focused=True,
    )


def _has_opener(details: Details) -> bool:
    return details["openerTabId"] is not None


def _check_discarded(details: Details, url: str | None, *, active: bool) -> None:
    if details["discarded"]:
        if active:
            raise ApiError("Active tabs cannot be created and discarded.")
        if details["pinned"]:
            raise ApiError("Pinned tabs cannot be created and discarded.")
        if url is None or is_blank(url):
            raise ApiError('Cannot create a discarded new tab or "about" urls.')
    elif details["title"]:
        raise ApiError("Title may only be set for discarded tabs.")
    if details["openInReaderMode"]:
        raise ApiError("Reader mode is not supported.")


def duplicate_tab(transaction: Transaction, access: TabAccess, tab_id: int, details: Details | None) -> TabView:
    """Duplicate a tab. As in Firefox, it becomes active without details, or with `active`."""
    if details is None:
        return tab_view(duplicate(transaction, tab_id), access)
    return tab_view(duplicate(transaction, tab_id, details["index"], active=bool(details["active"])), access)


def update(transaction: Transaction, access: TabAccess, tab_id: int | None, details: Details) -> TabView:
    """Change properties of a tab. A new URL loads after the call has resolved."""
    row = row_or_active(transaction, tab_id)
    tab_id = row.id
    if access.guard is not None and (details["url"] is not None or row.discarded):
        bind_tab(transaction, tab_id)
    if details["url"] is not None:
        navigate(transaction, tab_id, resolve_tab_url(details["url"], access, transaction))
    # Events come in this order: onMoved, onActivated, onUpdated with pinned.
    pinned_changed = details["pinned"] is not None and pin_without_event(transaction, row, pinned=details["pinned"])
    if details["active"]:
        show_and_activate(transaction, row_of(transaction, tab_id))
    elif details["highlighted"] is not None:
        activates = details["active"] is None
        set_highlighted(
            transaction, row_of(transaction, tab_id), highlighted=details["highlighted"], activate=activates
        )
    if details["autoDiscardable"] is not None:
        change(transaction, row_of(transaction, tab_id), discardable=int(details["autoDiscardable"]))
    if details["muted"] not in (None, row.muted == 1):
        change(transaction, row_of(transaction, tab_id), muted=int(details["muted"]), muted_by=access.id)
    if pinned_changed:
        record_update(transaction, row_of(transaction, tab_id), "pinned")
    if details["openerTabId"] is not None:
        _set_opener(transaction, row_of(transaction, tab_id), details["openerTabId"])
    if details["successorTabId"] is not None:
        _set_successor(transaction, row_of(transaction, tab_id), details["successorTabId"])
    return get(transaction, access, tab_id)


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


def move(transaction: Transaction, access: TabAccess, tab_ids: Sequence[int], details: Details) -> list[TabView]:
    """Move tabs."""
    window_id = resolve_window_id(transaction, details["windowId"])
    return [tab_view(tab, access) for tab in move_tabs(transaction, tab_ids, details["index"], window_id)]


def reload_tab(transaction: Transaction, access: TabAccess, tab_id: int | None) -> Tab:
    """Reload the page of a tab."""
    row = row_or_active(transaction, tab_id)
    if access.guard is not None:
        bind_tab(transaction, row.id)
    return reload(transaction, row.id)


def remove(transaction: Transaction, tab_ids: Sequence[int]) -> None:
    """Close all of these tabs. Closes none if one does not exist."""
    close_rows(transaction, rows_of(transaction, tab_ids))


def resolve_window_id(transaction: Transaction, window_id: int | None) -> int | None:
    """Resolve WINDOW_ID_CURRENT. Other values are returned as they are."""
    if window_id == CURRENT_WINDOW:
        window = last_focused(transaction)
        return window.id if window else None
    return window_id


def row_or_active(transaction: Transaction, tab_id: int | None) -> TabRow:
    """A tab; without an id, the active tab of the last focused window. Raises ApiError."""
    if tab_id is not None:
        return row_of(transaction, tab_id)
    window = last_focused(transaction)
    active = transaction.tabs.active(window.id) if window else None
    if active is None:
        raise ApiError("Cannot access activeTab")
    return active
