"""The tabs of one window: their order, which one is active, and how one changes or goes.

What always holds: positions count from 0 without gaps, pinned tabs come first, and where a window has a visible tab
exactly one is active, and is visible. A window without tabs does not stay.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from hatbox.errors import InvalidTab
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.model import (
    ACTIVATED,
    MOVED,
    NO_WINDOW,
    REMOVED,
    UPDATED,
    WINDOW_FOCUSED,
    WINDOW_REMOVED,
    Activation,
    Move,
    Removal,
    Update,
    note,
    tab_of,
)

__all__ = [
    "activate",
    "arrange",
    "change",
    "close_if_empty",
    "close_rows",
    "ensure_active",
    "pass_on",
    "row_of",
    "within_pinned",
]

_TOLD = frozenset({"url", "title", "icon", "pinned", "hidden", "muted"})  # the columns whose changes are told of


def row_of(transaction: Transaction, tab_id: int) -> TabRow:
    """The row of a tab."""
    row = transaction.tabs.get(tab_id)
    if row is None:
        raise InvalidTab(tab_id)
    return row


def change(transaction: Transaction, row: TabRow, **columns: str | int | float | None) -> TabRow:
    """Change columns of a tab, and tell of what can be seen of it; returns the new row."""
    changed = {name: value for name, value in columns.items() if getattr(row, name) != value}
    if not changed:
        return row
    transaction.tabs.update(row.id, **changed)
    new = row._replace(**changed)  # type: ignore[arg-type]  # the names are columns
    old_tab, tab = tab_of(row), tab_of(new)
    told = [name for name in changed if name in _TOLD]
    if tab.loading != old_tab.loading or (tab.loading and tab.navigation != old_tab.navigation):
        told.insert(0, "status")
    if told:
        note(transaction, UPDATED, Update(tab, tuple(told)))
    return new


def arrange(transaction: Transaction, order: Sequence[TabRow], moved: Sequence[TabRow] = ()) -> None:
    """Bring the tabs of a window into this order, and tell of those that moved by themselves."""
    transaction.tabs.place((row.id, place) for place, row in enumerate(order) if row.position != place)
    places = {row.id: place for place, row in enumerate(order)}
    for row in moved:
        if row.position != places[row.id]:
            note(transaction, MOVED, Move(row.id, row.window, row.position, places[row.id]))


def within_pinned(order: Sequence[TabRow], place: int, *, pinned: bool) -> int:
    """The place nearest to the one asked for that a tab may take among these: pinned tabs come first."""
    pinned_count = sum(row.pinned for row in order)
    lowest, highest = (0, pinned_count) if pinned else (pinned_count, len(order))
    return min(max(place, lowest), highest)


def activate(transaction: Transaction, row: TabRow, previous: TabRow | None = None) -> None:
    """Make a visible tab the active one of its window, after `previous` or the one that is active now."""
    if row.active:
        return
    now = time.time()
    for other in transaction.tabs.find(window=row.window):
        if other.active:
            transaction.tabs.update(other.id, active=0, last_accessed=now)
            previous = other
    transaction.tabs.update(row.id, active=1, last_accessed=now)
    note(transaction, ACTIVATED, Activation(row.id, previous.id if previous else None, row.window))


def ensure_active(transaction: Transaction, window: int, previous: TabRow | None = None) -> None:
    """Where a window has visible tabs and none is active, activate one.

    It is the visible one nearest to `previous`, of two the one to the right; else the one that was active last.
    """
    visible = [row for row in transaction.tabs.find(window=window) if not row.hidden]
    if not visible or any(row.active for row in visible):
        return
    if previous is None:
        activate(transaction, max(visible, key=lambda row: row.last_accessed))
    else:
        place = previous.position
        chosen = min(visible, key=lambda row: (abs(row.position - place), row.position < place))
        activate(transaction, chosen, previous)


def close_rows(transaction: Transaction, rows: Sequence[TabRow], *, window_closing: bool = False) -> None:
    """Close tabs, and the windows that have none left."""
    closing = {row.id for row in rows}
    for window in dict.fromkeys(row.window for row in rows):
        tabs = transaction.tabs.find(window=window)
        left = [row for row in tabs if row.id not in closing]
        for row in tabs:
            if row.active and row.id in closing:  # first, so that whoever hears of the rest finds an active tab
                pass_on(transaction, row, left)
        for row in tabs:
            if row.id in closing:
                transaction.tabs.delete(row.id)
                note(transaction, REMOVED, Removal(tab_of(row), window_closing or not left))
        arrange(transaction, left)
        close_if_empty(transaction, window)


def pass_on(transaction: Transaction, leaving: TabRow, left: Sequence[TabRow]) -> None:
    """Activate the visible tab that comes after the one that is leaving, else the one before it; as Firefox does."""
    visible = [row for row in left if not row.hidden]
    if visible:
        after = [row for row in visible if row.position > leaving.position]
        activate(transaction, after[0] if after else visible[-1])


def close_if_empty(transaction: Transaction, window: int) -> None:
    """Close a window that has no tab left; then the focus goes to the one that had it before."""
    if transaction.tabs.find(window=window):
        return
    focused = transaction.windows.last_focused()
    transaction.windows.delete(window)
    note(transaction, WINDOW_REMOVED, window)
    if focused is not None and focused.id == window:
        successor = transaction.windows.last_focused()
        note(transaction, WINDOW_FOCUSED, successor.id if successor else NO_WINDOW)
