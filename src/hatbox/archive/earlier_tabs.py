"""Tabs in archives of earlier versions. Pure.

Before tabs had the columns discarded, highlighted and tab_group, archives of versions 1 and 2 stored them as bits of
discardable.
"""

from __future__ import annotations

from typing import Any

__all__ = ["without_flags"]


def without_flags(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns of a tab, where discardable is 1 or 0. A missing column whose bits are not set stays missing."""
    flags = columns.get("discardable")
    if "discarded" in columns or not isinstance(flags, int):
        return columns
    bits = {"discarded": flags >> 1 & 1, "highlighted": flags >> 2 & 1, "tab_group": flags >> 8}
    return {**columns, "discardable": flags & 1, **{name: value for name, value in bits.items() if value}}
