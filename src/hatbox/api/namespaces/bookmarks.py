"""The namespace bookmarks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.bookmarks import bookmark_changes, bookmark_queries
from hatbox.bookmarks.bookmark_queries import BookmarkNode
from hatbox.bookmarks.bookmark_roots import ensure_roots
from hatbox.errors import ApiError
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents
from hatbox.store.record_tables import BookmarkRow
from hatbox.store.tables.bookmark_tree import ROOT

__all__ = ["implement"]

_LOCALIZED: Final = {
    "menu________": "Bookmarks Menu",
    "toolbar_____": "Bookmarks Toolbar",
    "unfiled_____": "Other Bookmarks",
    "mobile______": "Mobile Bookmarks",
}
_SEPARATOR_URL: Final = "data:"
_MAX_RECENT: Final = 1_000


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the bookmarks of a profile."""
    return _Bookmarks(schema, services)


class _Bookmarks(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        feed = ChangeEvents(services.store, "bookmarks")
        decode_row, decode = msgspec.json.Decoder(BookmarkRow).decode, msgspec.json.decode
        events = {
            "onCreated": EventBinding(feed.event("onCreated", bookmark_changes.CREATED, decode_row), _created_args),
            "onRemoved": EventBinding(feed.event("onRemoved", bookmark_changes.REMOVED, decode_row), _removed_args),
            "onChanged": EventBinding(feed.event("onChanged", bookmark_changes.CHANGED, decode), _changed_args),
            "onMoved": EventBinding(feed.event("onMoved", bookmark_changes.MOVED, decode), _changed_args),
        }
        self._has_roots = False
        super().__init__(schema, services.store, events)

    def get(self, ids: str | Sequence[str]) -> asyncio.Future[Any]:
        wanted = [ids] if isinstance(ids, str) else list(ids)
        return self._query(lambda each: [_node(row) for row in bookmark_queries.get(each, wanted)])

    def get_children(self, bookmark: str) -> asyncio.Future[Any]:
        return self._query(lambda each: [_node(row) for row in bookmark_queries.children(each, bookmark)])

    def get_recent(self, number: int) -> asyncio.Future[Any]:
        limit = min(number, _MAX_RECENT)
        return self._query(lambda each: [_node(row) for row in each.bookmarks.recent(limit)])

    def get_tree(self) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._tree(ROOT))

    def get_sub_tree(self, bookmark: str) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._tree(bookmark))

    async def _tree(self, bookmark: str) -> list[dict[str, Any]]:
        return [_top(bookmark_queries.tree(await self._all_rows(), bookmark))]

    def search(self, query: str | Mapping[str, str | None]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._search(query))

    async def _search(self, query: str | Mapping[str, str | None]) -> list[dict[str, Any]]:
        if query == "":
            raise ApiError("An unexpected error occurred")
        details = {"query": query, "url": None, "title": None} if isinstance(query, str) else query
        rows = await self._all_rows()
        found = bookmark_queries.search(rows, text=details["query"], url=details["url"], title=details["title"])
        return [_node(row) for row in found]

    async def _all_rows(self) -> list[BookmarkRow]:
        await self._query(lambda _: None)
        return await bookmark_queries.read_all(self._store)

    def create(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._write(
            "create",
            lambda each: _node(
                bookmark_changes.create(
                    each,
                    title=details["title"] or "",
                    kind=details["type"],
                    url=details["url"],
                    parent=details["parentId"],
                    index=details["index"],
                )
            ),
        )

    def move(self, bookmark: str, to: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._write(
            "move", lambda each: _node(bookmark_changes.move(each, bookmark, to["parentId"], to["index"]))
        )

    def update(self, bookmark: str, changes: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._write(
            "update", lambda each: _node(bookmark_changes.update(each, bookmark, changes["title"], changes["url"]))
        )

    def remove(self, bookmark: str) -> asyncio.Future[Any]:
        return self._write("remove", lambda each: bookmark_changes.remove(each, bookmark, tree=False))

    def remove_tree(self, bookmark: str) -> asyncio.Future[Any]:
        return self._write("removeTree", lambda each: bookmark_changes.remove(each, bookmark, tree=True))

    def _query(self, work: Callable[[Transaction], Any]) -> asyncio.Future[Any]:
        """Run a query. The first one writes the root folders, if they do not exist."""
        if self._has_roots:
            return self._store.read(work)

        def with_roots(transaction: Transaction) -> Any:
            ensure_roots(transaction)
            return work(transaction)

        self._has_roots = True
        return self._store.write(with_roots)


def _node(row: BookmarkRow) -> dict[str, Any]:
    node = _without_parent(row)
    if row.id != ROOT:
        node["parentId"] = row.parent
    if row.kind == "folder":
        node["dateGroupModified"] = int(row.modified * 1000)
    return node


def _without_parent(row: BookmarkRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": _LOCALIZED.get(row.id, row.title),
        "index": row.position,
        "dateAdded": int(row.added * 1000),
        "type": row.kind,
        "url": _url(row),
    }


def _url(row: BookmarkRow) -> Any:
    return {"bookmark": row.url, "separator": _SEPARATOR_URL}.get(row.kind, UNDEFINED)


def _top(node: BookmarkNode) -> dict[str, Any]:
    """The top of a tree: in Firefox, its parent comes last."""
    shown = _inner(node)
    shown.pop("parentId", None)
    shown["parentId"] = node[0].parent or UNDEFINED
    return shown


def _inner(node: BookmarkNode) -> dict[str, Any]:
    row, children = node
    shown = _node(row)
    if row.kind == "folder":
        shown["children"] = [_inner(child) for child in children]
    return shown


def _created_args(_: Caller, row: BookmarkRow) -> tuple[str, dict[str, Any]]:
    node = {
        "id": row.id,
        "parentId": row.parent,
        "index": row.position,
        "title": row.title,
        "dateAdded": int(row.added * 1000),
        "type": row.kind,
        "url": _url(row),
    }
    if row.kind == "folder":
        node["dateGroupModified"] = node["dateAdded"]
    return row.id, node


def _removed_args(_: Caller, row: BookmarkRow) -> tuple[str, dict[str, Any]]:
    place = {"parentId": row.parent, "index": row.position}
    node = {"id": row.id, **place, "type": row.kind, "url": _url(row), "title": row.title}
    return row.id, {**place, "node": node}


def _changed_args(_: Caller, payload: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    details = dict(payload)
    return details.pop("id"), details
