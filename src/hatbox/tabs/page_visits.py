"""Records the pages of tabs in the history, and in the activity log, while they are recorded. Transaction functions.

A reload, and a page that is restored, is no new visit. As in Firefox, the page that a redirect came from is one.
"""

from __future__ import annotations

from typing import Final

from hatbox.activity_log.activity_rows import record_page
from hatbox.history.recording import HISTORY_SETTING, is_recorded
from hatbox.store.base import TabRow, Transaction

__all__ = ["record_page_activity", "record_title", "record_visit"]

_WEB: Final = ("http://", "https://")
_RECORDED: Final = ("http://", "https://", "file://")


def record_visit(transaction: Transaction, before: TabRow, url: str) -> None:
    """Record that a tab, whose row was `before`, shows another page."""
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


def record_page_activity(transaction: Transaction, store: int, url: str, *, failed: bool) -> None:
    """Record that a tab of an identity has loaded a page, or has failed to, in the activity log."""
    if store and url.startswith(_WEB):
        transaction.load(settings=[HISTORY_SETTING])  # record_visit() reads it next
        record_page(transaction, store, url, failed=failed)


def record_title(transaction: Transaction, row: TabRow) -> None:
    """Record the title of the page of a tab."""
    if row.title and row.url.startswith(_RECORDED) and is_recorded(transaction):
        from hatbox.history.visits import set_title, storable_url

        visited = storable_url(row.url)
        if visited is not None:
            set_title(transaction, row.store, visited, row.title)
