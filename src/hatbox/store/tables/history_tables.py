"""The tables of visited pages, of visits and of bookmarks. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from hatbox.store.record_tables import BookmarkRow, PageRow, VisitRow
from hatbox.store.tables.rows import Rows

__all__ = ["SqlBookmarkTable", "SqlHistoryTable"]


class SqlHistoryTable:
    """HistoryTable in SQL."""

    def __init__(self, pages: Rows, visits: Rows) -> None:
        self._pages = pages
        self._visits = visits

    def find(self, url: str) -> list[PageRow]:
        return [PageRow._make(row) for row in self._pages.find("WHERE url = ? ORDER BY store", (url,))]

    def get(self, store: int, url: str) -> PageRow | None:
        found = self._pages.find("WHERE url = ? AND store = ?", (url, store))
        return PageRow._make(found[0]) if found else None

    def page(self, store: int, page: int) -> PageRow | None:
        row = self._pages.get(store, page)
        return None if row is None else PageRow._make(row)

    def load(self, store: int) -> list[PageRow]:
        return [PageRow._make(row) for row in self._pages.find("WHERE store = ? ORDER BY id", (store,))]

    def latest(
        self, limit: int, *, since: float, store: int | None = None, before: tuple[float, int] | None = None
    ) -> list[PageRow]:
        where, values = "WHERE last_visit >= ?", [since, *([] if before is None else [*before])]
        if before is not None:
            where += " AND (last_visit, id) < (?, ?)"
        if store is not None:
            where += " AND store = ?"
            values.append(store)
        found = self._pages.find(f"{where} ORDER BY last_visit DESC, id DESC LIMIT ?", (*values, limit))
        return [PageRow._make(row) for row in found]

    def put(self, row: PageRow) -> None:
        self._pages.put([row])

    def delete(self, rows: Iterable[PageRow]) -> None:
        for row in rows:
            self._visits.delete("page = ? AND store = ?", (row.id, row.store))
            self._pages.delete_keys([(row.store, row.id)])

    def clear(self, store: int | None = None) -> None:
        for rows in (self._visits, self._pages):
            if store is None:
                rows.delete("store >= ?", (0,))
            else:
                rows.delete("store = ?", (store,))

    def is_empty(self, store: int | None = None) -> bool:
        if store is None:
            return not self._pages.select("1", "LIMIT 1")
        return not self._pages.select("1", "WHERE store = ? LIMIT 1", (store,))

    def visits(self, page: PageRow) -> list[VisitRow]:
        found = self._visits.find("WHERE page = ? AND store = ? ORDER BY visited, id", (page.id, page.store))
        return [VisitRow._make(row) for row in found]

    def load_visits(self, store: int) -> list[VisitRow]:
        return [VisitRow._make(row) for row in self._visits.find("WHERE store = ? ORDER BY id", (store,))]

    def has_visit_between(self, page: PageRow, start: float, end: float) -> bool:
        where = "WHERE page = ? AND store = ? AND visited >= ? AND visited <= ? LIMIT 1"
        return bool(self._visits.select("1", where, (page.id, page.store, start, end)))

    def visits_between(self, start: float, end: float, limit: int) -> list[VisitRow]:
        where = "WHERE visited >= ? AND visited <= ? ORDER BY visited, id LIMIT ?"
        return [VisitRow._make(row) for row in self._visits.find(where, (start, end, limit))]

    def put_visits(self, rows: Iterable[VisitRow]) -> None:
        self._visits.put(rows)

    def delete_visits(self, rows: Sequence[VisitRow]) -> None:
        self._visits.delete_keys((row.store, row.id) for row in rows)

    def count_visits(self) -> int:
        ((count,),) = self._visits.select("count(*)")
        return int(count)

    def next_id(self, time: float) -> int:
        # About the time in microseconds: without a counter, and an id is used again only if the clock was set back.
        ((visit,),) = self._visits.select("coalesce(max(id), 0)")
        ((page,),) = self._pages.select("coalesce(max(id), 0)")
        return max(int(time * 1_000_000), int(visit) + 1, int(page) + 1)


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
