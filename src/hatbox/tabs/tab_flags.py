"""The flags of a tab, which share the column `discardable`. Pure numbers.

In profiles of earlier versions the column is 1 or 0: whether the tab may be discarded. The bits from 8 on are the
number of its group; 0 for none.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "DISCARDABLE",
    "DISCARDED",
    "HIGHLIGHTED",
    "NO_GROUP",
    "group_in",
    "portable",
    "with_flag",
    "with_group",
]

DISCARDABLE: Final = 1
"""The browser may discard the tab by itself."""
DISCARDED: Final = 2
"""The tab has no page until it is activated, navigated or reloaded."""
HIGHLIGHTED: Final = 4
"""The tab is highlighted beside the active tab. The active tab has the flag if other tabs have it."""
NO_GROUP: Final = -1

_GROUP_SHIFT: Final = 8
_FLAGS: Final = (1 << _GROUP_SHIFT) - 1


def with_flag(flags: int, flag: int, *, on: bool) -> int:
    """The flags with one of them set or cleared."""
    return flags | flag if on else flags & ~flag


def group_in(flags: int) -> int:
    """The id of the group; NO_GROUP without one."""
    return flags >> _GROUP_SHIFT or NO_GROUP


def with_group(flags: int, group: int) -> int:
    """The flags of a tab in this group, or in none."""
    return flags & _FLAGS | (0 if group == NO_GROUP else group << _GROUP_SHIFT)


def portable(flags: int) -> int:
    """The flags that mean the same in another profile: groups and highlights belong to windows."""
    return flags & (DISCARDABLE | DISCARDED)
