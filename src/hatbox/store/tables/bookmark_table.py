"""The table of bookmarks. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from hatbox.store.record_tables import BookmarkRow
from hatbox.store.tables.rows import Rows

__all__ = ["SqlBookmarkTable"]


class SqlBookmarkTable:
    """BookmarkTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def get(self, bookmark: str) -> BookmarkRow | None:
        row = self._rows.get(bookmark)
        return None if row is None else BookmarkRow._make(row)

    def children(self, parent: str, start: int = 0) -> list[BookmarkRow]:
        found = self._rows.find("WHERE parent = ? AND position >= ? ORDER BY position, id", (parent, start))
        return [BookmarkRow._make(row) for row in found]

    def next_position(self, parent: str) -> int:
        # Not count(*), which reads all of them.
        ((last,),) = self._rows.select("coalesce(max(position), -1)", "WHERE parent = ?", (parent,))
        return int(last) + 1

    def batch(self, after: str, limit: int) -> list[BookmarkRow]:
        found = self._rows.find("WHERE id > ? ORDER BY id LIMIT ?", (after, limit))
        return [BookmarkRow._make(row) for row in found]

    def find(self, url: str | None = None) -> list[BookmarkRow]:
        where, values = ("", ()) if url is None else ("WHERE url = ? ", (url,))
        found = self._rows.find(f"{where}ORDER BY id", values)
        return [BookmarkRow._make(row) for row in found]

    def recent(self, limit: int) -> list[BookmarkRow]:
        found = self._rows.find("WHERE kind = ? ORDER BY added DESC, id LIMIT ?", ("bookmark", limit))
        return [BookmarkRow._make(row) for row in found]

    def count(self) -> int:
        ((count,),) = self._rows.select("count(*)")
        return int(count)

    def put(self, rows: Iterable[BookmarkRow]) -> None:
        self._rows.put(rows)

    def delete(self, bookmarks: Collection[str]) -> None:
        self._rows.delete_keys((bookmark,) for bookmark in bookmarks)
