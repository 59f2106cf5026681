"""Loading: what is asked of a tab's page, and what an engine reports of it.

Every load that is asked for has a number, `navigation`. A report names the load that it is about; one about a load that
another has overtaken changes nothing. What is told of a load, and in which order, is what Firefox tells: `status` when
it begins, `status` and `url` when the page is there, then its `title` and `icon`, `status` when it is done.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.javascript.text import well_formed
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.first_tab import use_first_tab
from hatbox.tabs.strip import change, record_update, row_of
from hatbox.tabs.tab_model import BLANK, NAVIGATED, Tab, record_change, tab_of

__all__ = [
    "PageState",
    "navigate",
    "navigation_started",
    "page_navigated_itself",
    "reload",
    "save_page_snapshot",
    "update_page",
]


_MAX_TITLE_LENGTH: Final = (
    4096  # characters of a title: no strip shows more, and every reader of the profile gets all of it
)


class PageState(msgspec.Struct, frozen=True):
    """What an engine tells of a page that has loaded, or that could not be."""

    url: str
    title: str = ""
    icon: str = ""
    http_status: int | None = None
    content_type: str = ""
    error: str = ""
    """Why there is no page; empty if there is one."""
    stopped: bool = False
    """Whether the load came to nothing, and the page is the one that was there before."""


def navigate(transaction: Transaction, tab_id: int, url: str) -> Tab:
    """Ask for another page in a tab. Until an engine has it, the old one stays."""
    row = row_of(transaction, tab_id)
    use_first_tab(transaction, tab_id)
    target = without_credentials(url)
    tab = tab_of(change(transaction, row, target=target, navigation=row.navigation + 1))
    record_change(transaction, NAVIGATED, tab)
    return tab


def reload(transaction: Transaction, tab_id: int) -> Tab:
    """Ask for a tab's page again."""
    row = row_of(transaction, tab_id)
    return navigate(transaction, tab_id, row.target or row.url)


def navigation_started(transaction: Transaction, tab_id: int, navigation: int) -> Tab | None:
    """An engine has begun a load that was asked for. Nothing if the tab was closed or another load asked for.

    A blank page is there as soon as it is asked for: its load is told from beginning to end at once.
    """
    row = _at(transaction, tab_id, navigation)
    if row is None:
        return None
    return tab_of(row if row.target == BLANK else _begin(transaction, row))


def page_navigated_itself(transaction: Transaction, tab_id: int, navigation: int, url: str) -> Tab | None:
    """A page goes somewhere by itself: a link, a script, a form. Nothing if the tab was closed or another load asked
    for."""
    row = _at(transaction, tab_id, navigation)
    if row is None:
        return None
    target = without_credentials(url)
    return tab_of(_begin(transaction, change(transaction, row, target=target, navigation=row.navigation + 1)))


def update_page(
    transaction: Transaction, tab_id: int, navigation: int, page: PageState, *, done: bool = True
) -> Tab | None:
    """What became of a load, or how far it has come. Nothing if the tab was closed or another load asked for."""
    row = _at(transaction, tab_id, navigation)
    if row is None:
        return None
    if row.loaded < row.navigation:
        row = _begin(transaction, row)
    if not page.stopped:
        page = _storable(page)
        if page.url == row.url and (page.error or not done):  # a restore: the saved title stays until the page has one
            page = msgspec.structs.replace(page, title=page.title or row.title, icon=page.icon or row.icon)
        row = _show(transaction, row, page)
    return tab_of(_finish(transaction, row) if done else row)


def _storable(page: PageState) -> PageState:
    url, title = without_credentials(page.url), well_formed(page.title[:_MAX_TITLE_LENGTH])
    error = page.error.replace(page.url, url) if url else page.error
    return msgspec.structs.replace(page, url=url, title=title, icon=without_credentials(page.icon), error=error)


def _at(transaction: Transaction, tab_id: int, navigation: int) -> TabRow | None:
    row = transaction.tabs.get(tab_id)
    return row if row is not None and row.navigation == navigation else None


def _begin(transaction: Transaction, row: TabRow) -> TabRow:
    if row.begun == row.navigation:
        return row
    row = change(transaction, row, begun=row.navigation)
    record_update(transaction, row, "status")
    return row


def _show(transaction: Transaction, row: TabRow, page: PageState) -> TabRow:
    """Put a page into its tab. The first that is told of one is its URL; before it, that the old title is gone."""
    arrives = row.loaded < row.begun and row.target != ""
    row = _update_without_event(
        transaction, row, status=page.http_status, content_type=page.content_type, error=page.error
    )
    if arrives:
        old = tab_of(row)
        columns = {"url": page.url, "target": ""} | ({} if page.url == row.url else {"title": ""})
        row = _update_without_event(transaction, row, **columns)
        if tab_of(row).display_title != old.display_title:
            record_update(transaction, row, "title")
        if old.url != BLANK or page.url != BLANK:
            record_update(transaction, row, "status", "url")
    elif page.url != row.url:
        row = change(transaction, row, url=page.url)
    label = tab_of(row).display_title
    row = _update_without_event(transaction, row, title=page.title)
    if tab_of(row).display_title != label:
        record_update(transaction, row, "title")
    return change(transaction, row, icon=page.icon)


def _finish(transaction: Transaction, row: TabRow) -> TabRow:
    if row.loaded == row.navigation:
        return row
    row = change(transaction, row, target="", loaded=row.navigation)
    record_update(transaction, row, "status")
    return row


def _update_without_event(transaction: Transaction, row: TabRow, **columns: str | int | None) -> TabRow:
    """Change columns of which nobody is told, or not yet."""
    transaction.tabs.update(row.id, **columns)
    return row._replace(**columns)  # type: ignore[arg-type]  # the names are columns


def save_page_snapshot(transaction: Transaction, tab_id: int, page: bytes) -> None:
    """Keep what an engine needs to open a tab's page again as it was."""
    if transaction.tabs.get(tab_id) is not None:
        transaction.tabs.save_page_snapshot(tab_id, page)
