"""Navigations of tabs: requested by callers, reported by an engine.

Every requested navigation has an id. A report names its navigation, and is ignored if a later one was requested.
Updates are recorded in Firefox's order: `status` at the start, `status` and `url` when the page is committed, then
`title` and `icon`, and `status` when it is complete.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.activity_log.activity_rows import record_page
from hatbox.history.recording import HISTORY_SETTING, is_recorded
from hatbox.javascript.text import well_formed
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.credentials import without_credentials, without_secrets
from hatbox.tabs.first_tab import FIRST_TAB, use_first_tab
from hatbox.tabs.tab_model import BLANK, NAVIGATED, Tab, display_title, record_change, tab_of
from hatbox.tabs.tab_updates import change, record_update, row_of, undiscarded

__all__ = [
    "PageState",
    "navigate",
    "navigation_started",
    "page_navigated_itself",
    "reload",
    "save_page_snapshot",
    "update_page",
]


_MAX_TITLE_LENGTH: Final = 4096  # characters: every reader of the profile gets the whole title
_WEB: Final = ("http://", "https://")
_RECORDED: Final = ("http://", "https://", "file://")


class PageState(msgspec.Struct, frozen=True):
    """A page as an engine reports it: loaded or failed."""

    url: str
    title: str = ""
    icon: str = ""
    http_status: int | None = None
    content_type: str = ""
    error: str = ""
    """Why loading failed; empty on success."""
    stopped: bool = False
    """Whether the navigation was aborted and the previous page is still shown."""


def navigate(transaction: Transaction, tab_id: int, url: str) -> Tab:
    """Request a navigation. The old page stays until an engine has loaded the new one."""
    transaction.load(values=[FIRST_TAB])
    row = undiscarded(transaction, row_of(transaction, tab_id))
    use_first_tab(transaction, tab_id)
    target = without_credentials(url)
    tab = tab_of(transaction, change(transaction, row, target=target, navigation=row.navigation + 1))
    record_change(transaction, NAVIGATED, tab)
    return tab


def reload(transaction: Transaction, tab_id: int) -> Tab:
    """Request the page of a tab again."""
    row = row_of(transaction, tab_id)
    return navigate(transaction, tab_id, row.target or row.url)


def navigation_started(transaction: Transaction, tab_id: int, navigation: int) -> Tab | None:
    """Record that an engine started a navigation. Returns None if the tab was closed or another navigation requested.

    The blank page loads at once: its updates are recorded together at the end.
    """
    row = _at(transaction, tab_id, navigation)
    if row is None:
        return None
    return tab_of(transaction, row if row.target == BLANK else _start(transaction, row))


def page_navigated_itself(transaction: Transaction, tab_id: int, navigation: int, url: str) -> Tab | None:
    """Record a page-initiated navigation (link, form or script). None as for navigation_started."""
    row = _at(transaction, tab_id, navigation)
    if row is None:
        return None
    target = without_secrets(url)
    return tab_of(
        transaction, _start(transaction, change(transaction, row, target=target, navigation=row.navigation + 1))
    )


def update_page(
    transaction: Transaction, tab_id: int, navigation: int, page: PageState, *, done: bool = True
) -> Tab | None:
    """Save the state of a navigation. None as for navigation_started."""
    row = _at(transaction, tab_id, navigation)
    if row is None:
        return None
    if row.loaded < row.navigation:
        row = _start(transaction, row)
    if not page.stopped:
        page = _storable(page)
        if page.url == row.url and (page.error or not done):  # a restore: the saved title stays until the page has one
            page = msgspec.structs.replace(page, title=page.title or row.title, icon=page.icon or row.icon)
        row = _show(transaction, row, page)
    return tab_of(transaction, _finish(transaction, row) if done else row)


def _storable(page: PageState) -> PageState:
    url, title = without_secrets(page.url), well_formed(page.title[:_MAX_TITLE_LENGTH])
    error = page.error.replace(page.url, url) if url else page.error
    return msgspec.structs.replace(page, url=url, title=title, icon=without_secrets(page.icon), error=error)


def _at(transaction: Transaction, tab_id: int, navigation: int) -> TabRow | None:
    row = transaction.tabs.get(tab_id)
    return row if row is not None and row.navigation == navigation else None


def _start(transaction: Transaction, row: TabRow) -> TabRow:
    if row.begun == row.navigation:
        return row
    row = change(transaction, row, begun=row.navigation)
    record_update(transaction, row, "status")
    return row


def _show(transaction: Transaction, row: TabRow, page: PageState) -> TabRow:
    """Store the page of a tab. Its URL is recorded first, or before it the removal of the old title."""
    is_new_page = row.loaded < row.begun and row.target != ""
    before = row
    row = _update_without_event(
        transaction, row, status=page.http_status, content_type=page.content_type, error=page.error
    )
    if is_new_page:
        old = row
        columns = {"url": page.url, "target": ""} | ({} if page.url == row.url else {"title": ""})
        row = _update_without_event(transaction, row, **columns)
        if _label(row) != _label(old):
            record_update(transaction, row, "title")
        if old.url != BLANK or page.url != BLANK:
            record_update(transaction, row, "status", "url")
    elif page.url != row.url:
        row = change(transaction, row, url=page.url)
    if is_new_page:
        _record_page_activity(transaction, row.store, page.url or before.target, failed=bool(page.error))
    if not page.error:
        _record_visit(transaction, before if is_new_page else before._replace(target=""), page.url)
    label, title = _label(row), row.title
    row = _update_without_event(transaction, row, title=page.title)
    if not page.error and title != page.title:
        _record_title(transaction, row)
    if _label(row) != label:
        record_update(transaction, row, "title")
    return change(transaction, row, icon=page.icon)


def _label(row: TabRow) -> str:
    return display_title(row.title, row.url, row.target)


def _finish(transaction: Transaction, row: TabRow) -> TabRow:
    if row.loaded == row.navigation:
        return row
    row = change(transaction, row, target="", loaded=row.navigation)
    record_update(transaction, row, "status")
    return row


def _update_without_event(transaction: Transaction, row: TabRow, **columns: str | int | None) -> TabRow:
    """Change columns without recording an update."""
    transaction.tabs.update(row.id, **columns)
    return row._replace(**columns)  # type: ignore[arg-type]  # the names are columns


def save_page_snapshot(transaction: Transaction, tab_id: int, page: bytes) -> None:
    """Keep what an engine needs to open a tab's page again as it was."""
    if transaction.tabs.get(tab_id) is not None:
        transaction.tabs.save_page_snapshot(tab_id, page)


