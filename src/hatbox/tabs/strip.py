"""The tabs of one window: their order, the active tab, updates and closing.

Invariants: positions count from 0 without gaps; pinned tabs come first; a window with visible tabs has exactly one
active tab, which is visible. A window without tabs is closed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from hatbox.errors import InvalidTab
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.hiders import forget_hiders
from hatbox.tabs.session_values import drop_values, kind_of_tab, kind_of_window
from hatbox.tabs.tab_model import (
    ACTIVATED,
    MOVED,
    NO_WINDOW,
    REMOVED,
    UPDATED,
    WINDOW_FOCUSED,
    WINDOW_REMOVED,
    TabActivation,
    TabMove,
    TabRemoval,
    TabUpdate,
    record_change,
    tab_of,
)

__all__ = [
    "activate",
    "change",
    "close_if_empty",
    "close_rows",
    "drop_references",
    "ensure_active",
    "next_access_time",
    "next_active_tab",
    "record_update",
    "remove_from_successor_chains",
    "row_of",
    "set_order",
    "switch_to",
    "within_pinned",
]

_OBSERVED_COLUMNS: Final = {  # columns whose changes are recorded, in this order
    "url": "url",
    "title": "title",
    "icon": "icon",
    "pinned": "pinned",
    "hidden": "hidden",
    "muted": "muted",
    "discardable": "discardable",
    "opener": "opener_id",
}
_INSTANT: Final = 0.001  # seconds: two tabs of a window are never accessed at the same time


def row_of(transaction: Transaction, tab_id: int) -> TabRow:
    """The row of a tab."""
    row = transaction.tabs.get(tab_id)
    if row is None:
        raise InvalidTab(tab_id)
    return row


def change(transaction: Transaction, row: TabRow, **columns: str | int | float | None) -> TabRow:
    """Change columns of a tab, and record the observable changes. Returns the new row."""
    changed = {name: value for name, value in columns.items() if getattr(row, name) != value}
    if not changed:
        return row
    transaction.tabs.update(row.id, **changed)
    new = row._replace(**changed)  # type: ignore[arg-type]  # the names are columns
    observed = [attribute for column, attribute in _OBSERVED_COLUMNS.items() if column in changed]
    if observed:
        record_update(transaction, new, *observed)
    return new


def record_update(transaction: Transaction, row: TabRow, *changed: str) -> None:
    """Record that these attributes of a tab have changed."""
    focused = transaction.windows.last_focused()
    is_focused = focused is not None and focused.id == row.window
    record_change(transaction, UPDATED, TabUpdate(tab_of(row), changed, is_focused))


def set_order(transaction: Transaction, order: Sequence[TabRow], moved: Sequence[TabRow] = ()) -> None:
    """Set the order of a window's tabs. Records a move for each tab of `moved`."""
    transaction.tabs.set_positions((row.id, place) for place, row in enumerate(order) if row.position != place)
    places = {row.id: place for place, row in enumerate(order)}
    for row in moved:
        if row.position != places[row.id]:
            record_change(transaction, MOVED, TabMove(row.id, row.window, row.position, places[row.id]))


def within_pinned(order: Sequence[TabRow], place: int, *, pinned: bool) -> int:
    """The allowed position nearest to `place`: pinned tabs come first."""
    pinned_count = sum(row.pinned for row in order)
    lowest, highest = (0, pinned_count) if pinned else (pinned_count, len(order))
    return min(max(place, lowest), highest)


# ------------------------------------------------------------------------------------------------- which is active


def activate(transaction: Transaction, row: TabRow) -> None:
    """Activate a visible tab of its window."""
    if not row.active:
        record_change(transaction, ACTIVATED, switch_to(transaction, row))


def switch_to(transaction: Transaction, row: TabRow) -> TabActivation:
    """Activate a visible tab without recording it. Returns the record."""
    order = transaction.tabs.find(window=row.window)
    now = next_access_time(transaction, order)
    previous = next((other for other in order if other.active), None)
    if previous is not None:
        transaction.tabs.update(previous.id, active=0, owner=None, last_accessed=now)
        if previous.related not in (None, row.id):
            transaction.tabs.update(previous.related, owner=None)
    _clear_related_tabs(transaction, order)
    transaction.tabs.update(row.id, active=1, last_accessed=now + _INSTANT)
    return TabActivation(row.id, previous.id if previous else None, row.window)


