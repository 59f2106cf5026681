"""Reads the rows of tabs, and changes columns, each observable change with its record.

Knows no other tab than the one that changes: the rules for the tabs of a window are in strip.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hatbox.errors import InvalidTab
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.tab_model import NAVIGATED, UPDATED, TabUpdate, record_change, tab_of

__all__ = ["change", "load_discarded", "record_update", "row_of", "rows_of", "undiscarded"]

_OBSERVED_COLUMNS: Final = {  # columns whose changes are recorded, in this order
    "url": "url",
    "title": "title",
    "icon": "icon",
    "pinned": "pinned",
    "hidden": "hidden",
    "muted": "muted",
    "opener": "opener_id",
    "discardable": "discardable",
    "discarded": "discarded",
}


def row_of(transaction: Transaction, tab_id: int) -> TabRow:
    """The row of a tab."""
    row = transaction.tabs.get(tab_id)
    if row is None:
        raise InvalidTab(tab_id)
    return row


def rows_of(transaction: Transaction, tab_ids: Sequence[int]) -> list[TabRow]:
    """The rows of tabs, each once, and what the rules for them read: the tabs that refer to them, and the focus."""
    transaction.load(tabs=tab_ids, last_focused=True)
    rows = transaction.tabs.get_many(tab_ids)
    if len(rows) < len(set(tab_ids)):
        found = {row.id for row in rows}
        raise InvalidTab(next(tab_id for tab_id in tab_ids if tab_id not in found))
    return rows


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
    record_change(transaction, UPDATED, TabUpdate(tab_of(transaction, row), changed, is_focused))


def undiscarded(transaction: Transaction, row: TabRow) -> TabRow:
    """The row of a tab that is about to load a page: it is not discarded any more."""
    return change(transaction, row, discarded=0)


def load_discarded(transaction: Transaction, row: TabRow) -> None:
    """Request the page of a discarded tab that becomes active."""
    row = undiscarded(transaction, row)
    new = row._replace(target=row.url, navigation=row.navigation + 1)
    transaction.tabs.update(row.id, target=new.target, navigation=new.navigation)
    record_change(transaction, NAVIGATED, tab_of(transaction, new))
