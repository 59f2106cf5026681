"""The tables of tabs, windows and site data. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from hatbox.store.base import NO_GROUP, TabRow, TabText, WindowRow, WindowSummary
from hatbox.store.record_tables import ClosedTabRow
from hatbox.store.tables.counters import Counters
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.tab_order import TabOrder

__all__ = ["SqlClosedTabTable", "SqlSiteDataTable", "SqlTabTable", "SqlWindowTable"]

Fields = Mapping[str, str | int | float | None]

_MAX_PARAMETERS: Final = 500  # of one statement
_SUMMARY: Final = """WHERE id IN (
    SELECT id FROM tabs WHERE window = ? AND active = 1
    UNION ALL SELECT id FROM tabs WHERE window = ? AND related IS NOT NULL
    UNION ALL SELECT id FROM (SELECT id FROM tabs WHERE window = ? ORDER BY position DESC LIMIT 1) AS a
    UNION ALL SELECT id FROM (SELECT id FROM tabs WHERE window = ? AND hidden = 0
        ORDER BY last_accessed DESC, position LIMIT 1) AS b
    UNION ALL SELECT id FROM (SELECT id FROM tabs WHERE window = ? AND hidden = 1
        ORDER BY last_accessed DESC, position LIMIT 1) AS c
) ORDER BY position"""
_NEIGHBOURS: Final = """WHERE id IN (
    SELECT id FROM (SELECT id FROM tabs WHERE window = ? AND hidden = 0 AND position < ? {others}
        ORDER BY position DESC LIMIT 1) AS a
    UNION ALL SELECT id FROM (SELECT id FROM tabs WHERE window = ? AND hidden = 0 AND position > ? {others}
        ORDER BY position LIMIT 1) AS b
) ORDER BY position"""
_ADJACENT: Final = """WHERE id IN (
    SELECT id FROM (SELECT id FROM tabs WHERE window = ? AND position < ? ORDER BY position DESC LIMIT 1) AS a
    UNION ALL SELECT id FROM (SELECT id FROM tabs WHERE window = ? AND position > ? ORDER BY position LIMIT 1) AS b
) ORDER BY position"""
_SIZES: Final = "store, origin, length(data)"
_LAST_FOCUSED: Final = "ORDER BY focused DESC, id LIMIT 1"

_NEW_TAB: Final = TabRow(
    id=0,
    window=0,
    position=0,
    store=0,
    url="about:blank",
    target="",
    title="",
    icon="",
    active=0,
    pinned=0,
    hidden=0,
    muted=0,
    muted_by="",
    discardable=1,
    opener=None,
    owner=None,
    related=None,
    successor=None,
    last_accessed=0.0,
    navigation=0,
    begun=0,
    loaded=0,
    status=None,
    content_type="",
    error="",
    discarded=0,
    highlighted=0,
    tab_group=NO_GROUP,
)
_NEW_WINDOW: Final = WindowRow(
    id=0, focused=0, state="normal", kind="normal", title_preface="", left=None, top=None, width=None, height=None
)


def _as_stored(fields: Fields) -> dict[str, str | int | float | None]:
    """Values as a database returns them: the checksums of 1, 1.0 and True differ."""
    return {
        name: float(value or 0) if name == "last_accessed" else int(value) if isinstance(value, bool) else value
        for name, value in fields.items()
    }


class SqlTabTable:
    """TabTable in SQL."""

    def __init__(self, rows: Rows, counts: Rows, pages: Rows, counters: Counters) -> None:
        self._rows = rows
        self._pages = pages
        self._counters = counters
        self._order = TabOrder(rows, counts)
        self.reset = self._order.reset
        self.count = self._order.count
        self.pinned_count = self._order.pinned_count
        self.indexes = self._order.indexes

    def get(self, tab: int) -> TabRow | None:
        row = self._rows.get(tab)
        return TabRow._make(row) if row else None

    def get_many(self, tabs: Collection[int]) -> list[TabRow]:
        found = {row[0]: TabRow._make(row) for ids in _parts(tabs) for row in self._rows.find(*_by_id(ids))}
        return [found[tab] for tab in dict.fromkeys(tabs) if tab in found]

    def find(self, *, window: int | None = None, store: int | None = None) -> list[TabRow]:
        return list(map(TabRow._make, self._rows.find(*_in_order(window, store))))

    def places(self) -> list[tuple[int, int, int]]:
        return self._rows.select("id, window, store", "ORDER BY window, position")

    def texts(self) -> list[TabText]:
        return self._rows.select("store, title, url, target")

    def counts_by_store(self, stores: Collection[int] | None = None) -> dict[int, int]:
        if stores is None:
            return dict(self._rows.select("store, count(*)", "GROUP BY store"))
        found: dict[int, int] = {}
        for part in _parts(stores):
            among = f"WHERE store IN ({', '.join('?' * len(part))}) GROUP BY store"
            found |= dict(self._rows.select("store, count(*)", among, tuple(part)))
        return found

    def prefetch(self, tabs: Collection[int], windows: Collection[int], stores: Collection[int]) -> None:
        """See Transaction.load."""
        for ids in _parts(tabs):
            self._rows.prefetch(*_by_id(ids))
            self._rows.prefetch(*_referring(ids))
        for window in windows:
            self._order.prefetch(window)
            self._rows.prefetch(_SUMMARY, (window,) * 5)
        for store in stores:
            self._rows.prefetch(*_in_order(None, store))

    def active(self, window: int) -> TabRow | None:
        found = self._rows.find("WHERE window = ? AND active = 1", (window,))
        return TabRow._make(found[0]) if found else None

    def summary(self, window: int) -> WindowSummary:
        self._order.prefetch(window)
        rows = [TabRow._make(row) for row in self._rows.find(_SUMMARY, (window,) * 5)]
        if rows:
            self._order.set_last(window, rows[-1].position)
        visible = [row for row in rows if not row.hidden]
        return WindowSummary(
            tab_count=self._order.count(window),
            pinned_count=self._order.pinned_count(window),
            active=next((row for row in rows if row.active), None),
            latest=max(visible, key=lambda row: row.last_accessed, default=None),
            last_accessed=max((row.last_accessed for row in rows), default=0.0),
            related=tuple(row for row in rows if row.related is not None),
        )

    def visible_neighbours(self, row: TabRow, leaving: Collection[int]) -> tuple[TabRow | None, TabRow | None]:
        place = (row.window, row.position)
        if len(leaving) > _MAX_PARAMETERS:
            order = self._rows.select("id, position", "WHERE window = ? AND hidden = 0 ORDER BY position", place[:1])
            staying = [(tab, position) for tab, position in order if tab not in leaving]
            left = [tab for tab, position in staying if position < row.position][-1:]
            right = [tab for tab, position in staying if position > row.position][:1]
            found = self.get_many([*left, *right])
        else:
            others = f"AND id NOT IN ({', '.join('?' * len(leaving))})" if leaving else ""
            rows = self._rows.find(_NEIGHBOURS.format(others=others), (*place, *leaving, *place, *leaving))
            found = [TabRow._make(each) for each in rows]
        return _beside(row, found)

    def neighbours(self, row: TabRow) -> tuple[TabRow | None, TabRow | None]:
        place = (row.window, row.position)
        return _beside(row, [TabRow._make(each) for each in self._rows.find(_ADJACENT, (*place, *place))])

    def referring(self, tabs: Collection[int]) -> list[TabRow]:
        found = {row[0]: TabRow._make(row) for ids in _parts(tabs) for row in self._rows.find(*_referring(ids))}
        return sorted(found.values(), key=lambda row: (row.window, row.position))

    def insert(
        self, window: int, index: int, store: int, *, pinned: int = 0, **fields: str | int | float | None
    ) -> TabRow:
        tab = self._counters.increment("tabs")
        position = self._order.position_at(window, index)
        pinned = int(pinned)
        place = {"id": tab, "window": window, "position": position, "store": store, "pinned": pinned}
        row = _NEW_TAB._replace(**place, **_as_stored(fields))  # type: ignore[arg-type]  # by the names of columns
        self._rows.insert(tuple(row))
        self._order.add(window, tab, index, position, pinned=pinned)
        return row

    def update(self, tab: int, **changed: str | int | float | None) -> None:
        self._rows.update((tab,), _as_stored(changed))

    def move(self, tab: int, window: int, index: int, *, pinned: int) -> None:
        row, pinned = self.get(tab), int(pinned)
        if row is None:
            return
        self._order.remove(row)
        position = self._order.position_at(window, index, moving=tab)
        self._rows.update((tab,), {"window": window, "position": position, "pinned": pinned})
        self._order.add(window, tab, index, position, pinned=pinned)

    def delete(self, tab: int) -> None:
        row = self.get(tab)
        if row is not None:
            self._order.remove(row)
            self._rows.delete_keys([(tab,)])
            self._pages.delete_keys([(tab,)])

    def page_snapshot(self, tab: int) -> bytes | None:
        row = self._pages.get(tab)
        return row[1] if row else None

    def save_page_snapshot(self, tab: int, page: bytes) -> None:
        if self._rows.get(tab) is not None:
            self._pages.put([(tab, page)])


def _beside(row: TabRow, found: Sequence[TabRow]) -> tuple[TabRow | None, TabRow | None]:
    """The tabs to the left and to the right of a tab."""
    return (
        next((each for each in found if each.position < row.position), None),
        next((each for each in found if each.position > row.position), None),
    )


def _parts(tabs: Collection[int]) -> Iterator[Sequence[int]]:
    """The ids, each once, in parts that one statement can have twice."""
    ids = list(dict.fromkeys(tabs))
    size = _MAX_PARAMETERS // 2
    return (ids[start : start + size] for start in range(0, len(ids), size))


def _in_order(window: int | None, store: int | None) -> tuple[str, Sequence[int]]:
    wanted = {name: value for name, value in (("window", window), ("store", store)) if value is not None}
    conditions = " AND ".join(f"{name} = ?" for name in wanted) or "true"
    return f"WHERE {conditions} ORDER BY window, position", tuple(wanted.values())


def _by_id(ids: Sequence[int]) -> tuple[str, Sequence[int]]:
    return f"WHERE id IN ({', '.join('?' * len(ids))})", ids


def _referring(ids: Sequence[int]) -> tuple[str, Sequence[int]]:
    each = ", ".join("?" * len(ids))
    referring = (
        f"SELECT id FROM tabs WHERE opener IN ({each}) UNION ALL SELECT id FROM tabs WHERE successor IN ({each})"
    )
    return f"WHERE id IN ({referring})", (*ids, *ids)


class SqlWindowTable:
    """WindowTable in SQL. Each time a window gets the focus, its `focused` becomes the highest of all.

    Caches during a transaction which window has the focus: every event of a tab names it.
    """

    def __init__(self, rows: Rows, counters: Counters) -> None:
        self._rows = rows
        self._counters = counters
        self.reset()

    def reset(self) -> None:
        """Discard what is cached: a new transaction starts."""
        self._focused: dict[str | None, WindowRow | None] = {}

    def prefetch(self) -> None:
        """See Transaction.load."""
        for kind in (None, _NEW_WINDOW.kind):
            self._rows.prefetch(*_last_focused(kind))

    def get(self, window: int) -> WindowRow | None:
        row = self._rows.get(window)
        return WindowRow._make(row) if row else None

    def find(self) -> list[WindowRow]:
        return list(map(WindowRow._make, self._rows.find("ORDER BY id")))

    def last_focused(self, kind: str | None = None) -> WindowRow | None:
        if kind not in self._focused:
            found = self._rows.find(*_last_focused(kind))
            self._focused[kind] = WindowRow._make(found[0]) if found else None
        return self._focused[kind]

    def insert(self, **fields: str | int | None) -> int:
        window = self._counters.increment("windows")
        values = {**_as_stored(fields), "id": window}
        self._rows.insert(tuple(_NEW_WINDOW._replace(**values)))  # type: ignore[arg-type]  # as above
        self.reset()
        return window

    def update(self, window: int, **changed: str | int | None) -> None:
        self._rows.update((window,), _as_stored(changed))
        self.reset()

    def delete(self, window: int) -> None:
        self._rows.delete_keys([(window,)])
        self.reset()

    def focus(self, window: int) -> None:
        last = self.last_focused()
        self._rows.update((window,), {"focused": (last.focused if last else 0) + 1})
        self.reset()


def _last_focused(kind: str | None) -> tuple[str, Sequence[str]]:
    return (_LAST_FOCUSED, ()) if kind is None else (f"WHERE kind = ? {_LAST_FOCUSED}", (kind,))


class SqlSiteDataTable:
    """SiteDataTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def load(self, store: int) -> list[tuple[str, bytes]]:
        return [row[:2] for row in self._rows.find("WHERE store = ? ORDER BY origin", (store,))]

    def origins(self, store: int) -> list[str]:
        return [origin for (origin,) in self._rows.select("origin", "WHERE store = ? ORDER BY origin", (store,))]

    def total_bytes(self, store: int) -> int:
        return self._rows.total_bytes(["data"], "WHERE store = ?", (store,))

    def sizes(self, stores: Collection[int] | None = None) -> list[tuple[int, str, int]]:
        if stores is None:
            return self._rows.select(_SIZES)
        wanted = list(dict.fromkeys(stores))
        found: list[tuple[int, str, int]] = []
        for start in range(0, len(wanted), _MAX_PARAMETERS):
            part = wanted[start : start + _MAX_PARAMETERS]
            found += self._rows.select(_SIZES, f"WHERE store IN ({', '.join('?' * len(part))})", part)
        return found

    def get(self, store: int, origin: str) -> bytes | None:
        row = self._rows.get(store, origin)
        return row[1] if row else None

    def put(self, store: int, origin: str, data: bytes) -> None:
        self._rows.put([(origin, data, store)])

    def delete(self, store: int, origin: str) -> None:
        self._rows.delete("store = ? AND origin = ?", (store, origin))

    def clear(self, store: int) -> None:
        self._rows.delete("store = ?", (store,))


class SqlClosedTabTable:
    """ClosedTabTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def find(self, sessions: Collection[int]) -> list[ClosedTabRow]:
        if not sessions:
            return []
        found = self._rows.find(f"WHERE session IN ({', '.join('?' * len(sessions))}) ORDER BY id", (*sessions,))
        return [ClosedTabRow._make(row) for row in found]

    def sessions(self) -> list[int]:
        return [int(session) for (session,) in self._rows.select("session", "GROUP BY session ORDER BY session")]

    def insert(self, session: int | None, store: int, closed: float, data: bytes) -> int:
        ((last,),) = self._rows.select("coalesce(max(id), 0)")
        number = max(int(last) + 1, int(closed * 1_000_000))  # as in the history: without a counter
        self._rows.insert((number, number if session is None else session, store, closed, data))
        return number if session is None else session

    def delete(self, sessions: Collection[int]) -> None:
        for session in sessions:
            self._rows.delete("session = ?", (session,))

    def clear(self, store: int | None = None) -> None:
        if store is None:
            self._rows.delete("store >= ?", (0,))
        else:
            self._rows.delete("store = ?", (store,))
