"""The order of the tabs in their windows: their positions, and from them their indexes.

Positions have gaps, so that a tab is inserted or moved without renumbering the others. A tab's index is the number of
tabs before it. The table tab_counts has the number of tabs in each range of positions, so that an index is found
without reading the window: the sum of the ranges before, and a count within one range.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from hatbox.store.base import TabRow
from hatbox.store.tables.rows import Rows, Value

__all__ = ["GAP", "RANGE", "TabOrder"]

GAP: Final = 2**32
"""Between the positions of neighbours, when tabs are appended."""
RANGE: Final = 128 * GAP
"""The positions that a row of tab_counts counts. Part of the profile's format."""

_MIN_MOVED: Final = 16  # tabs, when no gap is left
_MIN_STEP: Final = 2**16  # for each tab that is moved then
_MANY: Final = 150  # tabs of one window, above which reading its order is cheaper than counting
_FEW: Final = 2  # tabs of one window, up to which the ranges before them are summed by the database
_BEFORE_RANGE: Final = "(SELECT CAST(coalesce(sum(tabs), 0) AS bigint) FROM tab_counts WHERE window = ? AND block < ?)"
_IN_RANGE: Final = "(SELECT count(*) FROM tabs WHERE window = ? AND position >= ? AND position < ?)"


class _Ranges:
    """The ranges of one window: for each, the number of its tabs and of its pinned tabs."""

    def __init__(self, rows: list[tuple[int, int, int, int]]) -> None:
        self.counts = {number: (tabs, pinned) for _, number, tabs, pinned in rows}
        self.tabs = sum([tabs for _, _, tabs, _ in rows])
        self.pinned = sum([pinned for _, _, _, pinned in rows])

    def change(self, number: int, tabs: int, pinned: int) -> tuple[int, int]:
        """Change the numbers of a range; returns the new ones."""
        old = self.counts.get(number, (0, 0))
        new = self.counts[number] = (old[0] + tabs, old[1] + pinned)
        if not new[0]:
            del self.counts[number]
        self.tabs += tabs
        self.pinned += pinned
        return new

    def first_indexes(self) -> Iterator[tuple[int, int]]:
        """Each range, with the index of its first tab."""
        index = 0
        for number in sorted(self.counts):
            yield number, index
            index += self.counts[number][0]


