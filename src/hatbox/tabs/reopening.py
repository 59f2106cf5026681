"""Opens the URL of a tab in another identity, as a user would: a new tab, and the old one closed if it was blank."""

from __future__ import annotations

from hatbox.store.base import Transaction
from hatbox.tabs.named_identity import mark_identity_named
from hatbox.tabs.opening import open_tab
from hatbox.tabs.strip import close_rows, row_of
from hatbox.tabs.tab_model import Tab, is_blank, tab_of

__all__ = ["reopen_tab"]


def reopen_tab(
    transaction: Transaction, tab_id: int, url: str, cookie_store_id: str, *, close: bool | None = None
) -> Tab | None:
    """Open a URL in another identity, beside the tab in which it was requested. None if that tab is closed.

    A tab that has shown no page is closed, and the new tab takes its place. `close` overrides this. The new tab is
    active if the old one was. Raises InvalidIdentity.
    """
    row = transaction.tabs.get(tab_id)
    if row is None:
        return None
    closes = is_blank(row.url) if close is None else close
    opener = row.opener if closes else row.id
    if opener is not None and transaction.tabs.get(opener) is None:
        opener = None
    tab = open_tab(
        transaction,
        url,
        cookie_store_id=cookie_store_id,
        window_id=row.window,
        index=transaction.tabs.indexes([row])[row.id] + (0 if closes else 1),
        active=bool(row.active),
        pinned=closes and bool(row.pinned),
        opener_id=opener,
    )
    mark_identity_named(transaction, tab.id, cookie_store_id)
    if closes:
        close_rows(transaction, [row_of(transaction, tab_id)])
    return tab_of(transaction, row_of(transaction, tab.id))
