"""Lines of succession: which tab becomes active when a tab is closed (tabs.moveInSuccession). Transaction functions."""

from __future__ import annotations

from collections.abc import Sequence

from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.tab_updates import row_of

__all__ = ["move_in_succession"]


def move_in_succession(
    transaction: Transaction, tab_ids: Sequence[int], reference: TabRow | None, *, append: bool, insert: bool
) -> None:
    """Take tabs out of their lines of succession and chain them before `reference`, or after it with `append`.

    With `insert`, the line of `reference` goes on at the other end of the chain. Tabs of other windows than that of
    `reference`, or else of the first tab, are left out.
    """
    previous = reference.id if append and reference else None
    end = (reference.successor if append and insert else None if append else reference.id) if reference else None
    window = reference.window if reference else None
    first: int | None = None
    for row in transaction.tabs.get_many(tab_ids):
        window = row.window if window is None else window
        if row.window != window:
            continue
        successor = row_of(transaction, row.id).successor
        _replace(transaction, row.id, successor)
        if append and row.id == end:
            end = successor
        if previous is not None:
            _set(transaction, previous, row.id)
        else:
            first = row.id
        previous = row.id
    if previous is None:
        return
    if not append and insert and end is not None:
        _replace(transaction, end, first)
    _set(transaction, previous, end)


def _replace(transaction: Transaction, tab_id: int, successor: int | None) -> None:
    """Give the predecessors of a tab another successor."""
    for row in transaction.tabs.referring([tab_id]):
        if row.successor == tab_id:
            _set(transaction, row.id, successor)


def _set(transaction: Transaction, tab_id: int, successor: int | None) -> None:
    transaction.tabs.update(tab_id, successor=None if successor == tab_id else successor)
