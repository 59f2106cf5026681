"""The root folders of the bookmarks, and restoring archived bookmarks. Transaction functions.

The rows of the root folders are written with the first bookmark: a new profile has none.
"""

from __future__ import annotations

from collections.abc import Iterable

from hatbox.store.base import Transaction
from hatbox.store.record_tables import BookmarkRow
from hatbox.store.tables.bookmark_tree import ROOT, ROOTS, as_tree, root_rows

__all__ = ["ensure_roots", "restore_bookmarks"]


def ensure_roots(transaction: Transaction) -> None:
    """Write the rows of the root folders, if they do not exist."""
    if transaction.bookmarks.get(ROOT) is None:
        transaction.bookmarks.put(root_rows(transaction.time()))


def restore_bookmarks(transaction: Transaction, rows: Iterable[BookmarkRow]) -> int:
    """Restore archived bookmarks. Those that were added since stay. Returns how many were added or changed."""
    table = transaction.bookmarks
    before = {row.id: row for row in table.find()}
    changed = [row for row in rows if row.id not in ROOTS and before.get(row.id) != row]
    if changed:
        ensure_roots(transaction)
        table.put(changed)
        table.put(as_tree(table.find(), transaction.time()))
    return len(changed)
