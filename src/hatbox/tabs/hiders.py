"""Records which extension has hidden which tab, because Firefox shows the tab when that extension ends."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from hatbox.store.base import Transaction

__all__ = ["forget_hiders", "hidden_by_others", "hider_of", "note_hider"]

_NO_EXTENSION: Final = ""  # the record must survive the removal of the extension
_KIND: Final = "tabs.hidden_by"


def note_hider(transaction: Transaction, tab_ids: Iterable[int], extension: str) -> None:
    """Record that an extension has hidden these tabs."""
    value = msgspec.json.encode(extension)
    transaction.extensions.replace(_NO_EXTENSION, _KIND, {str(tab_id): value for tab_id in tab_ids})


def forget_hiders(transaction: Transaction, tab_ids: Iterable[int]) -> None:
    """Remove the records of these tabs: they are shown or closed."""
    for tab_id in tab_ids:
        transaction.extensions.delete(_NO_EXTENSION, _KIND, str(tab_id))


def hidden_by_others(transaction: Transaction, running: Collection[str]) -> list[int]:
    """The tabs that were hidden by extensions other than these."""
    found = transaction.extensions.find(_KIND, _NO_EXTENSION)
    return [int(tab_id) for _, tab_id, value in found if msgspec.json.decode(value, type=str) not in running]


def hider_of(transaction: Transaction, tab_id: int) -> str:
    """The extension that has hidden a tab; empty if none has."""
    value = transaction.extensions.get(_NO_EXTENSION, _KIND, str(tab_id))
    return "" if value is None else msgspec.json.decode(value, type=str)
