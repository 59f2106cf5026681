"""Hiding and showing: of tabs, as extensions do it, and of all of an identity.

What always holds: a hidden identity has no visible tab. So whatever makes one of its tabs visible shows the identity.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hatbox.identities.ids import cookie_store_id_of, store_user_context_id
from hatbox.identities.model import set_hidden
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs import states
from hatbox.tabs.first_tab import use_first_tab
from hatbox.tabs.hiders import forget_hiders, hidden_by_others, note_hider
from hatbox.tabs.strip import (
    activate,
    change,
    close_rows,
    ensure_active,
    next_access_time,
    record_update,
    remove_from_successor_chains,
    row_of,
    switch_to,
)
from hatbox.tabs.tab_model import ACTIVATED, record_change

__all__ = [
    "close_all",
    "hide_all",
    "hide_tabs",
    "show_abandoned",
    "show_all",
    "show_and_activate",
    "show_identity_of",
    "show_tabs",
    "show_without_event",
]


def hide_all(transaction: Transaction, cookie_store_id: str) -> None:
    """Hide every tab of an identity that is being hidden, active and pinned ones too."""
    rows = transaction.tabs.find(store=store_user_context_id(cookie_store_id))
    _hide(transaction, rows, states.TabTransition.IDENTITY_HIDDEN)


def show_all(transaction: Transaction, cookie_store_id: str) -> None:
    """Show every tab of an identity that is being shown. Each has kept its place."""
    rows = transaction.tabs.find(store=store_user_context_id(cookie_store_id))
    _show(transaction, rows, states.TabTransition.IDENTITY_SHOWN)


def close_all(transaction: Transaction, store: int) -> None:
    """Close every tab of an identity that is being removed."""
    close_rows(transaction, transaction.tabs.find(store=store))


def hide_tabs(transaction: Transaction, tab_ids: Sequence[int], extension: str | None = None) -> list[int]:
    """Hide these tabs, except active and pinned ones; returns those that were visible before.

    Tabs hidden by an extension are shown again when it ends.
    """
    rows = [row_of(transaction, tab_id) for tab_id in dict.fromkeys(tab_ids)]
    hidden = _hide(transaction, [row for row in rows if not row.active and not row.pinned], states.TabTransition.HIDE)
    if extension is not None:
        note_hider(transaction, hidden, extension)
    return hidden


def show_abandoned(transaction: Transaction, running: Collection[str]) -> None:
    """Show the tabs that were hidden by extensions that have ended, unless their identity is hidden."""
    tab_ids = hidden_by_others(transaction, running)
    forget_hiders(transaction, tab_ids)
    rows = [row for tab_id in tab_ids if (row := transaction.tabs.get(tab_id)) is not None]
    _show(transaction, [row for row in rows if not _is_hidden(transaction, row.store)], states.TabTransition.SHOW)


def show_tabs(transaction: Transaction, tab_ids: Sequence[int]) -> None:
    """Show these tabs."""
    rows = [row_of(transaction, tab_id) for tab_id in dict.fromkeys(tab_ids)]
    for store in dict.fromkeys(row.store for row in rows):
        show_identity_of(transaction, store, states.IdentityTransition.TAB_SHOWN)
    _show(transaction, [row_of(transaction, row.id) for row in rows], states.TabTransition.SHOW)


def show_and_activate(transaction: Transaction, row: TabRow) -> None:
    """Make a tab the active one of its window; a hidden one is shown by that."""
    row, shown = show_without_event(transaction, row, states.TabTransition.ACTIVATE)
    if row.active:
        return
    use_first_tab(transaction, row.id)
    activation = switch_to(transaction, row)
    if shown:
        record_update(transaction, row_of(transaction, row.id), "hidden")
    record_change(transaction, ACTIVATED, activation)


def show_without_event(transaction: Transaction, row: TabRow, why: states.TabTransition) -> tuple[TabRow, bool]:
    """Show a tab because of what happens to it, with its identity if that is hidden.

    Returns the new row, and whether it is left to the caller to tell of it. So is which tab is active.
    """
    if row.hidden:
        show_identity_of(transaction, row.store, states.IdentityTransition.TAB_SHOWN)
        row = row_of(transaction, row.id)
    hidden = states.TAB[row.hidden == 1][why]
    if hidden == (row.hidden == 1):
        return row, False
    transaction.tabs.update(row.id, hidden=int(hidden))
    forget_hiders(transaction, [row.id])
    return row_of(transaction, row.id), True


def show_identity_of(transaction: Transaction, store: int, why: states.IdentityTransition) -> None:
    """Show a hidden identity, because something of it is to be seen."""
    identity = transaction.identities.get(store) if store else None
    if identity is not None:
        was_hidden = identity[4] == 1
        hidden = states.IDENTITY[was_hidden][why]
        if hidden != was_hidden:
            set_hidden(transaction, cookie_store_id_of(store), hidden=hidden)
            show_all(transaction, cookie_store_id_of(store))


def _is_hidden(transaction: Transaction, store: int) -> bool:
    identity = transaction.identities.get(store) if store else None
    return identity is not None and identity[4] == 1


def _affected_rows(rows: Sequence[TabRow], what: states.TabTransition) -> list[TabRow]:
    """Those of the tabs that are visible before and hidden afterwards, or the other way round."""
    return [row for row in rows if states.TAB[row.hidden == 1][what] != (row.hidden == 1)]


def _hide(transaction: Transaction, rows: Sequence[TabRow], what: states.TabTransition) -> list[int]:
    """Hide tabs; where an active one is among them, first activate another. Returns those that were visible before."""
    changed = _affected_rows(rows, what)
    hiding = {row.id for row in changed}
    for row in changed:
        if row.active:
            _activate_nearest(transaction, row, hiding)
    for window in dict.fromkeys(row.window for row in changed):
        remove_from_successor_chains(transaction, transaction.tabs.find(window=window), hiding)
    for row in changed:
        change(transaction, row_of(transaction, row.id), hidden=1)
    return [row.id for row in changed]


def _activate_nearest(transaction: Transaction, row: TabRow, hiding: set[int]) -> None:
    """Activate the visible tab nearest to one that is hidden, of two the one to the right; else none is active."""
    order = transaction.tabs.find(window=row.window)
    visible = [other for other in order if not other.hidden and other.id not in hiding]
    if visible:
        place = row.position
        activate(transaction, min(visible, key=lambda other: (abs(other.position - place), other.position < place)))
    else:
        transaction.tabs.update(row.id, active=0, last_accessed=next_access_time(order))


def _show(transaction: Transaction, rows: Sequence[TabRow], what: states.TabTransition) -> None:
    """Show tabs; where no tab of their window was visible, one is active again."""
    changed = _affected_rows(rows, what)
    forget_hiders(transaction, [row.id for row in changed])
    for row in changed:
        change(transaction, row, hidden=0)
    for window in dict.fromkeys(row.window for row in changed):
        ensure_active(transaction, window)
