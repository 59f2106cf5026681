"""Records that the default store was named for a tab: `firefox-default` was requested, not left out.

The first URL of a tab in another store needs no record: such a tab is opened only by naming the store.
"""

from __future__ import annotations

from typing import Final

from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.session_values import kind_of_tab

__all__ = ["is_identity_named", "mark_identity_named"]

_NO_EXTENSION: Final = ""
_KEY: Final = "identity.named"


def mark_identity_named(transaction: Transaction, tab_id: int, cookie_store_id: str) -> None:
    """Record that the caller named the store of a new tab. Deleted with the tab."""
    if cookie_store_id == DEFAULT_COOKIE_STORE_ID:
        transaction.extensions.put(_NO_EXTENSION, kind_of_tab(tab_id), _KEY, b"true")


def is_identity_named(transaction: Transaction, row: TabRow) -> bool:
    """Whether the caller that opened a tab named its store."""
    if cookie_store_id_of(row.store) != DEFAULT_COOKIE_STORE_ID:
        return True
    return transaction.extensions.get(_NO_EXTENSION, kind_of_tab(row.id), _KEY) is not None
