"""Highlights several tabs of a window: the active tab, and others beside it. Transaction functions.

Activating a tab ends it, see strip.switch_to.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.first_tab import use_first_tab
from hatbox.tabs.strip import switch_to
from hatbox.tabs.tab_flags import HIGHLIGHTED, with_flag
from hatbox.tabs.tab_model import ACTIVATED, HIGHLIGHT_CHANGED, TabActivation, TabHighlight, record_change
from hatbox.tabs.tab_updates import record_update, row_of
from hatbox.tabs.visibility import show_without_event

__all__ = ["highlight_tabs", "highlighted_rows", "set_highlighted"]


def highlighted_rows(transaction: Transaction, window: int) -> list[TabRow]:
    """The highlighted tabs of a window, in their order. The active tab is one of them."""
    return [row for row in transaction.tabs.find(window=window) if row.active or row.discardable & HIGHLIGHTED]


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
    _set_flags(transaction, window, {row.id for row in rows})
    after = tuple(row.id for row in highlighted_rows(transaction, window))
    if activation is not None:
        several = after if len(after) > 1 else ()
        record_change(
            transaction, ACTIVATED, TabActivation(first.id, activation.previous_tab_id, window, highlighted=several)
        )
    elif before != list(after):
        record_change(transaction, HIGHLIGHT_CHANGED, TabHighlight(after, window))


def set_highlighted(transaction: Transaction, row: TabRow, *, highlighted: bool, activate: bool) -> None:
    """Highlight a tab beside others, and activate it if requested; or end this. One tab always is highlighted."""
    others = [each for each in highlighted_rows(transaction, row.window) if each.id != row.id]
    if not highlighted:
        if others:
            highlight_tabs(transaction, sorted(others, key=lambda each: -each.active))
        return
    if row.active or row.discardable & HIGHLIGHTED:
        return
    chosen = [*others, row]
    highlight_tabs(transaction, sorted(chosen, key=lambda each: each.id != row.id if activate else -each.active))


def _set_flags(transaction: Transaction, window: int, highlighted: Collection[int]) -> None:
    """Flag these tabs, the active one too, unless it is the only one."""
    for row in transaction.tabs.find(window=window):
        flags = with_flag(row.discardable, HIGHLIGHTED, on=len(highlighted) > 1 and row.id in highlighted)
        if flags != row.discardable:
            transaction.tabs.update(row.id, discardable=flags)
