"""Makes history and bookmarks consistent after a repair: rows of them may be lost, or of different commits."""

from __future__ import annotations

import sqlite3
import time

from hatbox.store.record_tables import BookmarkRow
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.tables.bookmark_tree import as_tree
from hatbox.store.tables.schema import BOOKMARKS, HISTORY

__all__ = ["repair_records"]

_COUNTED = (
    "SELECT history.store, history.id, sum(visits.transition NOT IN ('manual_subframe', 'reload')), "
    "sum(visits.transition = 'typed'), max(visits.visited) "
    "FROM history JOIN visits ON visits.page = history.id AND visits.store = history.store "
    "GROUP BY history.store, history.id"
)


def repair_records(connection: sqlite3.Connection) -> None:
    """Count the visits of each page again, and let every bookmark be in a folder that exists."""
    connection.execute(
        "DELETE FROM visits WHERE NOT EXISTS "
        "(SELECT 1 FROM history WHERE history.id = visits.page AND history.store = visits.store)"
    )
    pages = SqliteRows(connection, HISTORY)
    for store, page, visits, typed, last_visit in connection.execute(_COUNTED).fetchall():
        pages.update((store, page), {"visits": visits, "typed": typed, "last_visit": last_visit})
    bookmarks = SqliteRows(connection, BOOKMARKS)
    rows = [BookmarkRow._make(row) for row in bookmarks.find("ORDER BY id")]
    if rows:
        bookmarks.put(as_tree(rows, time.time()))
