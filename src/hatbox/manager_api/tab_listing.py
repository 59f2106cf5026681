"""The tabs as the manager page lists them, and which of them a change record names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import chain
from typing import Final, TypeVar

import msgspec

from hatbox.engines.changed_tabs import changed_tabs
from hatbox.errors import InvalidIdentity
from hatbox.identity.ids import cookie_store_id_of, user_context_id_of
from hatbox.manager_api.coalesced_changes import MAX_IDS, StoreEvent
from hatbox.manager_api.partial_reads import read_parts
from hatbox.store.base import ChangeRecord, Store, TabRow, Transaction
from hatbox.tabs.first_tab import first_tab
from hatbox.tabs.tab_model import (
    ACTIVATED,
    ATTACHED,
    BLANK,
    CREATED,
    DETACHED,
    MOVED,
    NAVIGATED,
    REMOVED,
    UPDATED,
    display_title,
)

__all__ = ["ListedTab", "TabsChange", "list_tabs", "listed_tab", "tabs_changed_event"]

T = TypeVar("T")

_MILLISECONDS: Final = 1000
_TOPICS: Final = (ACTIVATED, ATTACHED, CREATED, DETACHED, MOVED, NAVIGATED, REMOVED, UPDATED)


class ListedTab(msgspec.Struct, frozen=True):
    """A tab, with what a list shows."""

    id: int
    cookie_store_id: str
    window_id: int
    index: int
    position: int
    title: str
    url: str
    pinned: bool
    hidden: bool
    active: bool
    loading: bool
    error: str
    last_accessed: float


class TabsChange(msgspec.Struct, frozen=True):
    """Tabs that may have changed."""

    changed: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()
    all: bool = False

    def merged(self, other: TabsChange) -> TabsChange:
        """Both in one payload. A tab that was closed is not named as changed."""
        removed = dict.fromkeys((*self.removed, *other.removed))
        changed = dict.fromkeys(each for each in (*self.changed, *other.changed) if each not in removed)
        if self.all or other.all or len(removed) + len(changed) > MAX_IDS:
            return TabsChange(all=True)
        return TabsChange(tuple(changed), tuple(removed))


async def list_tabs(
    store: Store, convert: Callable[[list[ListedTab]], list[T]], cookie_store_id: str | None, ids: Sequence[int] | None
) -> list[T]:
    """The tabs by window and place: all, those of an identity, or these. Raises InvalidIdentity.

    They are read and converted in parts. A tab that is closed meanwhile is left out.
    """
    number = None if cookie_store_id is None else user_context_id_of(cookie_store_id)
    if cookie_store_id is not None and number is None:
        raise InvalidIdentity(cookie_store_id)
    if ids is not None:
        parts = await read_parts(store, ids, lambda each, part: convert(_some_tabs(each, number, part)))
    else:
        places = await store.read(lambda each: _places(each, number))
        parts = await read_parts(store, places, lambda each, part: convert(_tabs_at(each, part)))
    return [*chain.from_iterable(parts)]


def _places(transaction: Transaction, store: int | None) -> list[tuple[int, int]]:
    """The tabs of a store, or all, with their indexes."""
    unused = first_tab(transaction)
    counts: Counter[int] = Counter()
    found = []
    for tab, window, tab_store in transaction.tabs.places():
        if store in (None, tab_store) and tab != unused:
            found.append((tab, counts[window]))
        counts[window] += 1
    return found


def _tabs_at(transaction: Transaction, places: Sequence[tuple[int, int]]) -> list[ListedTab]:
    indexes = dict(places)
    return [_listed(row, indexes[row.id]) for row in transaction.tabs.get_many(indexes)]


def _some_tabs(transaction: Transaction, store: int | None, ids: Collection[int]) -> list[ListedTab]:
    unused = first_tab(transaction)
    rows = [row for row in transaction.tabs.get_many(ids) if row.id != unused and store in (None, row.store)]
    indexes = transaction.tabs.indexes(rows)
    return [_listed(row, indexes[row.id]) for row in rows]


def listed_tab(transaction: Transaction, row: TabRow) -> ListedTab:
    """One tab."""
    return _listed(row, transaction.tabs.indexes([row])[row.id])


def _listed(row: TabRow, index: int) -> ListedTab:
    return ListedTab(
        row.id,
        cookie_store_id_of(row.store),
        row.window,
        index,
        row.position,
        display_title(row.title, row.url, row.target),
        row.target if row.url == BLANK and row.target else row.url,
        row.pinned == 1,
        row.hidden == 1,
        row.active == 1,
        row.loaded < row.navigation,
        row.error,
        row.last_accessed * _MILLISECONDS,
    )


def tabs_changed_event(store: Store) -> StoreEvent[TabsChange]:
    """The event of changes of tabs, by any process."""
    decoders = {topic: partial(_change_of, topic) for topic in _TOPICS}
    return StoreEvent(store, "hatbox.tabs.onChanged", decoders, TabsChange.merged, TabsChange(all=True))


def _change_of(topic: str, payload: bytes) -> TabsChange | None:
    ids = tuple(changed_tabs(ChangeRecord(topic, payload, None)) or ())
    return TabsChange(removed=ids) if topic == REMOVED else TabsChange(changed=ids)
