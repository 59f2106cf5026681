"""Reads bookmarks: by id, as a tree, by words. Error messages match Firefox."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from hatbox.bookmarks.bookmark_changes import is_id
from hatbox.errors import ApiError
from hatbox.history.search import matches_words, words_of
from hatbox.store.base import Store, Transaction
from hatbox.store.record_tables import BookmarkRow
from hatbox.store.tables.bookmark_tree import ROOT
from hatbox.urls.url import parse_url

__all__ = ["BookmarkNode", "children", "get", "read_all", "search", "tree"]

_MAX_SHOWN: Final = 500
_BATCH: Final = 500
_MAX_DEPTH: Final = 150  # more than bookmarks have: rows of different commits could be in a cycle

BookmarkNode = tuple[BookmarkRow, "list[BookmarkNode]"]
"""A row, and what it contains."""


def get(transaction: Transaction, bookmarks: Sequence[str]) -> list[BookmarkRow]:
    """These rows, in this order."""
    found: list[BookmarkRow] = []
    for bookmark in bookmarks:
        if not is_id(bookmark):
            shown = json.dumps(bookmark[:_MAX_SHOWN], ensure_ascii=False)
            raise ApiError(f"Bookmarks.sys.mjs: fetch: Invalid value for property 'guid': {shown}")
        row = transaction.bookmarks.get(bookmark)
        if row is None:
            raise ApiError("Bookmark not found")
        found.append(row)
    return found


def children(transaction: Transaction, bookmark: str) -> list[BookmarkRow]:
    """What a folder contains, in order. Empty for a bookmark."""
    bookmark = bookmark or ROOT
    if transaction.bookmarks.get(bookmark) is None:
        raise ApiError('can\'t access property "children", root is null')
    return transaction.bookmarks.children(bookmark)


async def read_all(store: Store) -> list[BookmarkRow]:
    """All rows, in batches, so that many bookmarks delay no other call. Each is read once."""
    rows: list[BookmarkRow] = []
    while True:
        found = await store.read(partial(_batch, after=rows[-1].id if rows else ""))
        rows += found
        if len(found) < _BATCH:
            return rows
        await asyncio.sleep(0)


def _batch(transaction: Transaction, *, after: str) -> list[BookmarkRow]:
    return transaction.bookmarks.batch(after, _BATCH)


def tree(rows: Sequence[BookmarkRow], bookmark: str = ROOT) -> BookmarkNode:
    """A row with all that it contains."""
    top = next((row for row in rows if row.id == (bookmark or ROOT)), None)
    if top is None:
        raise ApiError('can\'t access property "guid", node is null')
    folders: dict[str, list[BookmarkRow]] = {}
    for row in rows:
        folders.setdefault(row.parent, []).append(row)
    return _node(top, folders, _MAX_DEPTH)


def _node(row: BookmarkRow, folders: Mapping[str, list[BookmarkRow]], depth: int) -> BookmarkNode:
    children = sorted(folders.get(row.id, ()), key=lambda child: child.position) if depth else []
    return row, [_node(child, folders, depth - 1) for child in children]


def search(
    rows: Iterable[BookmarkRow], *, text: str | None = None, url: str | None = None, title: str | None = None
) -> list[BookmarkRow]:
    """The rows with all words of `text`, with exactly this URL, and with exactly this title, in the order of adding."""
    parsed = parse_url(url) if url else None
    words = words_of(text or "")
    found = [
        row
        for row in rows
        if row.id != ROOT
        and (parsed is None or row.url == parsed.text)
        and (not title or row.title == title)
        and matches_words(words, row.url, row.title)
    ]
    return sorted(found, key=lambda row: (row.added, row.position, row.id))
