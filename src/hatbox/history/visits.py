"""Adds visits to the history, and deletes them. Transaction functions.

A page is one row for each cookie store. Scripts, as in Firefox, see one page for each URL: what they delete is deleted
in all cookie stores.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import msgspec

from hatbox.errors import ApiError
from hatbox.javascript.text import well_formed
from hatbox.store.base import Transaction
from hatbox.store.record_tables import PageRow, VisitRow
from hatbox.urls.protected_pages import is_protected_page
from hatbox.urls.url import parse_url

__all__ = [
    "REMOVED",
    "TITLE_CHANGED",
    "TRANSITIONS",
    "VISITED",
    "HistoryItem",
    "RemovedVisits",
    "TitleChange",
    "add_visit",
    "clear_history",
    "counted",
    "delete_hosts",
    "delete_page",
    "delete_visits",
    "id_of_page",
    "set_title",
    "storable_url",
]

VISITED: Final = "history.visited"
REMOVED: Final = "history.removed"
TITLE_CHANGED: Final = "history.title"

TRANSITIONS: Final = {"link": 1, "typed": 2, "auto_bookmark": 3, "auto_subframe": 4, "manual_subframe": 8, "reload": 9}
"""The supported transitions, with Firefox's numbers."""
_NOT_COUNTED: Final = frozenset({"manual_subframe", "reload"})  # in Firefox's visitCount; also in sqlite/repair.py

_MAX_URL_LENGTH: Final = 2_000  # as in Firefox
_MAX_TITLE_LENGTH: Final = 4_096
_MAX_VISITS: Final = 100_000  # of a profile: the oldest are deleted first
_PRUNE_EVERY: Final = 256  # visits, on average
_PRUNED: Final = 2_000  # visits at most, at once
_BATCH: Final = 1_000
_REFUSED: Final = frozenset(
    {
        *("about", "blob", "chrome", "data", "imap", "javascript", "moz-anno", "moz-extension"),
        *("news", "page-icon", "place", "resource", "view-source", "wyciwyg"),
    }
)


class HistoryItem(msgspec.Struct, frozen=True, rename="camel"):
    """A visited page, as scripts see it. Times are in milliseconds since 1970."""

    id: str
    url: str
    title: str
    last_visit_time: float
    visit_count: int
    typed_count: int


class TitleChange(msgspec.Struct, frozen=True):
    """The argument of history.onTitleChanged."""

    id: str
    url: str
    title: str


class RemovedVisits(msgspec.Struct, frozen=True, rename="camel"):
    """The argument of history.onVisitRemoved."""

    all_history: bool
    urls: tuple[str, ...] = ()


def id_of_page(url: str) -> str:
    """The id of a page, which scripts see: the same in all cookie stores."""
    return base64.urlsafe_b64encode(hashlib.sha256(url.encode()).digest()[:9]).decode("ascii")


def storable_url(url: str) -> str | None:
    """The URL as the history stores it: canonical and without credentials. None for pages that are never recorded."""
    parsed = parse_url(url)
    if parsed is None or parsed.scheme in _REFUSED or is_protected_page(parsed):
        return None
    text = parsed._replace(userinfo="").text
    return text if len(text) <= _MAX_URL_LENGTH else None


def add_visit(
    transaction: Transaction,
    store: int,
    url: str,
    *,
    title: str | None = None,
    transition: str = "link",
    time: float | None = None,
    referrer: int = 0,
) -> int:
    """Record a visit of a page; returns its id. `url` is a storable one. Without `title`, the page has the same one."""
    table = transaction.history
    now = transaction.time()
    visited = now if time is None else time
    number = table.next_id(now)
    before = table.get(store, url)
    page = before or PageRow(number, store, url, "", 0, 0, visited)
    page = page._replace(
        visits=page.visits + int(transition not in _NOT_COUNTED),
        typed=page.typed + int(transition == "typed"),
        last_visit=max(page.last_visit, visited),
        title=page.title if title is None else _stored_title(title),
    )
    table.put(page)
    table.put_visits([VisitRow(number, store, page.id, visited, transition, referrer)])
    _emit(transaction, VISITED, _item(page, table.find(url), visited))
    if before is not None and before.title != page.title:
        _emit(transaction, TITLE_CHANGED, TitleChange(id_of_page(url), url, page.title))
    if number % _PRUNE_EVERY == 0:
        _prune(transaction)
    return number


