"""Recently closed tabs and windows, if the user has chosen how many: a setting of the profile. Transaction functions.

Tabs that were closed with their window are one session. Tabs that were closed before in that window go with it, as in
Firefox: they come back when it is restored, and are forgotten with it. Blank tabs and those of scripts are not
recorded. An identity that is removed takes its closed tabs with it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from hatbox.store.base import TabRow, Transaction
from hatbox.store.profile_settings import PROFILE
from hatbox.store.record_tables import ClosedTabRow
from hatbox.tabs.program_records import find_records
from hatbox.tabs.session_values import kind_of_tab, kind_of_window
from hatbox.tabs.tab_model import is_blank
from hatbox.urls.url import parse_url

__all__ = [
    "CLOSED_TABS_CHANGED",
    "CLOSED_TABS_SETTING",
    "ClosedSession",
    "ClosedTab",
    "clear_closed_tabs",
    "forget_session",
    "get_session",
    "get_sessions",
    "move_closed_tabs",
    "record_closed_tabs",
    "saved_tab",
]

CLOSED_TABS_CHANGED: Final = "tabs.closed"
"""The topic of every change of the recently closed tabs."""

CLOSED_TABS_SETTING: Final = (PROFILE, "closed_tabs")
"""Where the number is stored, for Transaction.load."""

_COLUMNS: Final = ("url", "target", "title", "icon", "pinned", "hidden", "muted", "muted_by", "discardable", "active")
_WINDOW_COLUMNS: Final = ("state", "kind", "title_preface", "left", "top", "width", "height")
_MAX_PAGE_BYTES: Final = 8 * 2**20  # of a page snapshot. A larger one is not saved: the page is loaded again

Values = list[tuple[str, str, bytes]]
"""Values that extensions have attached: extension, key, value."""

_encode = msgspec.msgpack.Encoder().encode


class ClosedTab(msgspec.Struct, frozen=True, omit_defaults=True):
    """A closed tab, as its row stores it."""

    columns: dict[str, str | int | None]
    """The columns of its row that are restored."""
    index: int
    window_id: int
    last_accessed: float
    page: msgspec.Raw = msgspec.Raw(_encode(None))
    """The snapshot of its page, or None. It is decoded only when the tab is restored: it can have megabytes."""
    values: Values = []
    window: dict[str, str | int | None] | None = None
    """The columns of its window, if the window was closed with it."""
    window_values: Values = []


class ClosedSession(msgspec.Struct, frozen=True):
    """What can be restored at once: a tab, or a window with its tabs."""

    id: int
    closed: float
    """In seconds since 1970."""
    tabs: tuple[tuple[ClosedTabRow, ClosedTab], ...]

    @property
    def is_window(self) -> bool:
        """Whether it is a window."""
        return self.tabs[0][1].window is not None


def record_closed_tabs(transaction: Transaction, window: int, rows: Sequence[TabRow], *, with_window: bool) -> None:
    """Record tabs of a window that are about to be deleted, if the user wants it."""
    limit = _limit(transaction)
    if not limit:
        return
    scripted = {tab for _, record in find_records(transaction) for tab in record.tabs}
    going = [row for row in rows if row.id not in scripted and not is_blank(row.target or row.url)]
    if not going:
        return
    indexes = transaction.tabs.indexes(going)
    now = transaction.time()
    session: int | None = None
    for row in sorted(going, key=lambda row: row.position):
        tab = saved_tab(transaction, row, indexes[row.id], window if with_window else None)
        number = transaction.closed_tabs.insert(session, row.store, now, _encode(tab))
        session = number if with_window else None
    sessions = transaction.closed_tabs.sessions()
    transaction.closed_tabs.delete(sessions[: max(0, len(sessions) - limit)])
    _emit(transaction)


def get_session(transaction: Transaction, number: int | None) -> ClosedSession | None:
    """The session with this number; with None the one that was closed last."""
    numbers = transaction.closed_tabs.sessions()[::-1]
    wanted = numbers if number is None else {number}.intersection(numbers)
    return next((found[0] for each in wanted if (found := _reachable(transaction, [each]))), None)


def get_sessions(transaction: Transaction, limit: int | None = None) -> list[ClosedSession]:
    """All sessions, or as many as were closed last. The last one is first."""
    numbers, found = transaction.closed_tabs.sessions()[::-1], list[ClosedSession]()
    while numbers and (limit is None or len(found) < limit):
        count = len(numbers) if limit is None else limit - len(found)
        found += _reachable(transaction, numbers[:count])
        numbers = numbers[count:]
    return found


def move_closed_tabs(transaction: Transaction, old: int, new: int) -> None:
    """A window was restored: tabs that were closed in it before belong to the new one."""
    for session in _of_window(transaction, old):
        ((row, tab),) = session.tabs
        transaction.closed_tabs.delete([session.id])
        data = _encode(msgspec.structs.replace(tab, window_id=new))
        transaction.closed_tabs.insert(None, row.store, row.closed, data)


def _of_window(transaction: Transaction, window: int) -> list[ClosedSession]:
    """The tabs that were closed in a window before it was closed, those closed first first."""
    found = _sessions(transaction, transaction.closed_tabs.sessions())
    return [each for each in found[::-1] if not each.is_window and each.tabs[0][1].window_id == window]


def _reachable(transaction: Transaction, numbers: Sequence[int]) -> list[ClosedSession]:
    """Those of windows, and of tabs whose window is open."""
    found = _sessions(transaction, numbers)
    return [each for each in found if each.is_window or transaction.windows.get(each.tabs[0][1].window_id) is not None]


def _sessions(transaction: Transaction, numbers: Sequence[int]) -> list[ClosedSession]:
    by_session: dict[int, list[tuple[ClosedTabRow, ClosedTab]]] = {}
    for row in transaction.closed_tabs.find(numbers):
        try:
            tab = _decode(row.data)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue  # of a later version
        by_session.setdefault(row.session, []).append((row, tab))
    found = [ClosedSession(number, tabs[0][0].closed, tuple(tabs)) for number, tabs in by_session.items()]
    return found[::-1]


def forget_session(transaction: Transaction, session: int) -> None:
    """Delete a session. That of a window takes the tabs with it that were closed in the window before."""
    found = _sessions(transaction, [session])
    window = found[0].tabs[0][1].window_id if found and found[0].is_window else None
    with_window = [] if window is None else _of_window(transaction, window)
    transaction.closed_tabs.delete([session, *(each.id for each in with_window)])
    _emit(transaction)


def clear_closed_tabs(
    transaction: Transaction, since: float | None = None, hosts: Collection[str] | None = None
) -> None:
    """Delete all sessions; only those that were closed at this time or later, and with a page of these hosts."""
    going = {
        session.id
        for session in _sessions(transaction, transaction.closed_tabs.sessions())
        if (since is None or session.closed >= since)
        and (hosts is None or any(_host_of(tab) in hosts for _, tab in session.tabs))
    }
    if going:
        transaction.closed_tabs.delete(going)
        _emit(transaction)


def _host_of(tab: ClosedTab) -> str:
    parsed = parse_url(str(tab.columns.get("url") or ""))
    return "" if parsed is None else parsed.host + parsed.port_suffix


def _limit(transaction: Transaction) -> int:
    stored = transaction.settings.get(*CLOSED_TABS_SETTING)
    if stored is None:
        return 0
    try:
        return max(0, msgspec.json.decode(stored, type=int))
    except (msgspec.MsgspecError, UnicodeDecodeError):  # of a later version: as if it was not set
        return 0


def saved_tab(transaction: Transaction, row: TabRow, index: int, window: int | None) -> ClosedTab:
    """What restores a tab that is about to be closed. `window` is the id of its window, if that closes with it."""
    columns = row._asdict()
    page = transaction.tabs.page_snapshot(row.id)
    window_row = None if window is None else transaction.windows.get(window)
    return ClosedTab(
        {name: columns[name] for name in _COLUMNS},
        index,
        row.window,
        row.last_accessed,
        msgspec.Raw(_encode(page if page is not None and len(page) <= _MAX_PAGE_BYTES else None)),
        transaction.extensions.find(kind_of_tab(row.id)),
        None if window_row is None else {name: getattr(window_row, name) for name in _WINDOW_COLUMNS},
        [] if window is None else transaction.extensions.find(kind_of_window(window)),
    )


def _emit(transaction: Transaction) -> None:
    transaction.changes.append(CLOSED_TABS_CHANGED, b"null")


_decode = msgspec.msgpack.Decoder(ClosedTab).decode