class TabOrder:
    """Positions and indexes. Caches both during a transaction, so all changes of the order must be made here."""

    def __init__(self, tabs: Rows, counts: Rows) -> None:
        self._tabs = tabs
        self._counts = counts
        self.reset()

    def reset(self) -> None:
        """Discard what is cached: a new transaction starts."""
        self._ranges: dict[int, _Ranges] = {}
        self._indexes: dict[int, dict[int, int]] = {}
        self._last: dict[int, int] = {}

    def prefetch(self, window: int) -> None:
        """Announce that the counts of a window will be read."""
        if window not in self._ranges:
            self._counts.prefetch(*_of_window(window))

    def set_last(self, window: int, position: int) -> None:
        """Note the position of the last tab of a window, which a query has returned."""
        self._last[window] = position

    def count(self, window: int) -> int:
        """The number of tabs in a window."""
        return self._of(window).tabs

    def pinned_count(self, window: int) -> int:
        """The number of pinned tabs in a window."""
        return self._of(window).pinned

    def indexes(self, rows: Collection[TabRow]) -> dict[int, int]:
        """The index of each of these tabs, by its id."""
        missing: dict[int, list[TabRow]] = {}
        for row in rows:
            if row.id not in self._indexes.get(row.window, ()):
                missing.setdefault(row.window, []).append(row)
        for window, found in missing.items():
            if len(found) > _MANY:
                order = self._tabs.select("id", "WHERE window = ? ORDER BY position", (window,))
                self._indexes[window] = {tab: index for index, (tab,) in enumerate(order)}
            elif len(found) <= _FEW and window not in self._ranges:
                self._sum_before(window, found)
            else:
                self.prefetch(window)
                self._count_before(window, sorted(found, key=lambda row: row.position))
        return {row.id: self._indexes[row.window][row.id] for row in rows}

    def position_at(self, window: int, index: int, moving: int = 0) -> int:
        """A position such that a tab there has this index. `moving` is the id of a tab that is not counted."""
        before, after = self._neighbours(window, index, moving)
        if before is not None and after is not None and after - before < 2:
            self._make_room(window, before, moving)
            before, after = self._neighbours(window, index, moving)
        if before is None:
            return 0 if after is None else after - GAP
        return before + GAP if after is None else (before + after) // 2

    def add(self, window: int, tab: int, index: int, position: int, *, pinned: int) -> None:
        """Count a tab that gets this position and index."""
        is_last = index == self.count(window)
        self._change(window, position, 1, pinned)
        self._indexes[window] = {tab: index}
        if is_last:
            self._last[window] = position

    def remove(self, row: TabRow) -> None:
        """Do not count a tab any more: it is deleted or moved."""
        self._change(row.window, row.position, -1, -row.pinned)

    def _change(self, window: int, position: int, tabs: int, pinned: int) -> None:
        number = position // RANGE
        new = self._of(window).change(number, tabs, pinned)
        if min(new) < 0:
            raise self._damage(window)
        if new[0]:
            self._counts.put([(window, number, *new)])
        else:
            self._counts.delete_keys([(window, number)])
        self._indexes.pop(window, None)
        self._last.pop(window, None)

    def _of(self, window: int) -> _Ranges:
        ranges = self._ranges.get(window)
        if ranges is None:
            ranges = self._ranges[window] = _Ranges(self._counts.find(*_of_window(window)))
        return ranges

    def _sum_before(self, window: int, rows: list[TabRow]) -> None:
        """Find the indexes of tabs, each by itself."""
        values: list[Value] = []
        for row in rows:
            number = row.position // RANGE
            values += (window, number, window, number * RANGE, row.position)
        (found,) = self._tabs.select(", ".join([f"{_BEFORE_RANGE} + {_IN_RANGE}"] * len(rows)), "LIMIT 1", values)
        self._indexes.setdefault(window, {}).update(zip((row.id for row in rows), found, strict=True))

    def _count_before(self, window: int, rows: list[TabRow]) -> None:
        """Find the indexes of tabs, ordered by position: counts from the start of a range, or from the tab before."""
        values: list[Value] = []
        starts = [row.position // RANGE * RANGE for row in rows]
        for start, row, before in zip(starts, rows, [None, *rows], strict=False):
            values += (window, max(start, before.position) if before else start, row.position)
        (counts,) = self._tabs.select(", ".join([_IN_RANGE] * len(rows)), "LIMIT 1", values)
        ranges = self._of(window)
        indexes = self._indexes.setdefault(window, {})
        firsts = dict(ranges.first_indexes())
        if any(start // RANGE not in firsts for start in starts):
            raise self._damage(window)
        previous: tuple[int, int] | None = None  # the start of its range, and the index
        for start, row, count in zip(starts, rows, counts, strict=True):
            known = previous[1] if previous and previous[0] == start else firsts[start // RANGE]
            indexes[row.id] = known + count
            previous = (start, indexes[row.id])

    def _neighbours(self, window: int, index: int, moving: int) -> tuple[int | None, int | None]:
        """The positions of the tabs before and after a place."""
        ranges = self._of(window)
        if index >= self.count(window):
            return self._last_position(window, moving), None
        first = max(index - 1, 0)  # the index of the tab before
        number, known = max(each for each in ranges.first_indexes() if each[1] <= first)
        rest = "WHERE window = ? AND position >= ? AND id <> ? ORDER BY position LIMIT 2 OFFSET ?"
        found = self._tabs.select("position", rest, (window, number * RANGE, moving, first - known))
        places = [position for (position,) in found]
        if len(places) < 1 + (index > 0):
            raise self._damage(window)
        return (places[0], places[1]) if index else (None, places[0])

    def _last_position(self, window: int, moving: int) -> int | None:
        if window not in self._last:
            rest = "WHERE window = ? AND id <> ? ORDER BY position DESC LIMIT 1"
            found = self._tabs.select("position", rest, (window, moving))
            if not found:
                return None
            self._last[window] = found[0][0]
        return self._last[window]

    def _make_room(self, window: int, position: int, moving: int) -> None:
        """Move the tabs after a position apart: as few as possible, so that each gets a step that grows with them."""
        count = _MIN_MOVED
        while True:
            rest = "WHERE window = ? AND position > ? AND id <> ? ORDER BY position LIMIT ?"
            rows = [TabRow._make(row) for row in self._tabs.find(rest, (window, position, moving, count + 1))]
            step = (rows[-1].position - position) // (count + 1)
            if len(rows) <= count:
                step = GAP
                break
            if step >= _MIN_STEP * count:
                rows.pop()
                break
            count *= 2
        for number, row in enumerate(rows, start=1):
            self._tabs.update((row.id,), {"position": position + number * step})
            self._change(window, row.position, -1, -row.pinned)
            self._change(window, position + number * step, 1, row.pinned)

    def _damage(self, window: int) -> Exception:
        return self._counts.damage(f"the numbers of tabs in the window {window} are not those of its tabs")


def _of_window(window: int) -> tuple[str, tuple[int]]:
    return "WHERE window = ? ORDER BY block", (window,)
