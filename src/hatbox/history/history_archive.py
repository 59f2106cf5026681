"""The history of one cookie store, as the trash and archives contain it. Transaction functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from hatbox.history.visits import counted
from hatbox.store.base import Transaction
from hatbox.store.record_tables import PageRow, VisitRow

__all__ = ["ArchivedHistory", "read_history", "replace_history"]

ArchivedHistory: TypeAlias = tuple[list[PageRow], list[VisitRow]]
"""The pages, and their visits."""


def read_history(transaction: Transaction, store: int) -> ArchivedHistory:
    """The history of a cookie store."""
    pages = transaction.history.load(store)
    return pages, transaction.history.load_visits(store) if pages else []


def replace_history(transaction: Transaction, store: int, pages: Sequence[PageRow], visits: Iterable[VisitRow]) -> bool:
    """Make the history of a cookie store equal to this one. Returns whether it was changed.

    Another program may have made it: visits without a page are left out, pages without visits too, and numbers are
    counted again.
    """
    table = transaction.history
    wanted_pages, wanted_visits = _consistent(store, pages, visits)
    if (table.load(store), table.load_visits(store)) == (wanted_pages, wanted_visits):
        return False
    table.clear(store)
    for page in wanted_pages:
        table.put(page)
    table.put_visits(wanted_visits)
    return True


def _consistent(store: int, pages: Sequence[PageRow], visits: Iterable[VisitRow]) -> ArchivedHistory:
    by_page: dict[int, list[VisitRow]] = {page.id: [] for page in pages}
    for visit in visits:
        if visit.page in by_page:
            by_page[visit.page].append(visit._replace(store=store))
    found = {page.url: page for page in pages if by_page[page.id]}  # each URL once
    kept = [counted(page._replace(store=store), by_page[page.id]) for page in found.values()]
    kept.sort(key=lambda page: page.id)
    return kept, sorted((visit for page in kept for visit in by_page[page.id]), key=lambda visit: visit.id)
