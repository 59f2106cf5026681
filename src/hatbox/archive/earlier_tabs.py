"""Tabs in archives of earlier versions. Pure.

Before tabs had the columns discarded, highlighted and tab_group, archives of versions 1 and 2 stored them as bits of
discardable.
"""

from __future__ import annotations

from typing import Any, Final

from hatbox.store.base import NO_GROUP

__all__ = ["without_flags"]

_DISCARDABLE: Final = 1
_DISCARDED: Final = 2
_HIGHLIGHTED: Final = 4
_GROUP_SHIFT: Final = 8  # the bits from here on are the number of the group; 0 for none


def without_flags(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns of a tab, where discardable is 1 or 0."""
    flags = columns.get("discardable")
    if "discarded" in columns or not isinstance(flags, int):
        return columns
    return {
        **columns,
        "discardable": flags & _DISCARDABLE,
        "discarded": int(flags & _DISCARDED != 0),
        "highlighted": int(flags & _HIGHLIGHTED != 0),
        "tab_group": flags >> _GROUP_SHIFT or NO_GROUP,
    }
