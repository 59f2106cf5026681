"""Closes tabs, and moves them to other identities, so that both can be undone: transaction functions."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from hatbox.errors import ApiError
from hatbox.identities.changes import hide
from hatbox.identity.ids import cookie_store_id_of
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.closed_tab_restore import open_closed_tab
from hatbox.tabs.closed_tabs import ClosedTab, forget_session, saved_tab
from hatbox.tabs.reopening import reopen_tab
from hatbox.tabs.strip import close_rows, row_of
from hatbox.tabs.tab_model import Tab
from hatbox.tabs.visibility import hide_again
from hatbox.tabs.windows import announce_window, insert_window, window_for_new_tab

__all__ = ["UndoableClose", "close_tab", "move_tab", "reopen_closed"]


class UndoableClose(msgspec.Struct, frozen=True):
    """A tab that was closed, and what opens it again."""

    store: int
    closed: ClosedTab
    session: int | None
    """Its number among the recently closed tabs, if they are recorded."""
    moved_to: int | None = None
    """The tab that took its place."""

    @property
    def size(self) -> int:
        """The size of the snapshot of its page, in bytes."""
        return len(self.closed.page)


def close_tab(transaction: Transaction, tab_id: int) -> UndoableClose | None:
    """Close a tab. None if it cannot be opened again: its identity was temporary, and is gone with it."""
    row = row_of(transaction, tab_id)
    return _closing(transaction, row, lambda: close_rows(transaction, [row_of(transaction, tab_id)]))


def move_tab(transaction: Transaction, tab_id: int, cookie_store_id: str) -> tuple[int, UndoableClose | None]:
    """Open the URL of a tab in another identity, and close the tab. Returns the id of the new tab."""
    row = row_of(transaction, tab_id)
    if cookie_store_id_of(row.store) == cookie_store_id:
        raise ApiError("This tab is in that identity already.")
    moved: list[Tab] = []

    def reopen() -> None:
        new = reopen_tab(transaction, tab_id, row.target or row.url, cookie_store_id, close=True)
        moved.extend([new] if new is not None else [])

    closed = _closing(transaction, row, reopen)
    new_id = moved[0].id
    return new_id, None if closed is None else msgspec.structs.replace(closed, moved_to=new_id)


def reopen_closed(transaction: Transaction, tab: UndoableClose) -> int:
    """Open a closed tab again, as it was and at its place. Returns its id. A tab that took its place is closed."""
    if not _identity_exists(transaction, tab.store):
        raise ApiError("The identity of this tab is gone. It may be in the trash.")
    closed, was_hidden = tab.closed, tab.closed.columns.get("hidden") == 1
    hidden_identity = _is_identity_hidden(transaction, tab.store)
    is_open = transaction.windows.get(closed.window_id) is not None
    if is_open or closed.window is None:
        window = window_for_new_tab(transaction, closed.window_id if is_open else None)
    else:
        window = insert_window(transaction, **closed.window)
    active = closed.columns.get("active") == 1 and not was_hidden
    opened = open_closed_tab(transaction, window.id, tab.store, closed, active=active)
    if not is_open and closed.window is not None:
        announce_window(transaction, window)
    replaced = transaction.tabs.get(tab.moved_to) if tab.moved_to is not None else None
    if replaced is not None:
        close_rows(transaction, [replaced])
    if hidden_identity:  # opening has shown it
        hide(transaction, cookie_store_id_of(tab.store))
    elif was_hidden:
        hide_again(transaction, [row_of(transaction, opened.id)])
    if tab.session is not None and tab.session in transaction.closed_tabs.sessions():
        forget_session(transaction, tab.session)
    return opened.id


def _closing(transaction: Transaction, row: TabRow, close: Callable[[], None]) -> UndoableClose | None:
    index = transaction.tabs.indexes([row])[row.id]
    is_last = transaction.tabs.count(row.window) == 1
    saved = saved_tab(transaction, row, index, row.window if is_last else None)
    before = set(transaction.closed_tabs.sessions())
    close()
    if not _identity_exists(transaction, row.store):
        return None
    session = next(iter(set(transaction.closed_tabs.sessions()) - before), None)
    return UndoableClose(row.store, saved, session)


def _identity_exists(transaction: Transaction, store: int) -> bool:
    return store == 0 or transaction.identities.get(store) is not None


def _is_identity_hidden(transaction: Transaction, store: int) -> bool:
    row = transaction.identities.get(store) if store else None
    return row is not None and row[4] == 1
