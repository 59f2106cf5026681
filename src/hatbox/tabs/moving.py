"""Moves tabs within a window and between windows, and pins and unpins them."""

from __future__ import annotations

from collections.abc import Sequence

from hatbox.store.base import NO_GROUP, TabRow, Transaction
from hatbox.tabs.first_tab import use_first_tab
from hatbox.tabs.strip import (
    activate,
    clear_highlights,
    clear_related_tabs,
    close_if_empty,
    drop_references,
    ensure_active,
    next_active_tab,
    record_update,
    row_of,
    rows_of,
)
from hatbox.tabs.tab_groups import drop_groups, groups_of, set_group, settle_group
from hatbox.tabs.tab_model import ATTACHED, DETACHED, MOVED, Tab, TabMove, TabPosition, record_change, tabs_of
from hatbox.tabs.visibility import show_without_event
from hatbox.tabs.windows import get_window

__all__ = ["attach", "move_tabs", "move_within", "pin_without_event", "set_pinned"]


def move_tabs(transaction: Transaction, tab_ids: Sequence[int], index: int, window_id: int | None = None) -> list[Tab]:
    """Move tabs to adjacent positions from `index` on, in their windows or in another one; -1 is the end.

    Returns the moved tabs in the requested order. Pinned tabs always come first: a tab that would break this order is
    not moved, and left out of the result.
    """
    target = get_window(transaction, window_id).id if window_id is not None else None
    rows_of(transaction, tab_ids)
    moved: list[int] = []
    last_indexes: dict[int, int] = {}
    for tab_id in tab_ids:
        row = row_of(transaction, tab_id)
        window = row.window if target is None else target
        transaction.load(windows={row.window, window})
        old_index = _index(transaction, row)
        count = transaction.tabs.count(window)
        if window == row.window and count == 1:
            last_indexes[window] = 0
            continue
        highest = count - (window == row.window)
        last = last_indexes.get(window)
        if last is None:
            new_index = highest if index == -1 else min(index, highest)
        else:
            new_index = last if window == row.window and old_index <= last else last + 1
        pinned_count = transaction.tabs.pinned_count(window)
        if new_index > pinned_count if row.pinned else new_index < pinned_count:
            continue
        if window != row.window:
            attach(transaction, row, window, new_index)
            settle_group(transaction, row_of(transaction, tab_id))
            ensure_active(transaction, window)
        else:
            if row.pinned:  # the first index after the pinned tabs is the last one among them
                new_index = min(new_index, pinned_count - 1)
            move_within(transaction, row, old_index, new_index)
            if new_index != old_index:
                settle_group(transaction, row_of(transaction, tab_id), forward=new_index > old_index)
        last_indexes[window] = new_index
        moved.append(tab_id)
    return tabs_of(transaction, [row_of(transaction, tab_id) for tab_id in moved])


def _index(transaction: Transaction, row: TabRow) -> int:
    return transaction.tabs.indexes([row])[row.id]


def move_within(
    transaction: Transaction, row: TabRow, old_index: int, new_index: int, *, pinned: int | None = None
) -> None:
    """Move a tab within its window. By default it stays pinned or unpinned."""
    is_pinned = row.pinned if pinned is None else pinned
    summary = transaction.tabs.summary(row.window)
    if new_index != old_index or is_pinned != row.pinned:
        transaction.tabs.move(row.id, row.window, new_index, pinned=is_pinned)
    if new_index != old_index:
        record_change(transaction, MOVED, TabMove(row.id, row.window, old_index, new_index))
        clear_related_tabs(transaction, summary)


def attach(
    transaction: Transaction,
    row: TabRow,
    window: int,
    index: int,
    *,
    pinned: bool | None = None,
    with_its_group: bool = False,
) -> None:
    """Move a tab to another window. The caller activates a tab there. By default it stays pinned or unpinned.

    It leaves its group, unless the whole group moves with it.
    """
    use_first_tab(transaction, row.id)
    record_change(transaction, DETACHED, TabPosition(row.id, row.window, _index(transaction, row)))
    next_active = next_active_tab(transaction, row, [row]) if row.active else None
    if row.active:
        clear_highlights(transaction, row)
    referring = transaction.tabs.referring([row.id])
    is_pinned = row.pinned if pinned is None else int(pinned)
    transaction.tabs.move(row.id, window, index, pinned=is_pinned)
    transaction.tabs.update(row.id, active=0, opener=None, owner=None, related=None, successor=None, highlighted=0)
    if not with_its_group:
        transaction.tabs.update(row.id, tab_group=NO_GROUP)
    summary = transaction.tabs.summary(row.window)
    drop_references(transaction, summary, [row], referring)
    record_change(transaction, ATTACHED, TabPosition(row.id, window, index))
    if next_active is not None:
        activate(transaction, row_of(transaction, next_active.id), summary._replace(related=()))
    if not with_its_group:
        drop_groups(transaction, groups_of([row]))
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
    new_index = transaction.tabs.pinned_count(row.window) - row.pinned  # after the other pinned tabs
    move_within(transaction, row, _index(transaction, row), new_index, pinned=int(pinned))
    if pinned:
        set_group(transaction, [row_of(transaction, row.id)], NO_GROUP)
        new, shown = show_without_event(transaction, row_of(transaction, row.id))
        if shown:
            record_update(transaction, new, "hidden")
        ensure_active(transaction, row.window)
    return True
