"""Loading: what is asked of a tab's page, and what an engine reports of it.

Every load that is asked for has a number, `navigation`. A report names the load that it is about; one about a load that
another has overtaken changes nothing.
"""

from __future__ import annotations

from typing import Any

import msgspec

from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.model import BLANK, Tab, tab_of
from hatbox.tabs.strip import change, row_of

__all__ = ["Page", "keep_page", "navigate", "page_began", "page_changed", "reload"]


class Page(msgspec.Struct, frozen=True):
    """What an engine tells of a page that has loaded, or that could not be."""

    url: str
    title: str = ""
    icon: str = ""
    http_status: int | None = None
    content_type: str = ""
    error: str = ""
    """Why there is no page; empty if there is one."""


def navigate(transaction: Transaction, tab_id: int, url: str) -> Tab:
    """Ask for another page in a tab."""
    row = row_of(transaction, tab_id)
    if url == BLANK:
        blank: dict[str, Any] = {"url": BLANK, "target": "", "title": "", "icon": "", "status": None}
        number = row.navigation + 1
        blank |= {"content_type": "", "error": "", "navigation": number, "loaded": number}
        return tab_of(change(transaction, row, **blank))
    return tab_of(change(transaction, row, target=url, navigation=row.navigation + 1))


def reload(transaction: Transaction, tab_id: int) -> Tab:
    """Ask for a tab's page again."""
    row = row_of(transaction, tab_id)
    if row.url == BLANK and not row.target:
        return tab_of(row)
    return tab_of(change(transaction, row, target=row.target or row.url, navigation=row.navigation + 1))


def page_began(transaction: Transaction, tab_id: int, navigation: int, url: str) -> Tab | None:
    """A page goes somewhere by itself: a link, a script, a form. Nothing if the tab was closed or another load asked
    for."""
    row = transaction.tabs.get(tab_id)
    if row is None or row.navigation != navigation:
        return None
    return tab_of(change(transaction, row, target=url, navigation=row.navigation + 1))


def page_changed(
    transaction: Transaction, tab_id: int, navigation: int, page: Page, *, done: bool = True
) -> Tab | None:
    """What became of a load, or how far it has come. Nothing if the tab was closed or another load asked for."""
    row = transaction.tabs.get(tab_id)
    if row is None or row.navigation != navigation:
        return None
    return tab_of(_show(transaction, row, page, done=done))


def _show(transaction: Transaction, row: TabRow, page: Page, *, done: bool) -> TabRow:
    return change(
        transaction,
        row,
        url=page.url,
        target="" if done else row.target,
        title=page.title,
        icon=page.icon,
        status=page.http_status,
        content_type=page.content_type,
        error=page.error,
        loaded=row.navigation if done else row.loaded,
    )


def keep_page(transaction: Transaction, tab_id: int, page: bytes) -> None:
    """Keep what an engine needs to open a tab's page again as it was."""
    if transaction.tabs.get(tab_id) is not None:
        transaction.tabs.keep_page(tab_id, page)
