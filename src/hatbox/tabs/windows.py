"""Windows: opened with their first tab, closed with their last."""

from __future__ import annotations

from typing import Final

from hatbox.errors import InvalidWindow
from hatbox.store.base import Transaction, WindowRow
from hatbox.tabs.strip import close_rows
from hatbox.tabs.tab_model import (
    NO_WINDOW,
    WINDOW_CREATED,
    WINDOW_FOCUSED,
    WINDOW_UPDATED,
    Window,
    record_change,
    window_of,
)

__all__ = [
    "announce_window",
    "close_window",
    "focus_window",
    "get_window",
    "get_windows",
    "insert_window",
    "last_focused",
    "update_window",
    "window_for_new_tab",
]

NORMAL: Final = "normal"


def get_window(transaction: Transaction, window_id: int) -> Window:
    """The window with this id."""
    return _window(transaction, _row(transaction, window_id))


def get_windows(transaction: Transaction) -> list[Window]:
    """All windows, in the order in which they were opened."""
    return [_window(transaction, row) for row in transaction.windows.find()]


def last_focused(transaction: Transaction) -> Window | None:
    """The window that has, or last had, the focus."""
    row = transaction.windows.last_focused()
    return window_of(row, focused=True) if row else None


def insert_window(transaction: Transaction, **fields: str | int | None) -> Window:
    """Add a window without recording it. The caller opens a tab in it, in the same transaction."""
    last = transaction.windows.last_focused()
    if last is not None and fields.get("state") is None:
        fields["state"] = last.state if last.state in ("normal", "maximized") else "normal"
    return get_window(transaction, transaction.windows.insert(**fields))


def announce_window(transaction: Transaction, window: Window) -> Window:
    """Record a new window, and focus it."""
    record_change(transaction, WINDOW_CREATED, window)
    return focus_window(transaction, window.id)


def update_window(transaction: Transaction, window_id: int, **changed: str | int | None) -> Window:
    """Change attributes of a window."""
    _row(transaction, window_id)
    if changed:
        transaction.windows.update(window_id, **changed)
        record_change(transaction, WINDOW_UPDATED, get_window(transaction, window_id))
    return get_window(transaction, window_id)


def focus_window(transaction: Transaction, window_id: int) -> Window:
    """Give the focus to a window."""
    row = _row(transaction, window_id)
    last = transaction.windows.last_focused()
    if row.focused == 0 or last is None or last.id != window_id:
        if last is not None and last.focused:  # as Firefox does: no window in between
            record_change(transaction, WINDOW_FOCUSED, NO_WINDOW)
        transaction.windows.focus(window_id)
        record_change(transaction, WINDOW_FOCUSED, window_id)
    return get_window(transaction, window_id)


def close_window(transaction: Transaction, window_id: int) -> None:
    """Close a window and all tabs in it."""
    _row(transaction, window_id)
    close_rows(transaction, transaction.tabs.find(window=window_id), window_closing=True)


def window_for_new_tab(transaction: Transaction, window_id: int | None) -> Window:
    """The window with this id; without one, the normal window focused last, or a new one."""
    if window_id is not None:
        return get_window(transaction, window_id)
    normal = transaction.windows.last_focused(NORMAL)
    if normal is not None:
        return _window(transaction, normal)
    return announce_window(transaction, insert_window(transaction))


def _row(transaction: Transaction, window_id: int) -> WindowRow:
    row = transaction.windows.get(window_id)
    if row is None:
        raise InvalidWindow(window_id)
    return row


def _window(transaction: Transaction, row: WindowRow) -> Window:
    focused = transaction.windows.last_focused()
    return window_of(row, focused=focused is not None and focused.id == row.id)
