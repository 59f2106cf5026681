"""The contract of the tables of history, bookmarks and recently closed tabs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

__all__ = [
    "BookmarkRow",
    "BookmarkTable",
    "ClosedTabRow",
    "ClosedTabTable",
    "HistoryTable",
    "PageRow",
    "VisitRow",
]


class PageRow(NamedTuple):
    """A visited page in the history of a cookie store."""

    id: int
    store: int
    url: str
    title: str
    visits: int
    """The number of its visits."""
    typed: int
    """How many of them were typed by the user."""
    last_visit: float
    """In seconds since 1970."""


class VisitRow(NamedTuple):
    """A visit of a page."""

    id: int
    store: int
    page: int
    """The id of the page."""
    visited: float
    """In seconds since 1970."""
    transition: str
    """How the user came there, as history.TransitionType."""
    referrer: int
    """The visit from which a link was followed; 0 for none."""


class BookmarkRow(NamedTuple):
    """A bookmark, a folder or a separator."""

    id: str
    parent: str
    """The id of its folder; empty for the root."""
    position: int
    """Its index in the folder."""
    kind: str
    """bookmark, folder or separator."""
    url: str
    title: str
    added: float
    """In seconds since 1970."""
    modified: float
    """In seconds since 1970. Of a folder, also when its contents were changed."""


class ClosedTabRow(NamedTuple):
    """A recently closed tab."""

    id: int
    session: int
    """The same in all tabs that were closed with their window."""
    store: int
    closed: float
    """In seconds since 1970."""
    data: bytes
    """The tab, as hatbox.tabs.closed_tabs encodes it."""


class HistoryTable(Protocol):
    """The visited pages, each with its visits, by cookie store. 0 is the default store."""

    def find(self, url: str) -> list[PageRow]:
        """The pages with this URL, in all cookie stores."""

    def get(self, store: int, url: str) -> PageRow | None:
        """The page with this URL, or None."""

    def page(self, store: int, page: int) -> PageRow | None:
        """The page with this id, or None."""

    def load(self, store: int) -> list[PageRow]:
        """All pages of a cookie store, by id."""

    def latest(
        self, limit: int, *, since: float, store: int | None = None, before: tuple[float, int] | None = None
    ) -> list[PageRow]:
        """Pages whose last visit is at `since` or later, the latest first.

        `before` is the last visit and the id of the last page that was read.
        """

    def put(self, row: PageRow) -> None:
        """Store a page. It replaces the one with this id."""

    def delete(self, rows: Iterable[PageRow]) -> None:
        """Delete pages with their visits."""

    def clear(self, store: int | None = None) -> None:
        """Delete all pages and visits, or those of a cookie store."""

    def is_empty(self, store: int | None = None) -> bool:
        """Whether no page is stored, or none of a cookie store."""

    def visits(self, page: PageRow) -> list[VisitRow]:
        """The visits of a page, the first one first."""

    def load_visits(self, store: int) -> list[VisitRow]:
        """All visits of a cookie store, by id."""

    def has_visit_between(self, page: PageRow, start: float, end: float) -> bool:
        """Whether a page was visited in this time, the ends included."""

    def visits_between(self, start: float, end: float, limit: int) -> list[VisitRow]:
        """The first visits in this time, the ends included, of all cookie stores."""

    def put_visits(self, rows: Iterable[VisitRow]) -> None:
        """Store visits."""

    def delete_visits(self, rows: Sequence[VisitRow]) -> None:
        """Delete visits. The numbers in their pages are not changed."""

    def count_visits(self) -> int:
        """The number of all visits."""

    def next_id(self, time: float) -> int:
        """An id that no page and no visit has. `time` is the current time."""


class BookmarkTable(Protocol):
    """The bookmarks, folders and separators."""

    def get(self, bookmark: str) -> BookmarkRow | None:
        """One row, or None."""

    def children(self, parent: str, start: int = 0) -> list[BookmarkRow]:
        """What a folder contains, in order, from an index on."""

    def next_position(self, parent: str) -> int:
        """The index at the end of a folder."""

    def find(self, url: str | None = None) -> list[BookmarkRow]:
        """All rows, or the bookmarks with this URL, by id."""

    def batch(self, after: str, limit: int) -> list[BookmarkRow]:
        """The rows whose ids follow this one, by id. The first ones follow the empty text."""

    def recent(self, limit: int) -> list[BookmarkRow]:
        """The bookmarks that were added last, the last one first."""

    def count(self) -> int:
        """The number of rows."""

    def put(self, rows: Iterable[BookmarkRow]) -> None:
        """Store rows. They replace those with the same id."""

    def delete(self, bookmarks: Collection[str]) -> None:
        """Delete rows, by id. What a folder contains is not deleted with it."""


class ClosedTabTable(Protocol):
    """The recently closed tabs. Tabs that were closed with their window have one session."""

    def find(self, sessions: Collection[int]) -> list[ClosedTabRow]:
        """The tabs of sessions, the first closed first."""

    def sessions(self) -> list[int]:
        """All sessions, the first one first."""

    def insert(self, session: int | None, store: int, closed: float, data: bytes) -> int:
        """Add a tab to a session, or with None to a new one. Returns the session."""

    def delete(self, sessions: Collection[int]) -> None:
        """Delete sessions."""

    def clear(self, store: int | None = None) -> None:
        """Delete all tabs, or those of a cookie store."""
