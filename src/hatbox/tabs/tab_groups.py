"""Tab groups: named ranges of adjacent tabs of one window. A group exists as long as it has tabs.

Each tab has the id of its group; the title and the color of a group are a value of their own. Transaction functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from hatbox.store.base import NO_GROUP, TabRow, Transaction
from hatbox.tabs.tab_model import record_change
from hatbox.tabs.tab_updates import record_update, row_of

__all__ = [
    "GROUP_COLORS",
    "GROUP_CREATED",
    "GROUP_MOVED",
    "GROUP_REMOVED",
    "GROUP_UPDATED",
    "GroupRemoval",
    "TabGroup",
    "create_group",
    "drop_groups",
    "find_groups",
    "get_group",
    "group_beside",
    "groups_of",
    "members_of",
    "put_group",
    "set_group",
    "settle_group",
]

GROUP_CREATED, GROUP_UPDATED = "tab_groups.created", "tab_groups.updated"
GROUP_MOVED, GROUP_REMOVED = "tab_groups.moved", "tab_groups.removed"

GROUP_COLORS: Final = ("blue", "purple", "cyan", "orange", "yellow", "pink", "green", "grey", "red")
"""In the order in which Firefox gives them to new groups."""

_NO_EXTENSION: Final = ""
_KIND: Final = "tabs.groups"
_COUNTER: Final = (_NO_EXTENSION, "tabs.group_counter", "")


class TabGroup(msgspec.Struct, frozen=True):
    """A group of tabs."""

    id: int
    window_id: int
    title: str = ""
    color: str = GROUP_COLORS[0]
    collapsed: bool = False


class GroupRemoval(msgspec.Struct, frozen=True):
    """A group that lost its last tab, and whether its window was closed."""

    group: TabGroup
    window_closing: bool


def get_group(transaction: Transaction, group_id: int) -> TabGroup | None:
    """The group with this id."""
    value = transaction.extensions.get(_NO_EXTENSION, _KIND, str(group_id))
    return None if value is None else _decode(value)


def find_groups(transaction: Transaction) -> list[TabGroup]:
    """All groups, by window and position."""
    groups = [_decode(value) for _, _, value in transaction.extensions.find(_KIND, _NO_EXTENSION)]
    firsts: dict[int, tuple[int, int]] = {}
    for window in {group.window_id for group in groups}:
        for row in transaction.tabs.find(window=window):
            firsts.setdefault(row.tab_group, (window, row.position))
    return sorted((group for group in groups if group.id in firsts), key=lambda group: firsts[group.id])


def members_of(transaction: Transaction, group: TabGroup) -> list[TabRow]:
    """The tabs of a group, in their order."""
    return [row for row in transaction.tabs.find(window=group.window_id) if row.tab_group == group.id]


def create_group(transaction: Transaction, window: int) -> TabGroup:
    """Add a group, in the first color that its window does not have. The caller adds tabs to it."""
    used = [group.color for group in find_groups(transaction) if group.window_id == window]
    color = next((color for color in GROUP_COLORS if color not in used), GROUP_COLORS[0])
    last = transaction.extensions.get(*_COUNTER)
    number = 1 if last is None else msgspec.json.decode(last, type=int) + 1
    transaction.extensions.put(*_COUNTER, msgspec.json.encode(number))
    group = TabGroup(number, window, color=color)
    put_group(transaction, group, GROUP_CREATED)
    return group


def put_group(transaction: Transaction, group: TabGroup, topic: str) -> None:
    """Store a group, and record what has happened to it."""
    transaction.extensions.put(_NO_EXTENSION, _KIND, str(group.id), _encode(group))
    record_change(transaction, topic, group)


def groups_of(rows: Iterable[TabRow]) -> list[int]:
    """The ids of the groups of these tabs."""
    return [group for group in dict.fromkeys(row.tab_group for row in rows) if group != NO_GROUP]


def drop_groups(transaction: Transaction, group_ids: Iterable[int], *, window_closing: bool = False) -> None:
    """Remove those of these groups that have no tab any more."""
    for group_id in group_ids:
        group = get_group(transaction, group_id)
        if group is not None and not members_of(transaction, group):
            transaction.extensions.delete(_NO_EXTENSION, _KIND, str(group_id))
            record_change(transaction, GROUP_REMOVED, GroupRemoval(group, window_closing))


def set_group(transaction: Transaction, rows: Iterable[TabRow], group_id: int) -> None:
    """Put tabs into a group, or into none, where they are. As in Firefox, groups that end are recorded first."""
    changed = [row for row in rows if row.tab_group != group_id]
    for row in changed:
        transaction.tabs.update(row.id, tab_group=group_id)
    drop_groups(transaction, groups_of(changed))
    for row in changed:
        record_update(transaction, row_of(transaction, row.id), "group_id")


def group_beside(left: TabRow | None, right: TabRow | None) -> int:
    """The group that has both of these adjacent tabs; NO_GROUP without one."""
    if left is None or right is None:
        return NO_GROUP
    return left.tab_group if left.tab_group == right.tab_group else NO_GROUP


def settle_group(transaction: Transaction, row: TabRow, *, forward: bool | None = None) -> None:
    """A tab has moved: it is now in the group of the tab whose place it took.

    `forward` says in which direction it has moved. From another window, it joins a group only between two of its tabs.
    """
    left, right = transaction.tabs.neighbours(row)
    if forward is None:
        set_group(transaction, [row], group_beside(left, right))
    else:
        displaced = left if forward else right
        set_group(transaction, [row], NO_GROUP if displaced is None else displaced.tab_group)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(TabGroup).decode