def ensure_active(transaction: Transaction, window: int) -> None:
    """If no visible tab of a window is active, activate the one that was active last."""
    visible = [row for row in transaction.tabs.find(window=window) if not row.hidden]
    if visible and not any(row.active for row in visible):
        activate(transaction, max(visible, key=lambda row: row.last_accessed))


def next_active_tab(row: TabRow, order: Sequence[TabRow], leaving: Collection[int]) -> TabRow | None:
    """The tab that becomes active when this one and others leave the window, as in Firefox.

    Its successor, else its opener, else the next visible tab to the right, else to the left.
    """
    staying = {other.id: other for other in order if not other.hidden and other.id not in leaving}
    for chosen in (_successor(row, order, leaving), row.owner):
        if chosen in staying:
            return staying[chosen]
    after = [other for other in staying.values() if other.position > row.position]
    return after[0] if after else next(reversed(staying.values()), None)


def remove_from_successor_chains(transaction: Transaction, order: Sequence[TabRow], leaving: Collection[int]) -> None:
    """Remove tabs from successor chains: their predecessors get their successors."""
    for row in order:
        if row.id in leaving and row.successor is not None:
            transaction.tabs.update(row.id, successor=None)
        elif row.successor in leaving:
            transaction.tabs.update(row.id, successor=_successor(row, order, leaving))


def _successor(row: TabRow, order: Sequence[TabRow], leaving: Collection[int]) -> int | None:
    """The first tab of a successor chain that stays in the window."""
    successors = {other.id: other.successor for other in order}
    successor, seen = row.successor, {row.id}
    while successor is not None and successor in leaving and successor not in seen:
        seen.add(successor)
        successor = successors.get(successor)
    return None if successor in seen else successor


def _clear_related_tabs(transaction: Transaction, order: Sequence[TabRow]) -> None:
    """Clear the last tab opened from each tab, so that the next one is opened directly to its right."""
    for row in order:
        if row.related is not None:
            transaction.tabs.update(row.id, related=None)


def next_access_time(transaction: Transaction, order: Sequence[TabRow]) -> float:
    """The current time, or later: after the last access of all these tabs."""
    return max(transaction.time(), max((row.last_accessed for row in order), default=0) + _INSTANT)


# --------------------------------------------------------------------------------------------------------- closing


def close_rows(transaction: Transaction, rows: Sequence[TabRow], *, window_closing: bool = False) -> None:
    """Close tabs, and windows left without tabs. An active tab is closed last, unless its window closes too."""
    closing = {row.id for row in rows}
    for window in dict.fromkeys(row.window for row in rows):
        order = transaction.tabs.find(window=window)
        left = [row for row in order if row.id not in closing]
        going = {row.id: row for row in (rows if left else order) if row.window == window}
        active = next((row for row in going.values() if row.active), None)
        next_active = next_active_tab(active, order, closing) if active else None
        for row in sorted(going.values(), key=lambda row: row.active) if left else going.values():
            transaction.tabs.delete(row.id)
            drop_values(transaction, kind_of_tab(row.id))
            if row.hidden:
                forget_hiders(transaction, [row.id])
            record_change(transaction, REMOVED, TabRemoval(tab_of(row), window_closing or not left))
        set_order(transaction, left)
        drop_references(transaction, order, closing)
        if next_active is not None:
            activate(transaction, row_of(transaction, next_active.id))
        close_if_empty(transaction, window)


def drop_references(transaction: Transaction, order: Sequence[TabRow], leaving: Collection[int]) -> None:
    """Clear references (opener, successor) to tabs that leave the window."""
    remove_from_successor_chains(transaction, order, leaving)
    _clear_related_tabs(transaction, order)
    for row in order:
        if row.opener in leaving and row.id not in leaving:
            transaction.tabs.update(row.id, opener=None)


def close_if_empty(transaction: Transaction, window: int) -> None:
    """Close a window without tabs. The window focused before it gets the focus."""
    if transaction.tabs.find(window=window):
        return
    focused = transaction.windows.last_focused()
    transaction.windows.delete(window)
    drop_values(transaction, kind_of_window(window))
    record_change(transaction, WINDOW_REMOVED, window)
    if focused is not None and focused.id == window:
        record_change(transaction, WINDOW_FOCUSED, NO_WINDOW)
        successor = transaction.windows.last_focused()
        if successor is not None:
            record_change(transaction, WINDOW_FOCUSED, successor.id)
