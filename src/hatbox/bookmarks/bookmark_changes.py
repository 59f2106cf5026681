"""Creates, changes, moves and removes bookmarks. Transaction functions. Error messages match Firefox."""

from __future__ import annotations

import base64
import json
import re
import secrets
from typing import Any, Final

import msgspec

from hatbox.bookmarks.bookmark_roots import ensure_roots
from hatbox.errors import ApiError
from hatbox.javascript.text import well_formed
from hatbox.store.base import Transaction
from hatbox.store.record_tables import BookmarkRow
from hatbox.store.tables.bookmark_tree import ROOT, ROOTS, UNFILED
from hatbox.urls.url import parse_url

__all__ = ["CHANGED", "CREATED", "MOVED", "REMOVED", "create", "is_id", "move", "remove", "update"]

CREATED: Final = "bookmarks.created"
REMOVED: Final = "bookmarks.removed"
CHANGED: Final = "bookmarks.changed"
MOVED: Final = "bookmarks.moved"

_ID: Final = re.compile(r"[A-Za-z0-9_-]{12}")
_TYPES: Final = {"bookmark": 1, "folder": 2, "separator": 3}  # Firefox's numbers, in messages
_MAX_TITLE_LENGTH: Final = 4_096  # as in Firefox
_MAX_URL_LENGTH: Final = 65_536  # as in Firefox
_MAX_BOOKMARKS: Final = 20_000
_COUNT_EVERY: Final = 50  # rows of a folder
_MAX_DEPTH: Final = 100
_MAX_SHOWN: Final = 500  # characters of a value in a message


def is_id(bookmark: str) -> bool:
    """Whether a text has the form of an id."""
    return _ID.fullmatch(bookmark) is not None


def create(
    transaction: Transaction,
    *,
    title: str,
    kind: str | None = None,
    url: str | None = None,
    parent: str | None = None,
    index: int | None = None,
) -> BookmarkRow:
    """Create a bookmark, a folder or a separator. Without a kind, what has no URL is a folder."""
    kind = kind or ("folder" if url is None else "bookmark")
    _refuse_root(parent)
    info: dict[str, Any] = {"title": title, "type": _TYPES[kind]}
    if kind == "bookmark":
        info["url"] = url or ""
    if index is not None:
        info["index"] = index
    info["parentGuid"] = folder = UNFILED if parent is None else parent
    stored_url = _stored_url(url or "") if kind == "bookmark" else ""
    if stored_url is None or not is_id(folder) or (kind == "separator" and title):
        raise _invalid(info)
    ensure_roots(transaction)
    found = transaction.bookmarks.get(folder)
    if found is None or found.kind != "folder":
        raise ApiError("parentGuid must be valid")
    now = transaction.time()
    end = transaction.bookmarks.next_position(folder)
    _require_room(transaction, found, end)
    place = end if index is None else min(index, end)
    row = BookmarkRow(_new_id(), folder, place, kind, stored_url, _stored_title(title), now, now)
    _shift(transaction, folder, place, 1)
    transaction.bookmarks.put([row])
    _touch(transaction, folder, now)
    _emit(transaction, CREATED, row)
    return row


def update(transaction: Transaction, bookmark: str, title: str | None, url: str | None) -> BookmarkRow:
    """Change the title or the URL."""
    _refuse_root(bookmark)
    info: dict[str, Any] = {"guid": bookmark}
    info |= {name: value for name, value in (("title", title), ("url", url)) if value is not None}
    stored_url = None if url is None else _stored_url(url)
    if not is_id(bookmark) or len(info) == 1 or (url is not None and stored_url is None):
        raise _invalid(info)
    ensure_roots(transaction)
    row = _existing(transaction, bookmark)
    if stored_url is not None and row.kind != "bookmark":
        raise _invalid_property("url", stored_url)
    if title is not None and row.kind == "separator":
        raise _invalid_property("title", title)
    changed = row._replace(
        title=row.title if title is None or bookmark in ROOTS else _stored_title(title),
        url=row.url if stored_url is None else stored_url,
    )
    if changed != row:
        changed = changed._replace(modified=transaction.time())
        transaction.bookmarks.put([changed])
        if changed.title != row.title:
            _emit(transaction, CHANGED, {"id": bookmark, "title": changed.title})
        if changed.url != row.url:
            _emit(transaction, CHANGED, {"id": bookmark, "url": changed.url})
    return changed


def move(transaction: Transaction, bookmark: str, parent: str | None, index: int | None) -> BookmarkRow:
    """Move to an index of a folder, by default to the end of the same one. The index is the one after the move."""
    _refuse_root(bookmark)
    _refuse_root(parent)
    info: dict[str, Any] = {"guid": bookmark}
    if parent is not None:
        info["parentGuid"] = parent
    info["index"] = -1 if index is None else index
    if not is_id(bookmark) or (parent is not None and not is_id(parent)):
        raise _invalid(info)
    ensure_roots(transaction)
    row = _existing(transaction, bookmark)
    if bookmark in ROOTS:
        raise ApiError("It's not possible to move Places root folders.")
    folder = row.parent if parent is None else parent
    _require_folder(transaction, row, folder)
    others = transaction.bookmarks.next_position(folder) - (folder == row.parent)
    place = others if index is None else min(index, others)
    if folder == row.parent and place == row.position:
        return row
    now = transaction.time()
    moved = row._replace(parent=folder, position=place, modified=now)
    transaction.bookmarks.delete([bookmark])
    _shift(transaction, row.parent, row.position + 1, -1)
    _shift(transaction, folder, place, 1)
    transaction.bookmarks.put([moved])
    for each in {row.parent, folder}:
        _touch(transaction, each, now)
    details = {"parentId": folder, "index": place, "oldParentId": row.parent, "oldIndex": row.position}
    _emit(transaction, MOVED, {"id": bookmark, **details})
    return moved


