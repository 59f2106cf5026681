"""Opens recently closed tabs and windows again, as they were. Transaction functions."""

from __future__ import annotations

import msgspec

from hatbox.store.base import Transaction
from hatbox.tabs.closed_tabs import ClosedSession, ClosedTab, forget_session, move_closed_tabs
from hatbox.tabs.opening import open_saved_tab
from hatbox.tabs.session_values import kind_of_tab, kind_of_window
from hatbox.tabs.strip import activate, row_of
from hatbox.tabs.tab_model import Tab, Window
from hatbox.tabs.windows import announce_window, get_window, insert_window, window_for_new_tab

__all__ = ["open_closed_tab", "restore_closed_tab", "restore_closed_window"]


def restore_closed_tab(transaction: Transaction, session: ClosedSession) -> Tab:
    """Open a closed tab again, in its window if that is open, and activate it."""
    row, closed = session.tabs[0]
    known = transaction.windows.get(closed.window_id)
    window = window_for_new_tab(transaction, None if known is None else known.id)
    forget_session(transaction, session.id)
    return open_closed_tab(transaction, window.id, row.store, closed, active=True)


def restore_closed_window(transaction: Transaction, session: ClosedSession) -> Window:
    """Open a closed window again with its tabs, and focus it."""
    first = session.tabs[0][1]
    window = insert_window(transaction, **(first.window or {}))
    active: int | None = None
    for place, (row, closed) in enumerate(session.tabs):
        tab = open_closed_tab(transaction, window.id, row.store, closed, active=place == 0)
        if place == 0:
            announce_window(transaction, window)
        if closed.columns.get("active") == 1:
            active = tab.id
    for extension, key, value in first.window_values:
        transaction.extensions.put(extension, kind_of_window(window.id), key, value)
    if active is not None:
        activate(transaction, row_of(transaction, active))
    move_closed_tabs(transaction, first.window_id, window.id)
    forget_session(transaction, session.id)
    return get_window(transaction, window.id)


def open_closed_tab(transaction: Transaction, window: int, store: int, closed: ClosedTab, *, active: bool) -> Tab:
    """Open a closed tab again, in this window."""
    try:
        page = msgspec.msgpack.decode(closed.page, type=bytes | None)
    except msgspec.MsgspecError:  # damaged: the page is loaded again
        page = None
    tab = open_saved_tab(transaction, window, store, closed.index, columns=closed.columns, page=page, active=active)
    for extension, key, value in closed.values:
        transaction.extensions.put(extension, kind_of_tab(tab.id), key, value)
    return tab
