"""The first window of a profile in which extensions run: a browser always has one, and extensions rely on it.

A window with one blank tab, opened if the profile has no window, and closed when the last extension stops. Only
scripts see the tab, and no engine displays it, until it is used: a page is loaded in it, or it is activated, pinned or
moved to another window. A tab that the user opens in the window replaces it.
"""

from __future__ import annotations

from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.first_tab import first_tab, mark_first_tab
from hatbox.tabs.opening import open_window
from hatbox.tabs.strip import close_rows

__all__ = ["close_first_tab", "leave_first_tab", "open_first_window", "unused_window"]


def open_first_window(transaction: Transaction) -> None:
    """Open the first window, unless the profile has a window."""
    if transaction.windows.last_focused() is None:
        window = open_window(transaction, cookie_store_id=DEFAULT_COOKIE_STORE_ID)
        (row,) = transaction.tabs.find(window=window.id)
        mark_first_tab(transaction, row.id)


def close_first_tab(transaction: Transaction) -> None:
    """Close the blank tab if it is unused, and its window if that has no other tab."""
    if row := _row(transaction):
        close_rows(transaction, [row])
    mark_first_tab(transaction, None)


def leave_first_tab(transaction: Transaction, window_id: int) -> None:
    """The user has opened a tab in a window: close the unused blank tab of this window."""
    row = _row(transaction)
    if row is not None and row.window == window_id:
        close_first_tab(transaction)


def unused_window(transaction: Transaction) -> int | None:
    """The id of the window whose only tab is the unused blank one."""
    row = _row(transaction)
    return row.window if row is not None and transaction.tabs.count(row.window) == 1 else None


def _row(transaction: Transaction) -> TabRow | None:
    tab_id = first_tab(transaction)
    return None if tab_id is None else transaction.tabs.get(tab_id)
