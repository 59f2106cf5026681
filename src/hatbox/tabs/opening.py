"""Opens and duplicates tabs: the position of a new tab, and what it inherits from its opener."""

from __future__ import annotations

from collections.abc import Sequence

from hatbox.errors import InvalidIdentity
from hatbox.identities.ids import user_context_id_of
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.session_values import copy_values, kind_of_tab
from hatbox.tabs.strip import change, next_access_time, record_update, row_of, set_order, switch_to, within_pinned
from hatbox.tabs.tab_model import ACTIVATED, BLANK, CREATED, Tab, Window, record_change, tab_of
from hatbox.tabs.visibility import show_identity_of
from hatbox.tabs.windows import announce_window, insert_window, window_for_new_tab

__all__ = ["duplicate", "open_tab", "open_window"]


def open_tab(
    transaction: Transaction,
    url: str | None = None,
    *,
    cookie_store_id: str,
    window_id: int | None = None,
    index: int | None = None,
    active: bool = True,
    pinned: bool = False,
    opener_id: int | None = None,
) -> Tab:
    """Open a tab, by default blank and last in the normal window focused last. An engine loads its URL.

    A hidden identity is shown first.
    """
    store = user_context_id_of(cookie_store_id)
    if store is None or (store and transaction.identities.get(store) is None):
        raise InvalidIdentity(cookie_store_id)
    window = window_for_new_tab(transaction, window_id)
    opener = row_of(transaction, opener_id) if opener_id is not None else None
    show_identity_of(transaction, store)
    target = without_credentials(url or "")
    load: dict[str, str | int] = {"target": target, "navigation": int(url is not None)}
    row = _insert(transaction, window.id, store, index, relative=opener, pinned=pinned, **load)
    if opener is not None:
        transaction.tabs.update(row.id, opener=opener.id, owner=opener.id)
    return _appear(transaction, row, active=active)


def open_window(
    transaction: Transaction, urls: Sequence[str] = (), *, cookie_store_id: str, **fields: str | int | None
) -> Window:
    """Open and focus a window with a tab for each URL, or one blank tab. The first tab is active."""
    window = insert_window(transaction, **fields)
    open_tab(transaction, urls[0] if urls else None, cookie_store_id=cookie_store_id, window_id=window.id)
    announced = announce_window(transaction, window)
    for url in urls[1:]:
        open_tab(transaction, url, cookie_store_id=cookie_store_id, window_id=window.id, active=False)
    return announced


def duplicate(transaction: Transaction, tab_id: int, index: int | None = None, *, active: bool = True) -> Tab:
    """Duplicate a tab: right of an active tab, else at the end of the window."""
    show_identity_of(transaction, row_of(transaction, tab_id).store)
    row = row_of(transaction, tab_id)
    has_page = row.url != BLANK or row.target != ""
    copy = _insert(
        transaction,
        row.window,
        row.store,
        index,
        relative=row if row.active else None,
        url=row.url,
        target=(row.target or row.url) if has_page else "",
        title=row.title,
        icon=row.icon,
        muted=row.muted,
        muted_by=row.muted_by,
        navigation=int(has_page),
        begun=int(has_page),
    )
    if row.active:
        transaction.tabs.update(copy.id, opener=row.id, owner=row.id)
    page = transaction.tabs.page_snapshot(tab_id)
    if page is not None:
        transaction.tabs.save_page_snapshot(copy.id, page)
    copy_values(transaction, kind_of_tab(tab_id), kind_of_tab(copy.id))
    _appear(transaction, copy, active=active)
    new = row_of(transaction, copy.id)
    if row.hidden and not new.active:
        new = change(transaction, new, hidden=1)
    return tab_of(new)


def _insert(
    transaction: Transaction,
    window: int,
    store: int,
    index: int | None,
    *,
    relative: TabRow | None,
    pinned: bool = False,
    **fields: str | int,
) -> TabRow:
    """Add a tab: at the index, else right of `relative` or the last tab opened from it, else at the end."""
    order = transaction.tabs.find(window=window)
    if index is not None:
        relative = None
    else:
        index = _place(transaction, order, relative) if relative else len(order)
    place = within_pinned(order, index, pinned=pinned)
    accessed = next_access_time(transaction, order)
    tab_id = transaction.tabs.insert(window, place, store, pinned=int(pinned), last_accessed=accessed, **fields)
    for row in order:
        if row.active and row.owner is not None:  # after opening more tabs, closing it no longer returns to its opener
            transaction.tabs.update(row.id, owner=None)
    if relative is not None:
        transaction.tabs.update(relative.id, related=tab_id)
    row = row_of(transaction, tab_id)
    set_order(transaction, [*order[:place], row, *order[place:]])
    return row


def _place(transaction: Transaction, order: Sequence[TabRow], relative: TabRow) -> int:
    related = transaction.tabs.get(relative.related) if relative.related is not None else None
    if related is not None:
        transaction.tabs.update(related.id, owner=None)
    before = related or relative
    return before.position + 1 if not before.hidden else len(order)


def _appear(transaction: Transaction, row: TabRow, *, active: bool) -> Tab:
    """Record a new tab. It is active if requested, or if its window has no active tab."""
    others = transaction.tabs.find(window=row.window)
    activation = switch_to(transaction, row) if active or not any(other.active for other in others) else None
    new = row_of(transaction, row.id)
    record_change(transaction, CREATED, tab_of(new))
    if new.pinned:
        record_update(transaction, new, "pinned")
    if activation is not None:
        record_change(transaction, ACTIVATED, activation)
    return tab_of(new)
