"""Reads bookmarks: by id, as a tree, by words. Transaction functions. Error messages match Firefox."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from hatbox.bookmarks.bookmark_changes import is_id
from hatbox.errors import ApiError
from hatbox.history.search import matches_words, words_of
from hatbox.store.base import BookmarkRow, Transaction
from hatbox.store.tables.bookmark_tree import ROOT
from hatbox.urls.url import parse_url

__all__ = ["BookmarkNode", "children", "get", "search", "tree"]

_MAX_SHOWN: Final = 500

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


def tree(transaction: Transaction, bookmark: str = ROOT) -> BookmarkNode:
    """A row with all that it contains."""
    row = transaction.bookmarks.get(bookmark or ROOT)
    if row is None:
        raise ApiError('can\'t access property "guid", node is null')
    if row.id != ROOT:
        return _subtree(transaction, row)
    folders: dict[str, list[BookmarkRow]] = {}
    for each in transaction.bookmarks.find():  # one query, instead of one for each folder
        folders.setdefault(each.parent, []).append(each)

    def node(row: BookmarkRow) -> BookmarkNode:
        return row, [node(child) for child in sorted(folders.get(row.id, ()), key=lambda child: child.position)]

    return node(row)


def _subtree(transaction: Transaction, row: BookmarkRow) -> BookmarkNode:
    found = transaction.bookmarks.children(row.id) if row.kind == "folder" else []
    return row, [_subtree(transaction, child) for child in found]


def search(
    transaction: Transaction, *, text: str | None = None, url: str | None = None, title: str | None = None
) -> list[BookmarkRow]:
    """The rows with all words of `text`, with exactly this URL, and with exactly this title, in the order of adding."""
    parsed = parse_url(url) if url else None
    rows = transaction.bookmarks.find(parsed.text if parsed is not None else None)
    words = words_of(text or "")
    found = [
        row
        for row in rows
        if row.id != ROOT and (not title or row.title == title) and matches_words(words, row.url, row.title)
    ]
    return sorted(found, key=lambda row: (row.added, row.position, row.id))
