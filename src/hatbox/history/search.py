"""Finds visited pages by words and time, a batch of rows at a time, so that a long history delays no other call."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote

from hatbox.history.visits import HistoryItem, id_of_page
from hatbox.store.base import Store, Transaction
from hatbox.store.record_tables import PageRow

__all__ = ["find_pages", "matches_words", "words_of"]

_BATCH: Final = 250
_MAX_TEXT: Final = 2_000  # characters
_MAX_WORDS: Final = 50


async def find_pages(
    store: Store, text: str, *, start: float, end: float | None, limit: int, user_context_id: int | None = None
) -> list[HistoryItem]:
    """The pages with all words of `text` that were visited in this time, those visited last first.

    Pages with one URL in several cookie stores are one item. `user_context_id` selects one cookie store.
    """
    words = words_of(text)
    found: dict[str, HistoryItem] = {}
    before: tuple[float, int] | None = None
    while len(found) < limit:
        work = _batch(words, start, end, user_context_id, before, found, limit)
        rows, items = await store.read(work)
        for item in items:
            found.setdefault(item.url, item)
        if len(rows) < _BATCH:
            break
        before = rows[-1].last_visit, rows[-1].id
        await asyncio.sleep(0)
    return list(found.values())[:limit]


def _batch(
    words: list[str],
    start: float,
    end: float | None,
    user_context_id: int | None,
    before: tuple[float, int] | None,
    known: dict[str, Any],
    limit: int,
) -> Callable[[Transaction], tuple[list[PageRow], list[HistoryItem]]]:
    def read(transaction: Transaction) -> tuple[list[PageRow], list[HistoryItem]]:
        table = transaction.history
        rows = table.latest(_BATCH, since=start, store=user_context_id, before=before)
        items: dict[str, HistoryItem] = {}
        for row in rows:
            if len(known) + len(items) >= limit:
                break
            if row.url in known or row.url in items or not matches_words(words, row.url, row.title):
                continue
            if end is not None and not table.has_visit_between(row, start, end):
                continue
            items[row.url] = _item(row, [row] if user_context_id is not None else table.find(row.url))
        return rows, list(items.values())

    return read


def _item(latest: PageRow, pages: list[PageRow]) -> HistoryItem:
    visits, typed = sum(page.visits for page in pages), sum(page.typed for page in pages)
    time = float(int(latest.last_visit * 1000))
    return HistoryItem(id_of_page(latest.url), latest.url, latest.title, time, visits, typed)


def matches_words(words: list[str], url: str, title: str) -> bool:
    """Whether each of these folded words is in the URL or in the title."""
    if not words:
        return True
    text = folded(f"{unquote(url, errors='replace') if '%' in url else url}\n{title}")
    return all(word in text for word in words)


def words_of(text: str) -> list[str]:
    """The words to search for, folded. Bounded: a script may pass megabytes."""
    return folded(text[:_MAX_TEXT]).split()[:_MAX_WORDS]


def folded(text: str) -> str:
    """Text for comparisons that ignore case and accents."""
    if text.isascii():
        return text.lower()
    plain = "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))
    return plain.casefold()
