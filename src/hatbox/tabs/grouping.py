"""Groups tabs, moves and ungroups them, in the order in which Firefox does. Transaction functions.

Tabs of a group are always adjacent, and never pinned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from hatbox.errors import ApiError
from hatbox.javascript.text import well_formed
from hatbox.store.base import NO_GROUP, TabRow, Transaction
from hatbox.tabs.moving import attach, move_within, set_pinned
from hatbox.tabs.strip import ensure_active
from hatbox.tabs.tab_groups import (
    GROUP_MOVED,
    GROUP_UPDATED,
    TabGroup,
    create_group,
    get_group,
    groups_of,
    members_of,
    put_group,
    set_group,
)
from hatbox.tabs.tab_updates import record_update, row_of

__all__ = ["add_to_group", "group_tabs", "move_group", "ungroup_tabs", "update_group"]

_MAX_TITLE_LENGTH = 4096  # characters


def group_tabs(transaction: Transaction, rows: Sequence[TabRow], window: int) -> TabGroup:
    """Make a group of tabs in a window, where the first of them in this window is; else at its end."""
    before = _place_of_new_group(transaction, rows, window)
    group = create_group(transaction, window)
    _unpin(transaction, rows)
    for row in rows:
        _bring(transaction, row.id, window)
    after: int | None = None
    for row in rows:
        if after is not None:
            _place_after(transaction, row.id, after)
        elif before != row.id:
            _place_before(transaction, row.id, before)
        after = row.id
    set_group(transaction, [row_of(transaction, row.id) for row in rows], group.id)
    return group


def add_to_group(transaction: Transaction, rows: Sequence[TabRow], group: TabGroup) -> None:
    """Add tabs to a group: those left of it at its start, the others at its end."""
    members = members_of(transaction, group)
    if not members:  # its tabs were lost in a repair: find_groups() does not list it either
        raise ApiError(f"No group with id: {group.id}")
    _unpin(transaction, rows)
    members = members_of(transaction, group)
    inside = {row.id for row in members}
    new = [row_of(transaction, row.id) for row in rows if row.id not in inside]
    left = [row for row in new if row.window == group.window_id and row.position < members[0].position]
    for row in left:
        _place_before(transaction, row.id, members[0].id)
    last = members[-1].id
    for row in new:
        if row not in left:
            _bring(transaction, row.id, group.window_id)
            _place_after(transaction, row.id, last)
            last = row.id
    joining = sorted(new, key=lambda row: row not in left)
    set_group(transaction, [row_of(transaction, row.id) for row in joining], group.id)


def ungroup_tabs(transaction: Transaction, rows: Sequence[TabRow]) -> None:
    """Take tabs out of their groups: the first ones of a group are placed before it, others after it."""
    for group_id in groups_of(rows):
        group = get_group(transaction, group_id)
        if group is None:
            continue
        members = members_of(transaction, group)
        chosen = {row.id for row in rows}
        leaving = [row.id for row in members if row.id in chosen]
        staying = [row.id for row in members if row.id not in chosen]
        if staying and leaving[0] == members[0].id:
            for tab_id in leaving:
                _place_before(transaction, tab_id, staying[0])
        elif staying:
            after = staying[-1]
            for tab_id in leaving:
                _place_after(transaction, tab_id, after)
                after = tab_id
        set_group(transaction, [row_of(transaction, tab_id) for tab_id in leaving], NO_GROUP)


def update_group(
    transaction: Transaction, group: TabGroup, *, collapsed: bool | None, color: str | None, title: str | None
) -> TabGroup:
    """Change a group. As in Firefox, each change is recorded by itself."""
    for name, value in (("collapsed", collapsed), ("color", color), ("title", title)):
        wanted = well_formed(value[:_MAX_TITLE_LENGTH]) if isinstance(value, str) else value
        if wanted is not None and getattr(group, name) != wanted:
            group = msgspec.structs.replace(group, **{name: wanted})
            put_group(transaction, group, GROUP_UPDATED)
    return group


def move_group(transaction: Transaction, group: TabGroup, window: int, index: int) -> TabGroup:
    """Move a group to an index of a window; -1 is the end. Raises ApiError within pinned tabs or another group."""
    tabs = transaction.tabs.find(window=window)
    members = members_of(transaction, group)
    place = len(tabs) if index == -1 else min(index, len(tabs))
    first = tabs.index(members[0]) if window == group.window_id else None
    if first is not None and place > first:
        place = min(place + len(members), len(tabs))
    _check_place(tabs, place)
    if first is None:
        return _move_to_window(transaction, group, members, window, place)
    start = place - len(members) if place > first else place
    if start == first:
        return group
    shifts = list(enumerate(members))
    for offset, row in reversed(shifts) if start > first else shifts:
        move_within(transaction, row_of(transaction, row.id), first + offset, start + offset)
    put_group(transaction, group, GROUP_MOVED)
    return group


def _check_place(tabs: Sequence[TabRow], place: int) -> None:
    before = tabs[place - 1] if place > 0 else None
    after = tabs[place] if place < len(tabs) else None
    if after is not None and after.pinned:
        raise ApiError("Cannot move the group to an index that is in the middle of pinned tabs.")
    if before is not None and after is not None and NO_GROUP != after.tab_group == before.tab_group:
        raise ApiError("Cannot move the group to an index that is in the middle of another group.")


def _move_to_window(
    transaction: Transaction, group: TabGroup, members: Sequence[TabRow], window: int, index: int
) -> TabGroup:
    for offset, row in enumerate(members):
        attach(transaction, row_of(transaction, row.id), window, index + offset, with_its_group=True)
    ensure_active(transaction, window)
    moved = msgspec.structs.replace(group, window_id=window)
    put_group(transaction, moved, GROUP_MOVED)
    for row in members:
        record_update(transaction, row_of(transaction, row.id), "group_id")
    return moved


def _place_of_new_group(transaction: Transaction, rows: Sequence[TabRow], window: int) -> int | None:
    """The tab before which a new group is placed, which may be one of its own; None for the end of the window."""
    anchor = next((row for row in rows if row.window == window), None)
    if anchor is None:
        return None
    group = get_group(transaction, anchor.tab_group)
    if group is None:
        return anchor.id
    members = members_of(transaction, group)
    if members[0].id == anchor.id:
        return anchor.id
    tabs = transaction.tabs.find(window=window)
    following = tabs[tabs.index(members[-1]) + 1 :]
    moving = {row.id for row in rows}
    return next((row.id for row in following if row.id not in moving), None)


def _unpin(transaction: Transaction, rows: Iterable[TabRow]) -> None:
    for row in rows:
        set_pinned(transaction, row_of(transaction, row.id), pinned=False)


def _bring(transaction: Transaction, tab_id: int, window: int) -> None:
    """Move a tab of another window to the end of this one."""
    row = row_of(transaction, tab_id)
    if row.window != window:
        attach(transaction, row, window, transaction.tabs.count(window))
        ensure_active(transaction, window)


def _index(transaction: Transaction, tab_id: int) -> int:
    return transaction.tabs.indexes([row_of(transaction, tab_id)])[tab_id]


def _place_before(transaction: Transaction, tab_id: int, other: int | None) -> None:
    """Move a tab directly before another one of its window; None is the end."""
    row, old = row_of(transaction, tab_id), _index(transaction, tab_id)
    end = _index(transaction, other) if other is not None else transaction.tabs.count(row.window)
    move_within(transaction, row, old, end if old > end else end - 1)


def _place_after(transaction: Transaction, tab_id: int, other: int) -> None:
    old, end = _index(transaction, tab_id), _index(transaction, other)
    move_within(transaction, row_of(transaction, tab_id), old, end + 1 if old > end else end)
