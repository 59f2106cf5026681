"""Hides and shows tabs: single tabs for extensions, or all tabs of an identity.

Invariant: a hidden identity has no visible tab. Showing, activating or opening one of its tabs shows the identity.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hatbox.identity.ids import cookie_store_id_of, user_context_id_of
from hatbox.identity.model import set_hidden
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.first_tab import use_first_tab
from hatbox.tabs.hiders import forget_hiders, hidden_by_others, note_hider
from hatbox.tabs.strip import (
    activate,
    change,
    clear_highlights,
    close_rows,
    ensure_active,
    next_access_time,
    record_update,
    remove_from_successor_chains,
    row_of,
    rows_of,
    switch_to,
)
from hatbox.tabs.tab_model import ACTIVATED, record_change

__all__ = [
    "close_identity_tabs",
    "hide_again",
    "hide_identity_tabs",
    "hide_tabs",
    "show_abandoned",
    "show_again",
    "show_and_activate",
    "show_identity_of",
    "show_identity_tabs",
    "show_tabs",
    "show_without_event",
]


def hide_identity_tabs(transaction: Transaction, cookie_store_id: str) -> None:
    """Hide every tab of an identity that is being hidden, active and pinned ones too."""
    _hide(transaction, transaction.tabs.find(store=user_context_id_of(cookie_store_id)))


def show_identity_tabs(transaction: Transaction, cookie_store_id: str) -> None:
    """Show every tab of an identity that is being shown, at its old position."""
    _show(transaction, transaction.tabs.find(store=user_context_id_of(cookie_store_id)))


def close_identity_tabs(transaction: Transaction, user_context_id: int) -> None:
    """Close every tab of an identity that is being removed."""
    close_rows(transaction, transaction.tabs.find(store=user_context_id))


def hide_again(transaction: Transaction, rows: Sequence[TabRow]) -> None:
    """Hide tabs that were hidden before, active and pinned ones too. The identity is not changed."""
    _hide(transaction, rows)


def show_again(transaction: Transaction, rows: Sequence[TabRow]) -> None:
    """Show tabs that were visible before. The identity is not changed."""
    _show(transaction, rows)


def hide_tabs(transaction: Transaction, tab_ids: Sequence[int], extension: str | None = None) -> list[int]:
    """Hide these tabs, except active and pinned ones. Returns the ids of the tabs that were visible.

    Tabs hidden by an extension are shown again when it ends.
    """
    rows = rows_of(transaction, tab_ids)
    hidden = _hide(transaction, [row for row in rows if not row.active and not row.pinned])
    if extension is not None:
        note_hider(transaction, hidden, extension)
    return hidden


def show_abandoned(transaction: Transaction, running: Collection[str]) -> None:
    """Show the tabs that were hidden by extensions that have ended, unless their identity is hidden."""
    tab_ids = hidden_by_others(transaction, running)
    forget_hiders(transaction, tab_ids)
    rows = transaction.tabs.get_many(tab_ids)
    _show(transaction, [row for row in rows if not _is_hidden(transaction, row.store)])


def show_tabs(transaction: Transaction, tab_ids: Sequence[int]) -> None:
    """Show these tabs."""
    rows = rows_of(transaction, tab_ids)
    for store in dict.fromkeys(row.store for row in rows):
        show_identity_of(transaction, store)
    _show(transaction, transaction.tabs.get_many(tab_ids))


def show_and_activate(transaction: Transaction, row: TabRow) -> None:
    """Activate a tab of its window. A hidden tab is shown first."""
    row, shown = show_without_event(transaction, row)
    if row.active:
        return
    use_first_tab(transaction, row.id)
    activation = switch_to(transaction, row)
    if shown:
        record_update(transaction, row_of(transaction, row.id), "hidden")
    record_change(transaction, ACTIVATED, activation)


def show_without_event(transaction: Transaction, row: TabRow) -> tuple[TabRow, bool]:
    """Show a tab, and its identity if that is hidden.

    Returns the new row, and whether the caller has to record the update. The active tab does not change.
    """
    if row.hidden:
        show_identity_of(transaction, row.store)
        row = row_of(transaction, row.id)
    if not row.hidden:
        return row, False
    transaction.tabs.update(row.id, hidden=0)
    forget_hiders(transaction, [row.id])
    return row_of(transaction, row.id), True


def show_identity_of(transaction: Transaction, store: int) -> None:
    """Show the identity of a cookie store, with all its tabs, if it is hidden."""
    if _is_hidden(transaction, store):
        set_hidden(transaction, cookie_store_id_of(store), hidden=False)
        show_identity_tabs(transaction, cookie_store_id_of(store))


def _is_hidden(transaction: Transaction, store: int) -> bool:
    identity = transaction.identities.get(store) if store else None
    return identity is not None and identity[4] == 1


def _hide(transaction: Transaction, rows: Sequence[TabRow]) -> list[int]:
    """Hide tabs, after activating another tab in place of an active one. Returns the ids of those that were visible."""
    changed = [row for row in rows if not row.hidden]
    hiding = [row.id for row in changed]
    active = [row for row in changed if row.active]
    transaction.load(tabs=hiding, windows=[row.window for row in active], last_focused=True)
    transaction.tabs.indexes(changed)  # of all in one query, for the events
    referring = transaction.tabs.referring(hiding)
    for row in active:
        _activate_nearest(transaction, row, hiding)
    remove_from_successor_chains(transaction, changed, referring)
    for row in changed:
        if row.successor is not None:
            transaction.tabs.update(row.id, successor=None)
        change(transaction, row_of(transaction, row.id), hidden=1)
    return hiding


def _activate_nearest(transaction: Transaction, row: TabRow, hiding: Collection[int]) -> None:
    """Activate the nearest visible tab, on a tie the right one. Without a visible tab none is active."""
    summary = transaction.tabs.summary(row.window)
    left, right = transaction.tabs.visible_neighbours(row, hiding)
    if left is not None and right is not None:
        indexes = transaction.tabs.indexes([left, row, right])
        is_left_nearer = indexes[row.id] - indexes[left.id] < indexes[right.id] - indexes[row.id]
        activate(transaction, left if is_left_nearer else right, summary)
    elif (only := left or right) is not None:
        activate(transaction, only, summary)
    else:
        clear_highlights(transaction, row)
        transaction.tabs.update(row.id, active=0, last_accessed=next_access_time(transaction, summary))


def _show(transaction: Transaction, rows: Sequence[TabRow]) -> None:
    """Show tabs. In a window without a visible tab, one becomes active."""
    changed = [row for row in rows if row.hidden]
    forget_hiders(transaction, [row.id for row in changed])
    windows = dict.fromkeys(row.window for row in changed)
    transaction.load(windows=windows, last_focused=True)
    transaction.tabs.indexes(changed)  # of all in one query, for the events
    inactive = [window for window in windows if transaction.tabs.summary(window).active is None]
    for row in changed:
        change(transaction, row, hidden=0)
    for window in inactive:
        ensure_active(transaction, window)