def set_title(transaction: Transaction, store: int, url: str, title: str) -> None:
    """Change the title of a page, if it is in the history."""
    page = transaction.history.get(store, url)
    title = _stored_title(title)
    if page is not None and page.title != title:
        transaction.history.put(page._replace(title=title))
        _emit(transaction, TITLE_CHANGED, TitleChange(id_of_page(url), url, title))


def delete_page(transaction: Transaction, url: str) -> None:
    """Delete all visits of a page, in all cookie stores."""
    pages = transaction.history.find(url)
    transaction.history.delete(pages)
    if pages:
        _emit(transaction, REMOVED, RemovedVisits(False, (url,)))


def delete_visits(transaction: Transaction, start: float, end: float) -> None:
    """Delete the visits in this time, the ends included, and the pages that have no others."""
    if end < start:
        raise ApiError("An unexpected error occurred")
    removed: list[str] = []
    while visits := transaction.history.visits_between(start, end, _BATCH):
        removed += _delete(transaction, visits)
    _emit_removed(transaction, list(dict.fromkeys(removed)))


def delete_hosts(transaction: Transaction, hosts: Collection[str], since: float | None = None) -> None:
    """Delete the pages of these hosts, in all cookie stores; with `since`, their visits at this time or later."""
    pages: list[PageRow] = []
    before: tuple[float, int] | None = None
    while rows := transaction.history.latest(_BATCH, since=since or -math.inf, before=before):
        pages += [row for row in rows if _host_of(row.url) in hosts]
        before = rows[-1].last_visit, rows[-1].id
    first = -math.inf if since is None else since
    visits = [visit for page in pages for visit in transaction.history.visits(page) if visit.visited >= first]
    _emit_removed(transaction, list(dict.fromkeys(_delete(transaction, visits))))


def _host_of(url: str) -> str:
    parsed = parse_url(url)
    return "" if parsed is None else parsed.host + parsed.port_suffix


def clear_history(transaction: Transaction, store: int | None = None) -> None:
    """Delete the whole history, or that of a cookie store."""
    if transaction.history.is_empty(store):
        return
    if store is None:
        transaction.history.clear()
        _emit(transaction, REMOVED, RemovedVisits(True))
        return
    urls = [page.url for page in transaction.history.load(store)]
    transaction.history.clear(store)
    _emit_removed(transaction, [url for url in urls if not transaction.history.find(url)])


def _delete(transaction: Transaction, visits: Sequence[VisitRow]) -> list[str]:
    """Delete visits, and count those of their pages again. Returns the URLs of pages that have none left."""
    table = transaction.history
    table.delete_visits(visits)
    gone: list[str] = []
    for store, number in dict.fromkeys((visit.store, visit.page) for visit in visits):
        page = table.page(store, number)
        if page is None:
            continue
        rest = table.visits(page)
        if rest:
            table.put(counted(page, rest))
        else:
            table.delete([page])
            if not table.find(page.url):
                gone.append(page.url)
    return gone


def counted(page: PageRow, visits: Sequence[VisitRow]) -> PageRow:
    """A page with the numbers and the time of these visits, which are all that it has."""
    return page._replace(
        visits=sum(visit.transition not in _NOT_COUNTED for visit in visits),
        typed=sum(visit.transition == "typed" for visit in visits),
        last_visit=max(visit.visited for visit in visits),
    )


def _prune(transaction: Transaction) -> None:
    """Delete the oldest visits above the limit."""
    surplus = transaction.history.count_visits() - _MAX_VISITS
    if surplus > 0:
        oldest = transaction.history.visits_between(-math.inf, math.inf, min(surplus, _PRUNED))
        _emit_removed(transaction, _delete(transaction, oldest))


def _item(page: PageRow, pages: Iterable[PageRow], visited: float) -> HistoryItem:
    """A page of several cookie stores as one item."""
    rows = list(pages)
    visits, typed = sum(row.visits for row in rows), sum(row.typed for row in rows)
    return HistoryItem(id_of_page(page.url), page.url, page.title, float(int(visited * 1000)), visits, typed)


def _stored_title(title: str) -> str:
    return well_formed(title[:_MAX_TITLE_LENGTH])


def _emit_removed(transaction: Transaction, urls: Sequence[str]) -> None:
    for start in range(0, len(urls), _BATCH):
        _emit(transaction, REMOVED, RemovedVisits(False, tuple(urls[start : start + _BATCH])))


def _emit(transaction: Transaction, topic: str, payload: Any) -> None:
    transaction.changes.append(topic, msgspec.json.encode(payload))