def remove(transaction: Transaction, bookmark: str, *, tree: bool) -> None:
    """Remove a row; with `tree`, also all that a folder contains."""
    _refuse_root(bookmark)
    if not is_id(bookmark) or bookmark in ROOTS:
        raise _invalid({"guid": bookmark})
    row = transaction.bookmarks.get(bookmark)
    if row is None:
        raise ApiError("No bookmarks found for the provided GUID.")
    inside = _descendants(transaction, row)
    if inside and not tree:
        raise ApiError("Cannot remove a non-empty folder.")
    transaction.bookmarks.delete([bookmark, *inside])
    _shift(transaction, row.parent, row.position + 1, -1)
    _touch(transaction, row.parent, transaction.time())
    _emit(transaction, REMOVED, row)


def _existing(transaction: Transaction, bookmark: str) -> BookmarkRow:
    row = transaction.bookmarks.get(bookmark)
    if row is None:
        raise ApiError("No bookmarks found for the provided GUID")
    return row


def _require_folder(transaction: Transaction, row: BookmarkRow, folder: str) -> None:
    """Refuse to move a row into itself, or to a row that is not a folder."""
    found = transaction.bookmarks.get(folder)
    if found is None or found.kind != "folder":
        raise ApiError("No bookmarks found for the provided parentGuid")
    at: BookmarkRow | None = found
    depth = _height(transaction, row) if folder != row.parent else 0
    while at is not None and at.id != ROOT:
        if at.id == row.id:
            raise ApiError("Cannot insert a folder into itself or one of its descendants")
        depth += 1
        if depth > _MAX_DEPTH:
            raise ApiError(f"Bookmarks can be nested at most {_MAX_DEPTH} folders deep")
        at = transaction.bookmarks.get(at.parent)


def _height(transaction: Transaction, row: BookmarkRow) -> int:
    """How deep folders are nested below a row."""
    height, level = 0, [row.id] if row.kind == "folder" and row.id else []
    children = transaction.bookmarks.children
    while level := [child.id for each in level for child in children(each) if child.kind == "folder"]:
        height += 1
    return height


def _require_room(transaction: Transaction, folder: BookmarkRow, end: int) -> None:
    # Not for every row, because counting reads all of them.
    if end % _COUNT_EVERY == 0 and transaction.bookmarks.count() >= _MAX_BOOKMARKS:
        raise ApiError(f"The profile has {_MAX_BOOKMARKS} bookmarks, which is the limit. Remove some first.")
    _require_folder(transaction, BookmarkRow("", "", 0, "folder", "", "", 0.0, 0.0), folder.id)


def _descendants(transaction: Transaction, row: BookmarkRow) -> list[str]:
    found: list[str] = []
    waiting = [row.id] if row.kind == "folder" else []
    while waiting:
        for child in transaction.bookmarks.children(waiting.pop()):
            found.append(child.id)
            if child.kind == "folder":
                waiting.append(child.id)
    return found


def _shift(transaction: Transaction, folder: str, start: int, by: int) -> None:
    """Change the positions of the rows of a folder from `start` on. Reads and writes no others."""
    rows = transaction.bookmarks.children(folder, start)
    transaction.bookmarks.put([row._replace(position=row.position + by) for row in rows])


def _touch(transaction: Transaction, folder: str, now: float) -> None:
    row = transaction.bookmarks.get(folder)
    if row is not None:
        transaction.bookmarks.put([row._replace(modified=now)])


def _stored_url(url: str) -> str | None:
    parsed = parse_url(url)
    if parsed is None:
        return None
    return well_formed(parsed.text) if len(parsed.text) <= _MAX_URL_LENGTH else None


def _stored_title(title: str) -> str:
    return well_formed(title[:_MAX_TITLE_LENGTH])


def _new_id() -> str:
    """A new id. Never one that ends like those of the root folders."""
    while (new := base64.urlsafe_b64encode(secrets.token_bytes(9)).decode("ascii")).endswith("_____"):
        pass
    return new


def _refuse_root(bookmark: str | None) -> None:
    if bookmark == ROOT:
        raise ApiError("The bookmark root cannot be modified")


def _invalid(info: dict[str, Any]) -> ApiError:
    shown = {name: value[:_MAX_SHOWN] if isinstance(value, str) else value for name, value in info.items()}
    return ApiError(f"Invalid bookmark: {json.dumps(shown, ensure_ascii=False, separators=(',', ':'))}")


def _invalid_property(name: str, value: str) -> ApiError:
    shown = json.dumps(value[:_MAX_SHOWN], ensure_ascii=False)
    return ApiError(f"Bookmarks.sys.mjs: update: Invalid value for property '{name}': {shown}")


def _emit(transaction: Transaction, topic: str, payload: Any) -> None:
    transaction.changes.append(topic, msgspec.json.encode(payload))
