"""Discards tabs: they stay, without a page, until they are activated, navigated or reloaded. Transaction functions."""

from __future__ import annotations

from collections.abc import Sequence

from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.tab_updates import change, row_of, rows_of

__all__ = ["discard_tabs"]


def discard_tabs(transaction: Transaction, tab_ids: Sequence[int]) -> None:
    """Discard tabs, except active ones. An engine closes their pages."""
    for row in rows_of(transaction, tab_ids):
        if not row.active and not row.discarded:
            _stop_loading(transaction, row)
            change(transaction, row_of(transaction, row.id), discarded=1)


def _stop_loading(transaction: Transaction, row: TabRow) -> None:
    """End the navigation of a tab. It gets a new id, so that later reports of the engine are ignored."""
    if row.loaded == row.navigation:
        return
    number = row.navigation + 1
    transaction.tabs.update(
        row.id, url=row.target or row.url, target="", navigation=number, begun=number, loaded=number
    )
