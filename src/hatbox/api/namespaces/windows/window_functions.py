"""Functions of the namespace windows: transaction functions. Error messages match Firefox.

`details` are normalized by the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.api.namespaces.tabs.tab_arguments import resolve_cookie_store, resolve_tab_url
from hatbox.api.namespaces.tabs.tab_functions import resolve_window_id
from hatbox.api.namespaces.windows.window_views import WindowView
from hatbox.errors import ApiError, InvalidWindow
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of
from hatbox.store.base import Transaction
from hatbox.tabs.moving import attach
from hatbox.tabs.named_identity import mark_identity_named
from hatbox.tabs.opening import open_window
from hatbox.tabs.strip import ensure_active, row_of
from hatbox.tabs.tab_model import Window, all_tabs, tab_of
from hatbox.tabs.windows import (
    announce_window,
    close_window,
    focus_window,
    get_window,
    get_windows,
    insert_window,
    last_focused,
    update_window,
)

__all__ = ["Details", "create", "get", "get_all", "get_last_focused", "remove", "update"]

Details: TypeAlias = Mapping[str, Any]

_BOUNDS: Final = ("left", "top", "width", "height")
_NORMAL: Final = "normal"
_STATES: Final = {"docked": "minimized"}  # Firefox maps docked to minimized


def get(transaction: Transaction, access: TabAccess, window_id: int, details: Details | None) -> WindowView:
    """The window with this id."""
    return _view(transaction, get_window(transaction, _id(transaction, window_id)), access, details)


def get_last_focused(transaction: Transaction, access: TabAccess, details: Details | None) -> WindowView:
    """The last focused window."""
    window = last_focused(transaction)
    if window is None:
        raise ApiError("Invalid window")
    return _view(transaction, window, access, details)


def get_all(transaction: Transaction, access: TabAccess, details: Details | None) -> list[WindowView]:
    """All windows, or those of some types."""
    kinds = details["windowTypes"] if details else None
    windows = [window for window in get_windows(transaction) if kinds is None or window.kind in kinds]
    return [_view(transaction, window, access, details) for window in windows]


def create(transaction: Transaction, access: TabAccess, details: Details) -> WindowView:
    """Open a window with a tab for each URL, or with a tab of another window."""
    if details["incognito"]:
        raise ApiError("Extension does not have permission for incognito mode")
    fields = _bounds_and_state(details)
    fields["kind"] = _NORMAL if details["type"] in (None, _NORMAL) else "popup"
    fields["title_preface"] = details["titlePreface"] or ""
    if details["tabId"] is not None:
        window = _with_tab(transaction, details, fields)
    else:
        urls = details["url"] or []
        resolved = [resolve_tab_url(url, access, transaction) for url in ([urls] if isinstance(urls, str) else urls)]
        store = resolve_cookie_store(transaction, details["cookieStoreId"], access)
        window = open_window(transaction, resolved, cookie_store_id=store or DEFAULT_COOKIE_STORE_ID, **fields)
        if store:
            for row in transaction.tabs.find(window=window.id):
                mark_identity_named(transaction, row.id, store)
    return _view(transaction, window, access, {"populate": True})


def _with_tab(transaction: Transaction, details: Details, fields: dict[str, Any]) -> Window:
    for other in ("url", "allowScriptsToClose"):
        if details[other] not in (None, False):
            raise ApiError(f"`tabId` may not be used in conjunction with `{other}`")
    row = row_of(transaction, details["tabId"])
    if details["cookieStoreId"] not in (None, "", cookie_store_id_of(row.store)):
        raise ApiError("`cookieStoreId` must match the tab's cookieStoreId")
    window = insert_window(transaction, **fields)
    attach(transaction, row, window.id, 0, pinned=False)
    announced = announce_window(transaction, window)
    ensure_active(transaction, window.id)
    return announced


def update(transaction: Transaction, access: TabAccess, window_id: int, details: Details) -> WindowView:
    """Change properties of a window."""
    changed = _bounds_and_state(details)
    window = get_window(transaction, _id(transaction, window_id))
    if details["focused"]:
        focus_window(transaction, window.id)
    if details["titlePreface"] is not None:
        changed["title_preface"] = details["titlePreface"]
    return _view(transaction, update_window(transaction, window.id, **changed), access, None)


def remove(transaction: Transaction, window_id: int) -> None:
    """Close a window and its tabs."""
    close_window(transaction, _id(transaction, window_id))


def _bounds_and_state(details: Details) -> dict[str, Any]:
    fields = {name: details[name] for name in _BOUNDS if details[name] is not None}
    state = details["state"]
    if fields and state not in (None, _NORMAL):
        raise ApiError(f'"state": "{state}" may not be combined with "left", "top", "width", or "height"')
    if state is not None:
        fields["state"] = _STATES.get(state, state)
    return fields


def _id(transaction: Transaction, window_id: int) -> int:
    resolved = resolve_window_id(transaction, window_id)
    if resolved is None:
        raise InvalidWindow(window_id)
    return resolved


def _view(transaction: Transaction, window: Window, access: TabAccess, details: Details | None) -> WindowView:
    if details and details["populate"]:
        return WindowView(window, all_tabs(transaction, window.id), access, populate=True)
    active = transaction.tabs.active(window.id)
    return WindowView(window, [tab_of(transaction, active)] if active else [], access)
