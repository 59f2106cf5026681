"""The tabs of a profile, for Python: typed, in snake_case, with keyword arguments."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, user_context_id_of
from hatbox.identity.model import ContextualIdentity, IdentityLike, find, resolve
from hatbox.store.base import Store, Transaction, TransactionFunction
from hatbox.store.change_events import ChangeEvents
from hatbox.tabs import tab_model as model
from hatbox.tabs.first_tab import FIRST_TAB, first_tab
from hatbox.tabs.first_window import leave_first_tab, unused_window
from hatbox.tabs.moving import move_tabs
from hatbox.tabs.named_identity import mark_identity_named
from hatbox.tabs.open_pages import OpenPages
from hatbox.tabs.opening import open_tab
from hatbox.tabs.pages import navigate, reload
from hatbox.tabs.strip import close_rows, row_of, rows_of
from hatbox.tabs.tab_groups import (
    GROUP_CREATED,
    GROUP_MOVED,
    GROUP_REMOVED,
    GROUP_UPDATED,
    GroupRemoval,
    TabGroup,
)
from hatbox.tabs.tab_model import (
    BLANK,
    PageHidden,
    Tab,
    TabActivation,
    TabHighlight,
    TabMove,
    TabPosition,
    TabRemoval,
    TabUpdate,
    Window,
    all_tabs,
    decoder,
    tab_of,
    tabs_of,
)
from hatbox.tabs.visibility import show_and_activate
from hatbox.tabs.windows import get_windows

__all__ = ["Tabs", "open_in_identity"]

T = TypeVar("T")


class Tabs:
    """The tabs of a profile. The profile stores the open tabs; an engine opens their pages.

    Calls start at once and return a future. When it resolves, the change is durable.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.open_pages = OpenPages()
        """The pages that engines of this process have open."""
        feed = ChangeEvents(store, "tabs")
        self.on_created = feed.event("on_created", model.CREATED, decoder(Tab))
        """Emitted for each new tab."""
        self.on_opened_by_page = feed.event("on_opened_by_page", model.OPENED_BY_PAGE, decoder(Tab))
        """Emitted after `on_created`, for a tab that a page has opened. Its opener is the tab of that page."""
        self.on_updated = feed.event("on_updated", model.UPDATED, decoder(TabUpdate))
        """Emitted for each observable change of a tab."""
        self.on_activated = feed.event("on_activated", model.ACTIVATED, decoder(TabActivation))
        """Emitted for each tab that becomes active in its window."""
        self.on_highlighted = feed.event_of(
            "on_highlighted",
            {model.ACTIVATED: _highlight_of_activation, model.HIGHLIGHT_CHANGED: decoder(TabHighlight)},
        )
        """Emitted when other tabs of a window are highlighted: those that the user has selected."""
        self.on_group_created = feed.event("on_group_created", GROUP_CREATED, decoder(TabGroup))
        """Emitted for each new tab group."""
        self.on_group_updated = feed.event("on_group_updated", GROUP_UPDATED, decoder(TabGroup))
        """Emitted for each change of a tab group."""
        self.on_group_moved = feed.event("on_group_moved", GROUP_MOVED, decoder(TabGroup))
        """Emitted for each tab group that was moved, with its new window."""
        self.on_group_removed = feed.event("on_group_removed", GROUP_REMOVED, decoder(GroupRemoval))
        """Emitted for each tab group that lost its last tab."""
        self.on_hidden = feed.event("on_hidden", model.PAGE_HIDDEN, decoder(PageHidden))
        """Emitted when an engine has hidden the page of a tab, with a description of lost typed text.

        Without a running engine, hiding a tab emits only `on_updated`.
        """
        self.on_moved = feed.event("on_moved", model.MOVED, decoder(TabMove))
        """Emitted for each tab moved within its window."""
        self.on_attached = feed.event("on_attached", model.ATTACHED, decoder(TabPosition))
        """Emitted for each tab moved here from another window."""
        self.on_detached = feed.event("on_detached", model.DETACHED, decoder(TabPosition))
        """Emitted for each tab that leaves for another window."""
        self.on_removed = feed.event("on_removed", model.REMOVED, decoder(TabRemoval))
        """Emitted for each closed tab, with its last state."""
        self.on_window_created = feed.event("on_window_created", model.WINDOW_CREATED, decoder(Window))
        """Emitted for each new window."""
        self.on_window_updated = feed.event("on_window_updated", model.WINDOW_UPDATED, decoder(Window))
        """Emitted for each window whose position, size or state was set."""
        self.on_window_focused = feed.event("on_window_focused", model.WINDOW_FOCUSED, decoder(int))
        """Emitted with the id of the focused window; -1 for none."""
        self.on_window_removed = feed.event("on_window_removed", model.WINDOW_REMOVED, decoder(int))
        """Emitted with the id of each closed window."""

    def open(
        self, identity: IdentityLike, url: str = BLANK, *, active: bool = True, window_id: int | None = None
    ) -> asyncio.Future[Tab]:
        """Open a tab in an identity: its name, cookieStoreId or object, or `firefox-default`."""
        return self._store.write(lambda each: open_in_identity(each, identity, url, active=active, window_id=window_id))

    def get(self, tab_id: int) -> asyncio.Future[Tab]:
        """The tab with this id."""
        return self._store.read(lambda transaction: tab_of(transaction, row_of(transaction, tab_id)))

    def query(self, identity: IdentityLike | None = None) -> asyncio.Future[list[Tab]]:
        """All tabs, or those of an identity, by window, including hidden tabs.

        The unused blank tab that running extensions have in an empty profile is excluded.
        """

        def wanted(transaction: Transaction) -> list[Tab]:
            transaction.load(values=[FIRST_TAB])
            store_id = None if identity is None else _store_id(transaction, identity)
            unused = first_tab(transaction)
            if store_id is None:
                tabs = all_tabs(transaction)
            else:
                tabs = tabs_of(transaction, transaction.tabs.find(store=user_context_id_of(store_id)))
            return [tab for tab in tabs if tab.id != unused]

        return self._store.read(wanted)

    def windows(self) -> asyncio.Future[list[Window]]:
        """All windows in the order of opening, except one with only the unused blank tab."""

        def used(transaction: Transaction) -> list[Window]:
            unused = unused_window(transaction)
            return [window for window in get_windows(transaction) if window.id != unused]

        return self._store.read(used)

    def navigate(self, tab_id: int, url: str) -> asyncio.Future[Tab]:
        """Navigate a tab to another URL. Resolves when the request is saved; an engine loads the page."""
        return self._store.write(lambda transaction: navigate(transaction, tab_id, url))

    def reload(self, tab_id: int) -> asyncio.Future[Tab]:
        """Reload the page of a tab."""
        return self._store.write(lambda transaction: reload(transaction, tab_id))

    def activate(self, tab_id: int) -> asyncio.Future[None]:
        """Activate a tab. Shows a hidden tab and its identity."""
        return self._store.write(lambda transaction: show_and_activate(transaction, row_of(transaction, tab_id)))

    def move(self, tab_ids: int | Sequence[int], index: int) -> asyncio.Future[list[Tab]]:
        """Move tabs to a position in their windows; -1 is the end. Resolves to the moved tabs."""
        ids = [tab_ids] if isinstance(tab_ids, int) else list(tab_ids)
        return self._store.write(lambda transaction: move_tabs(transaction, ids, index))

    def close(self, tab_ids: int | Sequence[int], *, missing_ok: bool = False) -> asyncio.Future[None]:
        """Close tabs. Raises InvalidTab if one does not exist, and closes none, unless `missing_ok`."""
        ids = [tab_ids] if isinstance(tab_ids, int) else list(tab_ids)

        def closed(transaction: Transaction) -> None:
            close_rows(transaction, transaction.tabs.get_many(ids) if missing_ok else rows_of(transaction, ids))

        return self._store.write(closed)

    def unused_tab(self) -> asyncio.Future[int | None]:
        """The id of the unused blank tab that running extensions have in an empty profile. `query` excludes it."""
        return self._store.read(first_tab)

    def read(self, work: TransactionFunction[T]) -> asyncio.Future[T]:
        """Run a transaction function that only reads; for engines."""
        return self._store.read(work)

    def write(self, work: TransactionFunction[T]) -> asyncio.Future[T]:
        """Run a transaction function; for engines."""
        return self._store.write(work)


_decode_activation = decoder(TabActivation)


def _highlight_of_activation(payload: bytes) -> TabHighlight:
    activation = _decode_activation(payload)
    return TabHighlight(activation.highlighted or (activation.tab_id,), activation.window_id)


def open_in_identity(
    transaction: Transaction,
    identity: IdentityLike,
    url: str = BLANK,
    *,
    active: bool = True,
    window_id: int | None = None,
) -> Tab:
    """Open a tab for a user or a program; see Tabs.open."""
    transaction.load(values=[FIRST_TAB], last_focused=True)
    store_id = _store_id(transaction, identity)
    tab = open_tab(
        transaction, None if url == BLANK else url, cookie_store_id=store_id, active=active, window_id=window_id
    )
    mark_identity_named(transaction, tab.id, store_id)
    leave_first_tab(transaction, tab.window_id)
    return tab_of(transaction, row_of(transaction, tab.id))


def _store_id(transaction: Transaction, identity: IdentityLike) -> str:
    if isinstance(identity, ContextualIdentity):
        return resolve(transaction, identity).cookie_store_id
    return (
        DEFAULT_COOKIE_STORE_ID if identity == DEFAULT_COOKIE_STORE_ID else find(transaction, identity).cookie_store_id
    )
