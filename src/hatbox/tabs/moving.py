"""Moves tabs within a window and between windows, and pins and unpins them."""

from __future__ import annotations

from collections.abc import Sequence

from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.first_tab import use_first_tab
from hatbox.tabs.strip import (
    activate,
    close_if_empty,
    drop_references,
    ensure_active,
    next_active_tab,
    record_update,
    row_of,
    set_order,
)
from hatbox.tabs.tab_model import ATTACHED, DETACHED, MOVED, Tab, TabMove, TabPosition, record_change, tab_of
from hatbox.tabs.visibility import show_without_event
from hatbox.tabs.windows import get_window

__all__ = ["attach", "move_tabs", "pin_without_event", "set_pinned"]


def move_tabs(transaction: Transaction, tab_ids: Sequence[int], index: int, window_id: int | None = None) -> list[Tab]:
    """Move tabs to adjacent positions from `index` on, in their windows or in another one; -1 is the end.

    Returns the moved tabs in the requested order. Pinned tabs always come first: a tab that would break this order is
    not moved, and left out of the result.
    """
    target = get_window(transaction, window_id).id if window_id is not None else None
    for tab_id in tab_ids:
        row_of(transaction, tab_id)
    moved: list[int] = []
    last_places: dict[int, int] = {}
    for tab_id in tab_ids:
        row = row_of(transaction, tab_id)
        window = row.window if target is None else target
        order = transaction.tabs.find(window=window)
        if window == row.window and len(order) == 1:
            last_places[window] = 0
            continue
        place = _place(row, order, index, last_places.get(window))
        pinned_count = sum(other.pinned for other in order)
        if place > pinned_count if row.pinned else place < pinned_count:
            continue
        if window == row.window:
            _move_within(transaction, row, order, place)
        else:
            attach(transaction, row, window, place)
            ensure_active(transaction, window)
        last_places[window] = row_of(transaction, tab_id).position
        moved.append(tab_id)
    return [tab_of(row_of(transaction, tab_id)) for tab_id in moved]


def _place(row: TabRow, order: Sequence[TabRow], index: int, last: int | None) -> int:
    """The position of a tab after its move; `last` is the position of the tab moved before it."""
    stays = any(other.id == row.id for other in order)
    if last is None:
        highest = len(order) - stays
        return highest if index == -1 else min(index, highest)
    return last if stays and row.position <= last else last + 1


def _move_within(transaction: Transaction, row: TabRow, order: Sequence[TabRow], place: int) -> None:
    others = [other for other in order if other.id != row.id]
    if row.pinned:  # the first position after the pinned tabs is the last one among them
        place = min(place, sum(other.pinned for other in others))
    set_order(transaction, [*others[:place], row, *others[place:]], moved=[row])
    if place != row.position:
        drop_references(transaction, order, ())


def attach(transaction: Transaction, row: TabRow, window: int, place: int, *, pinned: bool | None = None) -> None:
    """Move a tab to another window. The caller activates a tab there. By default it stays pinned or unpinned."""
    use_first_tab(transaction, row.id)
    old_order = transaction.tabs.find(window=row.window)
    left = [other for other in old_order if other.id != row.id]
    next_active = next_active_tab(row, old_order, {row.id}) if row.active else None
    order = transaction.tabs.find(window=window)
    record_change(transaction, DETACHED, TabPosition(row.id, row.window, row.position))
    lost = {"active": 0, "opener": None, "owner": None, "related": None}
    is_pinned = row.pinned if pinned is None else int(pinned)
    transaction.tabs.update(row.id, window=window, position=place, pinned=is_pinned, **lost)
    set_order(transaction, left)
    drop_references(transaction, old_order, {row.id})
    set_order(transaction, [*order[:place], row_of(transaction, row.id), *order[place:]])
    record_change(transaction, ATTACHED, TabPosition(row.id, window, place))
    if next_active is not None:
        activate(transaction, row_of(transaction, next_active.id))
    close_if_empty(transaction, row.window)


def set_pinned(transaction: Transaction, row: TabRow, *, pinned: bool) -> None:
    """Pin a tab as the last pinned one, or unpin it as the first unpinned one. Pinning shows a hidden tab."""
    if pin_without_event(transaction, row, pinned=pinned):
        record_update(transaction, row_of(transaction, row.id), "pinned")


def pin_without_event(transaction: Transaction, row: TabRow, *, pinned: bool) -> bool:
    """Like set_pinned, without recording the update. Returns whether the tab changed."""
    if (row.pinned == 1) == pinned:
        return False
    use_first_tab(transaction, row.id)
    order = transaction.tabs.find(window=row.window)
    others = [other for other in order if other.id != row.id]
    place = sum(other.pinned for other in others)
    transaction.tabs.update(row.id, pinned=int(pinned))
    transaction.tabs.set_positions((other.id, at) for at, other in enumerate([*others[:place], row, *others[place:]]))
    if place != row.position:
        record_change(transaction, MOVED, TabMove(row.id, row.window, row.position, place))
        drop_references(transaction, order, ())
    if pinned:
        new, shown = show_without_event(transaction, row_of(transaction, row.id))
        if shown:
            record_update(transaction, new, "hidden")
        ensure_active(transaction, row.window)
    return True
