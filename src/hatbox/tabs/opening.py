"""Opening tabs, duplicating them, and bringing them to other places."""

from __future__ import annotations

import time
from collections.abc import Sequence

from hatbox.cookie_store_ids import cookie_store_id_of, store_number
from hatbox.errors import InvalidIdentity
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs import states
from hatbox.tabs.model import ATTACHED, BLANK, CREATED, DETACHED, Placement, Tab, Window, note, tab_of
from hatbox.tabs.strip import activate, arrange, change, close_if_empty, ensure_active, pass_on, row_of, within_pinned
from hatbox.tabs.visibility import reveal
from hatbox.tabs.windows import get_window, window_or_last

__all__ = ["duplicate", "move_tabs", "open_tab", "set_pinned"]


def open_tab(
    transaction: Transaction,
    url: str = BLANK,
    *,
    cookie_store_id: str,
    window_id: int | None = None,
    index: int | None = None,
    active: bool = True,
    pinned: bool = False,
    muted: bool = False,
    opener_id: int | None = None,
    title: str = "",
) -> Tab:
    """A new tab, at the end of a window where nothing else is said; `url` is loaded as soon as an engine is there.

    Where no window is named it is that which had the focus last. A hidden identity is shown first.
    """
    store = store_number(cookie_store_id)
    if store is None or (store and transaction.identities.get(store) is None):
        raise InvalidIdentity(cookie_store_id)
    window = window_or_last(transaction, window_id)
    opener = row_of(transaction, opener_id) if opener_id is not None else None
    reveal(transaction, store, states.Identity.TAB_OPENED)
    order = transaction.tabs.find(window=window.id)
    if index is None:
        index = _after_relatives(order, opener) if opener else len(order)
    place = within_pinned(order, index, pinned=pinned)
    tab_id = transaction.tabs.insert(
        window.id,
        place,
        store,
        url=BLANK,
        target="" if url == BLANK else url,
        title=title,
        pinned=int(pinned),
        muted=int(muted),
        opener=opener.id if opener else None,
        last_accessed=time.time(),
        navigation=int(url != BLANK),
    )
    row = row_of(transaction, tab_id)
    arrange(transaction, [*order[:place], row, *order[place:]])
    note(transaction, CREATED, tab_of(row))
    if active or not order:
        activate(transaction, row)
    ensure_active(transaction, window.id)
    return tab_of(row_of(transaction, tab_id))


def _after_relatives(order: Sequence[TabRow], opener: TabRow) -> int:
    """The place behind a tab, and behind those that were opened from it one after the other."""
    place = next((place for place, row in enumerate(order) if row.id == opener.id), len(order) - 1) + 1
    while place < len(order) and order[place].opener == opener.id:
        place += 1
    return place


def duplicate(transaction: Transaction, tab_id: int, index: int | None = None, *, active: bool = True) -> Tab:
    """The same page once more, behind the tab where no index is given."""
    row = row_of(transaction, tab_id)
    copy = open_tab(
        transaction,
        row.target or row.url,
        cookie_store_id=cookie_store_id_of(row.store),
        window_id=row.window,
        index=row.position + 1 if index is None else index,
        active=active,
        pinned=row.pinned == 1 and (index is None or index <= row.position + 1),
        muted=row.muted == 1,
        opener_id=row.id,
        title=row.title,
    )
    page = transaction.tabs.page(tab_id)
    if page is not None:
        transaction.tabs.keep_page(copy.id, page)
    return copy


def move_tabs(transaction: Transaction, tab_ids: Sequence[int], index: int, window_id: int | None = None) -> list[Tab]:
    """Bring tabs to a place, one after the other: in their windows, or in another one. -1 is the end."""
    moved: list[int] = []
    target = get_window(transaction, window_id) if window_id is not None else None
    rows = [row_of(transaction, tab_id) for tab_id in tab_ids]
    for offset, tab_id in enumerate(row.id for row in rows):
        row = row_of(transaction, tab_id)
        place = -1 if index == -1 else index + offset
        if target is None or row.window == target.id:
            moved += _move_within(transaction, row, place)
        else:
            _attach(transaction, row, target, place)
            moved.append(tab_id)
    return [tab_of(row_of(transaction, tab_id)) for tab_id in moved]


def _move_within(transaction: Transaction, row: TabRow, place: int) -> list[int]:
    others = [other for other in transaction.tabs.find(window=row.window) if other.id != row.id]
    place = within_pinned(others, len(others) if place == -1 else place, pinned=row.pinned == 1)
    arrange(transaction, [*others[:place], row, *others[place:]], moved=[row])
    return [row.id] if place != row.position else []


def _attach(transaction: Transaction, row: TabRow, window: Window, place: int) -> None:
    """Bring a tab into another window, where it is not active and not pinned any more."""
    left = [other for other in transaction.tabs.find(window=row.window) if other.id != row.id]
    if row.active:
        pass_on(transaction, row, left)
    order = transaction.tabs.find(window=window.id)
    place = within_pinned(order, len(order) if place == -1 else place, pinned=False)
    note(transaction, DETACHED, Placement(row.id, row.window, row.position))
    transaction.tabs.update(row.id, window=window.id, position=place, active=0, pinned=0)
    new = row_of(transaction, row.id)
    arrange(transaction, left)
    arrange(transaction, [*order[:place], new, *order[place:]])
    note(transaction, ATTACHED, Placement(row.id, window.id, place))
    close_if_empty(transaction, row.window)
    ensure_active(transaction, window.id)


def set_pinned(transaction: Transaction, row: TabRow, *, pinned: bool) -> TabRow:
    """Pin a tab, behind those that are pinned, or unpin it: then it is the first behind them."""
    if (row.pinned == 1) == pinned:
        return row
    new = change(transaction, row, pinned=int(pinned))
    others = [other for other in transaction.tabs.find(window=row.window) if other.id != row.id]
    place = sum(other.pinned for other in others)
    arrange(transaction, [*others[:place], new, *others[place:]], moved=[new])
    return row_of(transaction, row.id)
