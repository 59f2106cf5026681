"""Closed tabs and windows as scripts see them: transaction functions. Error messages match Firefox."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.api.namespaces.tabs.tab_functions import resolve_window_id
from hatbox.api.namespaces.tabs.tab_views import TabView, tab_view
from hatbox.api.namespaces.windows.window_views import WindowView
from hatbox.errors import ApiError, InvalidWindow
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.store.base import Transaction
from hatbox.tabs.closed_tab_restore import restore_closed_tab, restore_closed_window
from hatbox.tabs.closed_tabs import ClosedSession, ClosedTab, forget_session, get_session, get_sessions
from hatbox.tabs.tab_model import display_title, tabs_of
from hatbox.urls.url import parse_url

__all__ = ["forget_tab", "forget_window", "get_recently_closed", "restore"]

_NUMBER: Final = re.compile(r"[\t\n\v\f\r ]*([+-]?[0-9]{1,20})")  # what parseInt() reads


class _Session(NamedTuple):
    last_modified: int
    tab: TabView | None = None
    window: WindowView | None = None


def get_recently_closed(transaction: Transaction, access: TabAccess, limit: int | None) -> list[dict[str, Any]]:
    """The closed tabs and windows, those closed last first."""
    return [_shown(session, access) for session in get_sessions(transaction, limit)]


def restore(transaction: Transaction, access: TabAccess, session_id: str | None) -> _Session:
    """Open a closed tab or window again; without an id, the one closed last."""
    wanted = _number(session_id) if session_id else None
    found = get_session(transaction, wanted)
    if found is None:
        raise ApiError(f"Could not restore object using sessionId {'undefined' if wanted is None else wanted}.")
    modified = int(transaction.time() * 1000)
    if not found.is_window:
        return _Session(modified, tab=tab_view(restore_closed_tab(transaction, found), access))
    window = restore_closed_window(transaction, found)
    tabs = tabs_of(transaction, transaction.tabs.find(window=window.id))
    return _Session(modified, window=WindowView(window, tabs, access, populate=True))


def forget_tab(transaction: Transaction, window_id: int, session_id: str) -> None:
    """Delete a tab that was closed in an open window."""
    window = resolve_window_id(transaction, window_id)
    if window is None or transaction.windows.get(window) is None:
        raise InvalidWindow(window_id)
    session = get_session(transaction, _number(session_id))
    if session is None or session.is_window or session.tabs[0][1].window_id != window:
        raise ApiError(f"Could not find closed tab using sessionId {session_id}.")
    forget_session(transaction, session.id)


def forget_window(transaction: Transaction, session_id: str) -> None:
    """Delete a closed window."""
    session = get_session(transaction, _number(session_id))
    if session is None or not session.is_window:
        raise ApiError(f"Could not find closed window using sessionId {session_id}.")
    forget_session(transaction, session.id)


def _number(session_id: str) -> int:
    match = _NUMBER.match(session_id)
    if match is None:
        raise ApiError(f"Invalid sessionId: {session_id}.")
    return int(match[1])


def _shown(session: ClosedSession, access: TabAccess) -> dict[str, Any]:
    modified = {"lastModified": int(session.closed * 1000)}
    if not session.is_window:
        return {**modified, "tab": _closed_tab(session.tabs[0][1], str(session.id), access)}
    window = session.tabs[0][1].window or {}
    shown = {
        "sessionId": str(session.id),
        "focused": False,
        "incognito": False,
        "type": window.get("kind", "normal"),
        "state": window.get("state", "normal"),
        "alwaysOnTop": False,
        # As in Firefox, a tab of a closed window has no id of its own and no place.
        "tabs": [_closed_tab(tab, "undefined", access, in_window=True) for _, tab in session.tabs],
    }
    return {**modified, "window": shown}


def _closed_tab(tab: ClosedTab, session_id: str, access: TabAccess, *, in_window: bool = False) -> dict[str, Any]:
    columns = tab.columns
    shown: dict[str, Any] = {
        "sessionId": session_id,
        "index": 0 if in_window else tab.index,
        "windowId": UNDEFINED if in_window else tab.window_id,
        "highlighted": False,
        "active": False,
        "pinned": False,  # as in Firefox. It is pinned again when it is restored
        "hidden": columns.get("hidden") == 1,
        "incognito": False,
        "lastAccessed": int(tab.last_accessed * 1000),
    }
    url, title, icon = (str(columns.get(name) or "") for name in ("url", "title", "icon"))
    if _can_see(url, access):
        shown |= {"url": url, "title": display_title(title, url, "")}
        if icon:
            shown["favIconUrl"] = icon
    return shown


def _can_see(url: str, access: TabAccess) -> bool:
    parsed = parse_url(url)
    return access.has_tabs_permission or (parsed is not None and access.hosts.allow_url(parsed.scheme, parsed.host))
