"""Records that a program with a grant has opened or navigated a tab: rules never reopen its pages in another identity.

The record is in the profile, because another engine may load the tab later. Duplicated, restored and deleted with the
tab.
"""

from __future__ import annotations

from typing import Final

from hatbox.store.base import Transaction
from hatbox.tabs.session_values import kind_of_tab

__all__ = ["bind_tab", "inherit_binding", "is_bound"]

_NO_EXTENSION: Final = ""
_KEY: Final = "identity.bound"


def bind_tab(transaction: Transaction, tab_id: int) -> None:
    """A program that is bound to the identity of a tab has opened it, or loads a page in it."""
    transaction.extensions.put(_NO_EXTENSION, kind_of_tab(tab_id), _KEY, b"true")


def is_bound(transaction: Transaction, tab_id: int) -> bool:
    """Whether a program has opened or navigated a tab, or the tab that has opened it."""
    return transaction.extensions.get(_NO_EXTENSION, kind_of_tab(tab_id), _KEY) is not None


def inherit_binding(transaction: Transaction, opener_id: int, tab_id: int) -> None:
    """A page has opened a tab."""
    if is_bound(transaction, opener_id):
        bind_tab(transaction, tab_id)
