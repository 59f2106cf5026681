"""Opens and duplicates tabs: the position of a new tab, and what it inherits from its opener."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hatbox.errors import InvalidIdentity
from hatbox.identity.ids import user_context_id_of
from hatbox.store.base import NO_GROUP, TabRow, Transaction, WindowSummary
from hatbox.tabs.credentials import without_credentials, without_secrets
from hatbox.tabs.session_values import copy_values, kind_of_tab
from hatbox.tabs.strip import change, next_access_time, record_update, row_of, switch_to, within_pinned
from hatbox.tabs.tab_groups import get_group, group_beside, members_of
from hatbox.tabs.tab_model import ACTIVATED, BLANK, CREATED, Tab, Window, record_change, tab_of
from hatbox.tabs.visibility import show_identity_of
from hatbox.tabs.windows import announce_window, insert_window, window_for_new_tab

__all__ = ["duplicate", "open_saved_tab", "open_tab", "open_window"]


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
    discarded_title: str | None = None,
) -> Tab:
    """Open a tab, by default blank and last in the normal window focused last. An engine loads its URL.

    A hidden identity is shown first. With `discarded_title`, the tab has this title, and the URL is loaded when the tab
    is activated.
    """
    store = user_context_id_of(cookie_store_id)
    if store is None or (store and transaction.identities.get(store) is None):
        raise InvalidIdentity(cookie_store_id)
    window = window_for_new_tab(transaction, window_id)
    opener = row_of(transaction, opener_id) if opener_id is not None else None
    show_identity_of(transaction, store)
    target = without_credentials(url or "")
    if discarded_title is None:
        page: dict[str, str | int | None] = {"target": target, "navigation": int(url is not None)}
    else:
        shown = without_secrets(target)
        page = {"url": shown, "title": discarded_title or shown, "discarded": 1}
    row, summary = _insert(
        transaction,
        window.id,
        store,
        index,
        relative=opener,
        pinned=pinned,
        opener=opener_id,
        owner=opener_id,
        **page,
    )
    return _appear(transaction, row, summary, active=active)


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
    group = get_group(transaction, row.tab_group) if row.tab_group != NO_GROUP else None
    last = members_of(transaction, group)[-1] if group is not None and not row.active else None
    has_page = row.url != BLANK or row.target != ""
    copy, summary = _insert(
        transaction,
        row.window,
        row.store,
        index,
        relative=row if row.active else last,
        url=row.url,
        target=(row.target or row.url) if has_page else "",
        title=row.title,
        icon=row.icon,
        muted=row.muted,
        muted_by=row.muted_by,
        navigation=int(has_page),
        begun=int(has_page),
        opener=row.id if row.active else None,
        owner=row.id if row.active else None,
    )
    page = transaction.tabs.page_snapshot(tab_id)
    if page is not None:
        transaction.tabs.save_page_snapshot(copy.id, page)
    copy_values(transaction, kind_of_tab(tab_id), kind_of_tab(copy.id))
    _appear(transaction, copy, summary, active=active)
    new = row_of(transaction, copy.id)
    if row.hidden and not new.active:
        new = change(transaction, new, hidden=1)
    return tab_of(transaction, new)


def open_saved_tab(
    transaction: Transaction,
    window: int,
    store: int,
    index: int,
    *,
    columns: Mapping[str, str | int | None],
    page: bytes | None,
    active: bool,
) -> Tab:
    """Open a tab with saved columns of its row, and the snapshot of its page. An engine loads it."""
    show_identity_of(transaction, store)
    url, target = str(columns.get("url") or BLANK), str(columns.get("target") or "")
    saved = {name: columns[name] for name in ("title", "icon", "muted", "muted_by", "discardable") if name in columns}
    pinned = columns.get("pinned") == 1
    row, summary = _insert(
        transaction,
        window,
        store,
        index,
        relative=None,
        pinned=pinned,
        url=url,
        target=target or url,
        navigation=1,
        begun=1,
        **saved,
    )
    if page is not None:
        transaction.tabs.save_page_snapshot(row.id, page)
    _appear(transaction, row, summary, active=active)
    return tab_of(transaction, row_of(transaction, row.id))


def _insert(
    transaction: Transaction,
    window: int,
    store: int,
    index: int | None,
    *,
    relative: TabRow | None,
    pinned: bool = False,
    **fields: str | int | None,
) -> tuple[TabRow, WindowSummary]:
    """Add a tab: at the index, else right of `relative` or the last tab opened from it, else at the end.

    Returns its row, and the summary of its window with the new tab.
    """
    summary = transaction.tabs.summary(window)
    if index is not None:
        relative = None
    else:
        index = _index_after(transaction, summary, relative) if relative else summary.tab_count
    index = within_pinned(summary, index, pinned=pinned)
    accessed = next_access_time(transaction, summary)
    row = transaction.tabs.insert(window, index, store, pinned=int(pinned), last_accessed=accessed, **fields)
    if not pinned:
        row = _in_group(transaction, row, relative, is_last=index == summary.tab_count)
    active = summary.active
    if active is not None and active.owner is not None:
        # after opening more tabs, closing it no longer returns to its opener
        transaction.tabs.update(active.id, owner=None)
    related = {other.id: other for other in summary.related}
    if relative is not None:
        transaction.tabs.update(relative.id, related=row.id)
        related[relative.id] = relative._replace(related=row.id)
        if active is not None and active.id == relative.id:
            active = related[relative.id]
    return row, summary._replace(active=active, last_accessed=accessed, related=tuple(related.values()))


def _in_group(transaction: Transaction, row: TabRow, relative: TabRow | None, *, is_last: bool) -> TabRow:
    """The row of a new tab: it is in the group of the tab that it was opened from, or of the tabs on both sides."""
    if relative is not None:
        group = relative.tab_group
    else:
        group = NO_GROUP if is_last else group_beside(*transaction.tabs.neighbours(row))
    if group == NO_GROUP:
        return row
    transaction.tabs.update(row.id, tab_group=group)
    return row._replace(tab_group=group)


def _index_after(transaction: Transaction, summary: WindowSummary, relative: TabRow) -> int:
    related = transaction.tabs.get(relative.related) if relative.related is not None else None
    if related is not None:
        transaction.tabs.update(related.id, owner=None)
    # One that is in another group now would tear its group or that of the new tab.
    before = related if related is not None and related.tab_group == relative.tab_group else relative
    return transaction.tabs.indexes([before])[before.id] + 1 if not before.hidden else summary.tab_count


def _appear(transaction: Transaction, row: TabRow, summary: WindowSummary, *, active: bool) -> Tab:
    """Record a new tab. It is active if requested, or if its window has no active tab."""
    activation = switch_to(transaction, row, summary) if active or summary.active is None else None
    new = row_of(transaction, row.id)
    tab = tab_of(transaction, new)
    record_change(transaction, CREATED, tab)
    if new.pinned:
        record_update(transaction, new, "pinned")
    if activation is not None:
        record_change(transaction, ACTIVATED, activation)
    return tab