def _record_visit(transaction: Transaction, before: TabRow, url: str) -> None:
    """Record that a tab, whose row was `before`, shows another page.

    A reload, and a page that is restored, is no new visit. As in Firefox, the page that a redirect came from is
    one.
    """
    if url == before.url or not url.startswith(_RECORDED):
        return
    if not is_recorded(transaction):
        return
    from hatbox.history.visits import add_visit, storable_url  # imported late: few profiles record a history

    visited = storable_url(url)
    if visited is None:
        return
    source = storable_url(before.target) if before.target.startswith(_RECORDED) else None
    referrer = 0
    if source is not None and source != visited:
        referrer = add_visit(transaction, before.store, source)
    add_visit(transaction, before.store, visited, referrer=referrer)


def _record_page_activity(transaction: Transaction, store: int, url: str, *, failed: bool) -> None:
    """Record that a tab of an identity has loaded a page, or has failed to, in the activity log."""
    if store and url.startswith(_WEB):
        transaction.load(settings=[HISTORY_SETTING])  # record_visit() reads it next
        record_page(transaction, store, url, failed=failed)


def _record_title(transaction: Transaction, row: TabRow) -> None:
    """Record the title of the page of a tab."""
    if row.title and row.url.startswith(_RECORDED) and is_recorded(transaction):
        from hatbox.history.visits import set_title, storable_url

        visited = storable_url(row.url)
        if visited is not None:
            set_title(transaction, row.store, visited, row.title)
