"""The tables of tabs, windows and site data. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from hatbox.store.base import TabRow, WindowRow
from hatbox.store.tables.counters import Counters
from hatbox.store.tables.rows import Rows

__all__ = ["SqlSiteDataTable", "SqlTabTable", "SqlWindowTable"]

Fields = Mapping[str, str | int | float | None]

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

    def __init__(self, rows: Rows, pages: Rows, counters: Counters) -> None:
        self._rows = rows
        self._pages = pages
        self._counters = counters

    def get(self, tab: int) -> TabRow | None:
        row = self._rows.get(tab)
        return TabRow._make(row) if row else None

    def find(self, *, window: int | None = None, store: int | None = None) -> list[TabRow]:
        wanted = {name: value for name, value in (("window", window), ("store", store)) if value is not None}
        conditions = " AND ".join(f"{name} = ?" for name in wanted) or "true"
        found = self._rows.find(f"WHERE {conditions} ORDER BY window, position", tuple(wanted.values()))
        return list(map(TabRow._make, found))

    def insert(self, window: int, position: int, store: int, **fields: str | int | float | None) -> int:
        tab = self._counters.increment("tabs")
        values = {"id": tab, "window": window, "position": position, "store": store, **_as_stored(fields)}
        self._rows.insert(tuple(_NEW_TAB._replace(**values)))  # type: ignore[arg-type]  # by the names of columns
        return tab

    def update(self, tab: int, **changed: str | int | float | None) -> None:
        self._rows.update((tab,), _as_stored(changed))

    def delete(self, tab: int) -> None:
        self._rows.delete("id = ?", (tab,))
        self._pages.delete("tab = ?", (tab,))

    def set_positions(self, order: Iterable[tuple[int, int]]) -> None:
        for tab, position in order:
            self._rows.update((tab,), {"position": position})

    def page_snapshot(self, tab: int) -> bytes | None:
        row = self._pages.get(tab)
        return row[1] if row else None

    def save_page_snapshot(self, tab: int, page: bytes) -> None:
        if self._rows.get(tab) is not None:
            self._pages.put([(tab, page)])


class SqlWindowTable:
    """WindowTable in SQL. Each time a window gets the focus, its `focused` becomes the highest of all."""

    def __init__(self, rows: Rows, counters: Counters) -> None:
        self._rows = rows
        self._counters = counters

    def get(self, window: int) -> WindowRow | None:
        row = self._rows.get(window)
        return WindowRow._make(row) if row else None

    def find(self) -> list[WindowRow]:
        return list(map(WindowRow._make, self._rows.find("ORDER BY id")))

    def last_focused(self) -> WindowRow | None:
        found = self._rows.find("ORDER BY focused DESC, id LIMIT 1")
        return WindowRow._make(found[0]) if found else None

    def insert(self, **fields: str | int | None) -> int:
        window = self._counters.increment("windows")
        values = {**_as_stored(fields), "id": window}
        self._rows.insert(tuple(_NEW_WINDOW._replace(**values)))  # type: ignore[arg-type]  # as above
        return window

    def update(self, window: int, **changed: str | int | None) -> None:
        self._rows.update((window,), _as_stored(changed))

    def delete(self, window: int) -> None:
        self._rows.delete("id = ?", (window,))

    def focus(self, window: int) -> None:
        last = self.last_focused()
        self._rows.update((window,), {"focused": (last.focused if last else 0) + 1})


class SqlSiteDataTable:
    """SiteDataTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def load(self, store: int) -> list[tuple[str, bytes]]:
        return [row[:2] for row in self._rows.find("WHERE store = ? ORDER BY origin", (store,))]

    def put(self, store: int, origin: str, data: bytes) -> None:
        self._rows.put([(origin, data, store)])

    def delete(self, store: int, origin: str) -> None:
        self._rows.delete("store = ? AND origin = ?", (store, origin))

    def clear(self, store: int) -> None:
        self._rows.delete("store = ?", (store,))
