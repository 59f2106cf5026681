"""Hiding and showing: of tabs, as extensions do it, and of all of an identity.

What always holds: a hidden identity has no visible tab. So whatever makes one of its tabs visible shows the identity.
"""

from __future__ import annotations

from collections.abc import Sequence

from hatbox.cookie_store_ids import cookie_store_id_of, store_number
from hatbox.identity import set_hidden
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs import states
from hatbox.tabs.strip import activate, change, close_rows, ensure_active, row_of

__all__ = ["close_all", "hide_all", "hide_tabs", "reveal", "show_all", "show_and_activate", "show_tabs"]


def hide_all(transaction: Transaction, cookie_store_id: str) -> None:
    """Hide every tab of an identity that is being hidden, active and pinned ones too."""
    _step(transaction, _tabs_of(transaction, cookie_store_id), states.Tab.IDENTITY_HIDDEN)


def show_all(transaction: Transaction, cookie_store_id: str) -> None:
    """Show every tab of an identity that is being shown. Each has kept its place."""
    _step(transaction, _tabs_of(transaction, cookie_store_id), states.Tab.IDENTITY_SHOWN)


def close_all(transaction: Transaction, store: int) -> None:
    """Close every tab of an identity that is being removed."""
    close_rows(transaction, transaction.tabs.find(store=store))


def hide_tabs(transaction: Transaction, tab_ids: Sequence[int]) -> list[int]:
    """Hide these tabs, but for active and pinned ones; returns those that were visible before."""
    rows = [row_of(transaction, tab_id) for tab_id in dict.fromkeys(tab_ids)]
    free = [row for row in rows if not row.active and not row.pinned]
    return _step(transaction, free, states.Tab.HIDE)


def show_tabs(transaction: Transaction, tab_ids: Sequence[int]) -> None:
    """Show these tabs."""
    rows = [row_of(transaction, tab_id) for tab_id in dict.fromkeys(tab_ids)]
    for store in dict.fromkeys(row.store for row in rows):
        reveal(transaction, store, states.Identity.TAB_SHOWN)
    _step(transaction, [row_of(transaction, row.id) for row in rows], states.Tab.SHOW)


def show_and_activate(transaction: Transaction, row: TabRow) -> None:
    """Make a tab the active one of its window; a hidden one is shown by that."""
    if row.hidden:
        reveal(transaction, row.store, states.Identity.TAB_SHOWN)
        row = row_of(transaction, row.id)
        row = change(transaction, row, hidden=int(states.TAB[bool(row.hidden)][states.Tab.ACTIVATE]))
    activate(transaction, row)


def reveal(transaction: Transaction, store: int, why: states.Identity) -> None:
    """Show a hidden identity, because something of it is to be seen."""
    identity = transaction.identities.get(store) if store else None
    if identity is not None:
        was_hidden = identity[4] == 1
        hidden = states.IDENTITY[was_hidden][why]
        if hidden != was_hidden:
            set_hidden(transaction, cookie_store_id_of(store), hidden=hidden)
            show_all(transaction, cookie_store_id_of(store))


def _tabs_of(transaction: Transaction, cookie_store_id: str) -> list[TabRow]:
    return transaction.tabs.find(store=store_number(cookie_store_id))


def _step(transaction: Transaction, rows: Sequence[TabRow], what: states.Tab) -> list[int]:
    """Let something happen to tabs; returns the ids of those that it changed."""
    changed = [row for row in rows if states.TAB[row.hidden == 1][what] != (row.hidden == 1)]
    was_active = {row.window: row for row in changed if row.active}
    for row in changed:
        hidden = states.TAB[row.hidden == 1][what]
        change(transaction, row, hidden=int(hidden), active=0 if hidden else row.active)
    for window in dict.fromkeys(row.window for row in changed):
        ensure_active(transaction, window, was_active.get(window))
    return [row.id for row in changed]
