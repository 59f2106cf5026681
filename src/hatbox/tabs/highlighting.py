"""Highlights several tabs of a window: the active tab, and others beside it. Transaction functions.

Activating a tab ends it, see strip.switch_to.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.first_tab import use_first_tab
from hatbox.tabs.strip import switch_to
from hatbox.tabs.tab_model import ACTIVATED, HIGHLIGHT_CHANGED, TabActivation, TabHighlight, record_change
from hatbox.tabs.tab_updates import change, record_update, row_of
from hatbox.tabs.visibility import show_without_event

__all__ = ["highlight_tabs", "highlighted_rows", "set_highlighted"]


def highlighted_rows(transaction: Transaction, window: int) -> list[TabRow]:
    """The highlighted tabs of a window, in their order. The active tab is one of them."""
    return [row for row in transaction.tabs.find(window=window) if row.active or row.highlighted]


def highlight_tabs(transaction: Transaction, rows: Sequence[TabRow]) -> None:
    """Highlight these tabs of one window and no others. The first becomes active."""
    window = rows[0].window
    before = [row.id for row in highlighted_rows(transaction, window)]
    first, shown = show_without_event(transaction, rows[0])
    activation: TabActivation | None = None
    if not first.active:
        use_first_tab(transaction, first.id)
        activation = switch_to(transaction, first)
        if shown:
            record_update(transaction, row_of(transaction, first.id), "hidden")
    _mark(transaction, window, {row.id for row in rows})
    after = tuple(row.id for row in highlighted_rows(transaction, window))
    if activation is not None:
        several = after if len(after) > 1 else ()
        record_change(
            transaction, ACTIVATED, TabActivation(first.id, activation.previous_tab_id, window, highlighted=several)
        )
    elif before != list(after):
        record_change(transaction, HIGHLIGHT_CHANGED, TabHighlight(after, window))


def set_highlighted(transaction: Transaction, row: TabRow, *, highlighted: bool, activate: bool) -> None:
    """Highlight a tab beside others, and activate it if requested; or end this. One tab is always highlighted."""
    others = [each for each in highlighted_rows(transaction, row.window) if each.id != row.id]
    if not highlighted:
        if others:
            highlight_tabs(transaction, sorted(others, key=lambda each: -each.active))
        return
    if row.active or row.highlighted:
        return
    chosen = [*others, row]
    highlight_tabs(transaction, sorted(chosen, key=lambda each: each.id != row.id if activate else -each.active))


def _mark(transaction: Transaction, window: int, highlighted: Collection[int]) -> None:
    """Mark these tabs, the active one too, unless it is the only one."""
    for row in transaction.tabs.find(window=window):
        change(transaction, row, highlighted=int(len(highlighted) > 1 and row.id in highlighted))
