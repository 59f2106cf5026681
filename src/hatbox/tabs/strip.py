"""The tabs of one window: their order, the active tab, updates and closing.

Invariants: pinned tabs come first; a window with visible tabs has exactly one active tab, which is visible. A window
without tabs is closed. A rule reads the tabs that it concerns, never the whole window.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from hatbox.store.base import TabRow, Transaction, WindowSummary
from hatbox.tabs.closed_tabs import CLOSED_TABS_SETTING, record_closed_tabs
from hatbox.tabs.hiders import forget_hiders
from hatbox.tabs.identity_removal import delete_unused_identities, identities_until_last_tab, places_of_temporary
from hatbox.tabs.program_records import ProgramRecord
from hatbox.tabs.session_values import drop_values, kind_of_tab, kind_of_window
from hatbox.tabs.tab_groups import drop_groups, groups_of
from hatbox.tabs.tab_model import (
    ACTIVATED,
    NO_WINDOW,
    REMOVED,
    WINDOW_FOCUSED,
    WINDOW_REMOVED,
    TabActivation,
    TabRemoval,
    record_change,
    tabs_of,
)
from hatbox.tabs.tab_updates import change, load_discarded, record_update, row_of, rows_of

__all__ = [
    "activate",
    "change",
    "clear_highlights",
    "clear_related_tabs",
    "close_if_empty",
    "close_rows",
    "drop_references",
    "ensure_active",
    "next_access_time",
    "next_active_tab",
    "record_update",
    "remove_from_successor_chains",
    "row_of",
    "rows_of",
    "switch_to",
    "within_pinned",
]

_INSTANT: Final = 0.001  # seconds: two tabs of a window are never accessed at the same time


def within_pinned(summary: WindowSummary, index: int, *, pinned: bool) -> int:
    """The allowed index nearest to `index`: pinned tabs come first."""
    lowest, highest = (0, summary.pinned_count) if pinned else (summary.pinned_count, summary.tab_count)
    return min(max(index, lowest), highest)


# ------------------------------------------------------------------------------------------------- which is active


def activate(transaction: Transaction, row: TabRow, summary: WindowSummary | None = None) -> None:
    """Activate a visible tab of its window."""
    if not row.active:
        record_change(transaction, ACTIVATED, switch_to(transaction, row, summary))


def switch_to(transaction: Transaction, row: TabRow, summary: WindowSummary | None = None) -> TabActivation:
    """Activate a visible tab without recording it. Returns the record. `summary` is that of the window, if known."""
    summary = summary or transaction.tabs.summary(row.window)
    if row.discarded:
        load_discarded(transaction, row)
    now = next_access_time(transaction, summary)
    previous = summary.active
    if previous is not None:
        clear_highlights(transaction, previous)
        transaction.tabs.update(previous.id, active=0, owner=None, last_accessed=now)
        if previous.related not in (None, row.id):
            transaction.tabs.update(previous.related, owner=None)
    clear_related_tabs(transaction, summary)
    transaction.tabs.update(row.id, active=1, last_accessed=now + _INSTANT)
    return TabActivation(row.id, previous.id if previous else None, row.window)


def clear_highlights(transaction: Transaction, active: TabRow) -> None:
    """The active tab leaves its place: no tab of its window is highlighted beside it any more."""
    if not active.highlighted:
        return
    for row in transaction.tabs.find(window=active.window):
        change(transaction, row, highlighted=0)


def ensure_active(transaction: Transaction, window: int) -> None:
    """If no visible tab of a window is active, activate the one that was active last."""
    summary = transaction.tabs.summary(window)
    if summary.active is None and summary.latest is not None:
        activate(transaction, summary.latest, summary)


def next_active_tab(transaction: Transaction, row: TabRow, leaving: Iterable[TabRow]) -> TabRow | None:
    """The tab that becomes active when this one and others leave the window, as in Firefox.

    Its successor, else its opener, else the next visible tab to the right, else to the left.
    """
    rows = {other.id: other for other in leaving}
    for chosen in (_successor(row, rows), row.owner):
        other = transaction.tabs.get(chosen) if chosen is not None and chosen not in rows else None
        if other is not None and other.window == row.window and not other.hidden:
            return other
    left, right = transaction.tabs.visible_neighbours(row, rows)
    return right or left


def remove_from_successor_chains(
    transaction: Transaction, leaving: Iterable[TabRow], referring: Iterable[TabRow]
) -> None:
    """Remove tabs from successor chains: their predecessors, which are in `referring`, get their successors."""
    rows = {row.id: row for row in leaving}
    for row in referring:
        if row.id not in rows and row.successor in rows:
            transaction.tabs.update(row.id, successor=_successor(row, rows))


def _successor(row: TabRow, leaving: Mapping[int, TabRow]) -> int | None:
    """The first tab of a successor chain that stays in the window."""
    successor, seen = row.successor, {row.id}
    while successor is not None and successor in leaving and successor not in seen:
        seen.add(successor)
        successor = leaving[successor].successor
    return None if successor in seen else successor


def clear_related_tabs(transaction: Transaction, summary: WindowSummary) -> None:
    """Clear the last tab opened from each tab, so that the next one is opened directly to its right."""
    for row in summary.related:
        transaction.tabs.update(row.id, related=None)


def next_access_time(transaction: Transaction, summary: WindowSummary) -> float:
    """The current time, or later: after the last access of all tabs of a window."""
    return max(transaction.time(), summary.last_accessed + _INSTANT)


# --------------------------------------------------------------------------------------------------------- closing


def close_rows(transaction: Transaction, rows: Sequence[TabRow], *, window_closing: bool = False) -> None:
    """Close tabs, and windows left without tabs. An active tab is closed last, unless its window closes too.

    A temporary identity may be deleted with its last tab.
    """
    stores = dict.fromkeys(row.store for row in rows)
    temporary: dict[int, ProgramRecord] = {}
    for window in dict.fromkeys(row.window for row in rows):
        going = {row.id: row for row in rows if row.window == window}
        places = places_of_temporary(stores)
        transaction.load(tabs=going, windows=[window], values=places, settings=[CLOSED_TABS_SETTING], last_focused=True)
        tabs = {tab.id: tab for tab in tabs_of(transaction, list(going.values()))}
        is_emptied = len(going) == transaction.tabs.count(window)
        active = next((row for row in going.values() if row.active), None)
        summary = transaction.tabs.summary(window)
        referring = transaction.tabs.referring(going)
        temporary |= identities_until_last_tab(transaction, stores)  # before writes, after which all is read again
        stores = {}
        next_active = next_active_tab(transaction, active, going.values()) if active and not is_emptied else None
        if next_active is not None and active is not None:
            clear_highlights(transaction, active)
        record_closed_tabs(transaction, window, list(going.values()), with_window=window_closing or is_emptied)
        for row in sorted(going.values(), key=lambda row: row.position if is_emptied else row.active):
            transaction.tabs.delete(row.id)
            drop_values(transaction, kind_of_tab(row.id))
            if row.hidden:
                forget_hiders(transaction, [row.id])
            record_change(transaction, REMOVED, TabRemoval(tabs[row.id], window_closing or is_emptied))
        drop_groups(transaction, groups_of(going.values()), window_closing=window_closing or is_emptied)
        summary = _without(summary, going)
        drop_references(transaction, summary, going.values(), referring)
        if next_active is not None:
            activate(transaction, row_of(transaction, next_active.id), summary._replace(related=()))
        close_if_empty(transaction, window)
    delete_unused_identities(transaction, temporary)


def _without(summary: WindowSummary, leaving: Collection[int]) -> WindowSummary:
    """The active tab, and the tabs whose `related` is set, when these tabs have left the window."""
    return summary._replace(
        active=None if summary.active and summary.active.id in leaving else summary.active,
        related=tuple(row for row in summary.related if row.id not in leaving),
    )


def drop_references(
    transaction: Transaction, summary: WindowSummary, leaving: Iterable[TabRow], referring: Iterable[TabRow]
) -> None:
    """Clear references (opener, successor) to tabs that have left a window, in the tabs that stay.

    `referring` are the tabs that refer to them, and `summary` is that of the window.
    """
    remove_from_successor_chains(transaction, leaving, referring)
    clear_related_tabs(transaction, summary)
    left = {row.id for row in leaving}
    for row in referring:
        if row.opener in left and row.id not in left:
            transaction.tabs.update(row.id, opener=None)


def close_if_empty(transaction: Transaction, window: int) -> None:
    """Close a window without tabs. The window focused before it gets the focus."""
    if transaction.tabs.count(window):
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
