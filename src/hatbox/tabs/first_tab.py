"""Records which tab is the blank tab of the first window. No engine displays it until it is used."""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.store.base import Transaction

__all__ = ["FIRST_TAB", "first_tab", "mark_first_tab", "use_first_tab"]

_NO_EXTENSION: Final = ""
_KIND: Final = "tabs.first"
FIRST_TAB: Final = (_NO_EXTENSION, _KIND, "")
"""Where the id is stored, for Transaction.load."""


def first_tab(transaction: Transaction) -> int | None:
    """The id of the blank tab of the first window, if it exists and is unused."""
    value = transaction.extensions.get(*FIRST_TAB)
    return None if value is None else msgspec.json.decode(value, type=int)


def mark_first_tab(transaction: Transaction, tab_id: int | None) -> None:
    """Record the blank tab of the first window, or that there is none."""
    if tab_id is None:
        transaction.extensions.delete(*FIRST_TAB)
    else:
        transaction.extensions.put(*FIRST_TAB, msgspec.json.encode(tab_id))


def use_first_tab(transaction: Transaction, tab_id: int) -> None:
    """A tab is used. If it is the blank tab of the first window, it becomes an ordinary tab."""
    if first_tab(transaction) == tab_id:
        mark_first_tab(transaction, None)
