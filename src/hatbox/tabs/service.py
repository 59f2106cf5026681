"""The tabs of a profile, for Python: typed, in snake_case, with keyword arguments."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from hatbox.identities.ids import DEFAULT_STORE
from hatbox.identities.model import ContextualIdentity, IdentityLike, find, resolve
from hatbox.store.base import Store, Transaction, TransactionFunction
from hatbox.store.change_events import ChangeEvents
from hatbox.tabs import tab_model as model
from hatbox.tabs.first_tab import first_tab
from hatbox.tabs.first_window import leave_first_tab, unused_window
from hatbox.tabs.moving import move_tabs
from hatbox.tabs.opening import open_tab
from hatbox.tabs.pages import navigate, reload
from hatbox.tabs.strip import close_rows, row_of
from hatbox.tabs.tab_model import (
    BLANK,
    Activation,
    Hidden,
    Move,
    Tab,
    TabPosition,
    TabRemoval,
    Update,
    Window,
    decoder,
    tab_of,
)
from hatbox.tabs.visibility import show_and_activate
from hatbox.tabs.windows import get_windows

__all__ = ["Tabs"]

T = TypeVar("T")


class Tabs:
    """The tabs of a profile. The profile holds what should be open; an engine makes it so.

    A call begins at once, and what it returns can be awaited; when it resolves, the change is on disk.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        feed = ChangeEvents(store, "tabs")
        self.on_created = feed.event("on_created", model.CREATED, decoder(Tab))
        """Tells of each new tab."""
        self.on_updated = feed.event("on_updated", model.UPDATED, decoder(Update))
        """Tells of each tab of which something has changed that can be seen."""
        self.on_activated = feed.event("on_activated", model.ACTIVATED, decoder(Activation))
        """Tells of each tab that becomes the active one of its window."""
        self.on_hidden = feed.event("on_hidden", model.HIDDEN, decoder(Hidden))
        """Emitted when an engine has hidden the page of a tab, with a description of lost typed text."""
        self.on_moved = feed.event("on_moved", model.MOVED, decoder(Move))
        """Tells of each tab that was moved within its window."""
        self.on_attached = feed.event("on_attached", model.ATTACHED, decoder(TabPosition))
        """Tells of each tab that came from another window."""
        self.on_detached = feed.event("on_detached", model.DETACHED, decoder(TabPosition))
        """Tells of each tab that leaves for another window."""
        self.on_removed = feed.event("on_removed", model.REMOVED, decoder(TabRemoval))
        """Tells of each tab that was closed, as it was."""
        self.on_window_created = feed.event("on_window_created", model.WINDOW_CREATED, decoder(Window))
        """Tells of each new window."""
        self.on_window_updated = feed.event("on_window_updated", model.WINDOW_UPDATED, decoder(Window))
        """Tells of each window whose place, size or state was set."""
        self.on_window_focused = feed.event("on_window_focused", model.WINDOW_FOCUSED, decoder(int))
        """Tells the id of each window that gets the focus; -1 for none."""
        self.on_window_removed = feed.event("on_window_removed", model.WINDOW_REMOVED, decoder(int))
        """Tells the id of each window that was closed."""

    def open(
        self, identity: IdentityLike, url: str = BLANK, *, active: bool = True, window_id: int | None = None
    ) -> asyncio.Future[Tab]:
        """A new tab in an identity, named by its name, its id or itself; `firefox-default` is that of none."""

        def opened(transaction: Transaction) -> Tab:
            tab = open_tab(
                transaction,
                None if url == BLANK else url,
                cookie_store_id=_store_id(transaction, identity),
                active=active,
                window_id=window_id,
            )
            leave_first_tab(transaction, tab.window_id)
            return tab_of(row_of(transaction, tab.id))

        return self._store.write(opened)

    def get(self, tab_id: int) -> asyncio.Future[Tab]:
        """The tab with this id."""
        return self._store.read(lambda transaction: tab_of(row_of(transaction, tab_id)))

    def query(self, identity: IdentityLike | None = None) -> asyncio.Future[list[Tab]]:
        """All tabs, window by window, hidden ones too; or those of an identity.

        The unused blank tab that running extensions have in an empty profile is excluded.
        """

        def wanted(transaction: Transaction) -> list[Tab]:
            store_id = None if identity is None else _store_id(transaction, identity)
            unused = first_tab(transaction)
            tabs = map(tab_of, transaction.tabs.find())
            return [tab for tab in tabs if tab.id != unused and store_id in (None, tab.cookie_store_id)]

        return self._store.read(wanted)

    def windows(self) -> asyncio.Future[list[Window]]:
        """All windows, in the order in which they were opened, except one that has only the unused blank tab."""

        def used(transaction: Transaction) -> list[Window]:
            unused = unused_window(transaction)
            return [window for window in get_windows(transaction) if window.id != unused]

        return self._store.read(used)

    def navigate(self, tab_id: int, url: str) -> asyncio.Future[Tab]:
        """Load another page in a tab. Resolves when that is asked for; the engine goes on from there."""
        return self._store.write(lambda transaction: navigate(transaction, tab_id, url))

    def reload(self, tab_id: int) -> asyncio.Future[Tab]:
        """Load a tab's page again."""
        return self._store.write(lambda transaction: reload(transaction, tab_id))

    def activate(self, tab_id: int) -> asyncio.Future[None]:
        """Make a tab the active one of its window; a hidden one is shown by that, and so is its identity."""
        return self._store.write(lambda transaction: show_and_activate(transaction, row_of(transaction, tab_id)))

    def move(self, tab_ids: int | Sequence[int], index: int) -> asyncio.Future[list[Tab]]:
        """Bring tabs to a place in their windows; -1 is the end. Resolves to those that moved."""
        ids = [tab_ids] if isinstance(tab_ids, int) else list(tab_ids)
        return self._store.write(lambda transaction: move_tabs(transaction, ids, index))

    def close(self, tab_ids: int | Sequence[int], *, missing_ok: bool = False) -> asyncio.Future[None]:
        """Close tabs. Raises InvalidTab if one does not exist, and closes none, unless `missing_ok`."""
        ids = [tab_ids] if isinstance(tab_ids, int) else list(tab_ids)

        def closed(transaction: Transaction) -> None:
            exists = [tab_id for tab_id in ids if not missing_ok or transaction.tabs.get(tab_id) is not None]
            close_rows(transaction, [row_of(transaction, tab_id) for tab_id in exists])

        return self._store.write(closed)

    def unused_tab(self) -> asyncio.Future[int | None]:
        """The id of the unused blank tab that running extensions have in an empty profile. `query` excludes it."""
        return self._store.read(first_tab)

    def read(self, work: TransactionFunction[T]) -> asyncio.Future[T]:
        """Run rules of hatbox.tabs that only read; for engines."""
        return self._store.read(work)

    def write(self, work: TransactionFunction[T]) -> asyncio.Future[T]:
        """Run rules of hatbox.tabs; for engines."""
        return self._store.write(work)


def _store_id(transaction: Transaction, identity: IdentityLike) -> str:
    if isinstance(identity, ContextualIdentity):
        return resolve(transaction, identity).cookie_store_id
    return DEFAULT_STORE if identity == DEFAULT_STORE else find(transaction, identity).cookie_store_id
