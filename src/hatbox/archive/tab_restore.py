"""Makes the tabs of one identity equal to archived ones: opens missing tabs, closes others, leaves equal ones.

A tab that is opened has a new id: ids of closed tabs are never given out again. An archived window is, here, the window
that has most of its tabs; else the one with its id; else a new one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from hatbox.archive.identity_archive import ArchivedTab, ArchivedWindow, Columns
from hatbox.archive.restore_log import RestoreLog
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.first_tab import first_tab
from hatbox.tabs.first_window import leave_first_tab
from hatbox.tabs.hiders import note_hider
from hatbox.tabs.session_values import kind_of_tab
from hatbox.tabs.strip import close_rows, ensure_active, record_update, row_of, within_pinned
from hatbox.tabs.tab_model import CREATED, record_change, tab_of
from hatbox.tabs.visibility import hide_again, show_again
from hatbox.tabs.windows import announce_window, insert_window

__all__ = ["RestoredTabs", "restore_page", "restore_tabs"]

_CONTENT: Final = ("url", "target", "title", "icon", "pinned", "muted", "muted_by", "discardable", "discarded")
"""The columns that make two tabs equal."""
_STATE: Final = ("hidden", "last_accessed", "navigation", "begun", "loaded", "status", "content_type", "error")
"""The other columns that a restored tab has. The rest refers to its window and to other tabs."""
_WINDOW_COLUMNS: Final = ("state", "kind", "title_preface", "left", "top", "width", "height")


class RestoredTabs(NamedTuple):
    """What was done to the tabs of an identity."""

    ids: dict[int, int]
    """The id of each archived tab here, by its archived id."""
    opened: int
    closed: int


def restore_tabs(
    transaction: Transaction,
    store: int,
    tabs: Sequence[ArchivedTab],
    windows: Mapping[int, Columns] | Sequence[ArchivedWindow],
    log: RestoreLog,
    known_windows: dict[int, int] | None = None,
) -> RestoredTabs:
    """Make the tabs of a cookie store equal to these. Extends `known_windows`: the windows here by archived id."""
    known_windows = {} if known_windows is None else known_windows
    wanted_windows = dict(windows)
    unused = first_tab(transaction)
    present = [row for row in transaction.tabs.find(store=store) if row.id != unused]
    groups = [(window, list(group)) for window, group in groupby(tabs, key=_window_of)]
    chosen = _chosen_windows(groups, present)
    ids: dict[int, int] = {}
    for window, group in groups:
        ids |= _matched(group, [row for row in present if row.window == chosen.get(window)])
    for tab in tabs:
        if tab.page is not None and (here := ids.get(_id_of(tab))) is not None:
            restore_page(transaction, here, tab.page)
    _restore_visibility(transaction, tabs, ids)
    surplus = [row for row in present if row.id not in set(ids.values())]
    opened = 0
    for window, group in groups:
        missing = [tab for tab in group if _id_of(tab) not in ids]
        if missing:
            at = chosen.get(window) or _known(transaction, known_windows.get(window) or window)
            opening = _Opening(transaction, store, log, ids)
            known_windows[window] = opening.open(at, group, wanted_windows.get(window, {}))
            opened += len(missing)
        elif window in chosen:
            known_windows.setdefault(window, chosen[window])
    _restore_references(transaction, tabs, ids, opened)
    if surplus:  # last, so that a window does not close before its tabs are opened again
        log.take(len(surplus))
        close_rows(transaction, [row_of(transaction, row.id) for row in surplus])
    return RestoredTabs(ids, opened, len(surplus))


def restore_page(transaction: Transaction, tab: int, page: bytes) -> None:
    """Replace the page snapshot of a tab, if it differs."""
    if transaction.tabs.page_snapshot(tab) != page:
        transaction.tabs.save_page_snapshot(tab, page)


def _restore_visibility(transaction: Transaction, tabs: Sequence[ArchivedTab], ids: Mapping[int, int]) -> None:
    """Hide and show the tabs that exist. Their identity is as in the archive already."""
    rows = [(tab, row_of(transaction, ids[_id_of(tab)])) for tab in tabs if _id_of(tab) in ids]
    differing = [(tab, row) for tab, row in rows if tab.columns.get("hidden") != row.hidden]
    show_again(transaction, [row for _, row in differing if row.hidden])
    hide_again(transaction, [row for _, row in differing if not row.hidden])
    for tab, row in differing:
        if tab.hidden_by:
            note_hider(transaction, [row.id], tab.hidden_by)


def _window_of(tab: ArchivedTab) -> int:
    return int(tab.columns["window"] or 0)


def _id_of(tab: ArchivedTab) -> int:
    return int(tab.columns["id"] or 0)


def _content(columns: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(columns.get(name) for name in _CONTENT)


def _known(transaction: Transaction, window: int) -> int | None:
    return window if transaction.windows.get(window) is not None else None


def _chosen_windows(groups: Sequence[tuple[int, Sequence[ArchivedTab]]], present: Sequence[TabRow]) -> dict[int, int]:
    """The window here of each archived window: the one with most equal tabs. Each window is chosen once."""
    here: dict[int, Counter[tuple[object, ...]]] = {}
    for row in present:
        here.setdefault(row.window, Counter())[_content(row._asdict())] += 1
    chosen: dict[int, int] = {}
    for window, group in groups:
        wanted = Counter(_content(tab.columns) for tab in group)
        scores = {each: (wanted & found).total() for each, found in here.items()}
        best = max(scores, key=lambda each: (scores[each], each == window, -each), default=None)
        if best is not None and scores[best]:
            chosen[window] = best
            del here[best]
    return chosen


def _matched(group: Sequence[ArchivedTab], present: Sequence[TabRow]) -> dict[int, int]:
    """The equal tabs in one window, in order: the id here by archived id."""
    found: dict[int, int] = {}
    start = 0
    contents = [_content(row._asdict()) for row in present]
    for tab in group:
        try:
            place = contents.index(_content(tab.columns), start)
        except ValueError:
            continue
        found[_id_of(tab)] = present[place].id
        start = place + 1
    return found


class _Opening:
    """Opens the missing tabs of one window."""

    def __init__(self, transaction: Transaction, store: int, log: RestoreLog, ids: dict[int, int]) -> None:
        self._transaction = transaction
        self._store = store
        self._log = log
        self._ids = ids  # the tabs that exist, which it extends

    def open(self, here: int | None, group: Sequence[ArchivedTab], columns: Columns) -> int:
        """Open the tabs of a group that do not exist, each between its neighbours. Returns their window."""
        transaction = self._transaction
        new = None
        if here is None:
            fields = {name: columns[name] for name in _WINDOW_COLUMNS if name in columns}
            new = insert_window(transaction, **fields)  # type: ignore[arg-type]  # no column of a window is a float
        window = new.id if new is not None else here or 0
        for place, tab in enumerate(group):
            if _id_of(tab) not in self._ids:
                self._open_tab(window, tab, group[:place], group[place + 1 :])
        if new is None:
            leave_first_tab(transaction, window)
        ensure_active(transaction, window)
        if new is not None:
            announce_window(transaction, new)
        return window

    def _open_tab(
        self, window: int, tab: ArchivedTab, before: Sequence[ArchivedTab], after: Sequence[ArchivedTab]
    ) -> None:
        transaction, columns = self._transaction, tab.columns
        pinned = columns.get("pinned") == 1
        fields = {name: columns[name] for name in (*_CONTENT, *_STATE) if name in columns and name != "pinned"}
        low = self._index(before[::-1])
        high = self._index(after)
        summary = transaction.tabs.summary(window)
        index = max(tab.index, 0 if low is None else low + 1)
        index = min(index, summary.tab_count if high is None else high)
        row = transaction.tabs.insert(
            window, within_pinned(summary, index, pinned=pinned), self._store, pinned=int(pinned), **fields
        )
        self._ids[_id_of(tab)] = row.id
        if tab.page is not None:
            transaction.tabs.save_page_snapshot(row.id, tab.page)
        for extension, key, value in tab.values:
            transaction.extensions.put(extension, kind_of_tab(row.id), key, value)
        if tab.hidden_by:
            note_hider(transaction, [row.id], tab.hidden_by)
        if self._log.take(2):
            record_change(transaction, CREATED, tab_of(transaction, row))
            if pinned:
                record_update(transaction, row, "pinned")

    def _index(self, tabs: Sequence[ArchivedTab]) -> int | None:
        """The index of the first of these tabs that exists."""
        for tab in tabs:
            if (found := self._ids.get(_id_of(tab))) is not None:
                row = row_of(self._transaction, found)
                return self._transaction.tabs.indexes([row])[row.id]
        return None


def _restore_references(
    transaction: Transaction, tabs: Sequence[ArchivedTab], ids: Mapping[int, int], opened: int
) -> None:
    """Set openers and successors among tabs of one window, if some were opened again."""
    if not opened:
        return
    for tab in tabs:
        row = row_of(transaction, ids[_id_of(tab)])
        for name in ("opener", "successor"):
            target = tab.columns.get(name)
            other = transaction.tabs.get(ids[target]) if isinstance(target, int) and target in ids else None
            if other is not None and other.window == row.window and other.id != row.id:
                transaction.tabs.update(row.id, **{name: other.id})
