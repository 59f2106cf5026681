"""IndexedDB databases of extensions in the profile: transaction functions. Does not interpret records.

A database has a row with its description; each of its object stores has a kind of rows for its records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from hatbox.errors import ApiError
from hatbox.extension_data import installed_extensions as installed
from hatbox.store.base import Transaction

__all__ = ["KIND", "QUOTA", "Commit", "RecordPage", "StoreChange", "commit", "delete", "list_all", "read_page", "usage"]

KIND: Final = "indexedDB"
"""The kind of the rows that describe databases. The key is the number of the database."""

QUOTA: Final = 50 << 20
"""Bytes of all databases of an extension. A database in use is in the memory of the extension process."""

_MAX_STORES: Final = 1000
_PAGE_ROWS: Final = 64  # rows are limited: extensions.indexed_db.MAX_ROW
_MAX_PAGE_ROWS: Final = 1024
_PAGE_BYTES: Final = 256 << 10
_STALE: Final = "stale"


class _Database(msgspec.Struct, frozen=True):
    revision: int
    """Increases with each commit. Detects that another program has changed the database."""
    stores: tuple[int, ...]
    description: str


class StoreChange(msgspec.Struct, frozen=True):
    """Changes of one object store: all rows are deleted first if it was cleared. None deletes a row."""

    store: int
    cleared: bool
    rows: Mapping[str, str | None]


class Commit(msgspec.Struct, frozen=True):
    """A committed transaction of IndexedDB."""

    database: int
    revision: int
    """The revision that it changes; 0 creates the database."""
    stores: tuple[int, ...]
    """All object stores of the database."""
    description: str | None
    """The new description; None if it is unchanged."""
    changes: Sequence[StoreChange]


class RecordPage(msgspec.Struct, frozen=True):
    """A part of the rows of an object store."""

    rows: list[tuple[str, str]]
    next: str | None
    """The key after which the next page starts; None after the last page."""


def list_all(transaction: Transaction, extension: str) -> list[tuple[int, int, str]]:
    """All databases of an extension: number, revision and description."""
    return [(number, found.revision, found.description) for number, found in _databases(transaction, extension)]


def read_page(transaction: Transaction, extension: str, database: int, store: int, after: str) -> RecordPage:
    """The rows of an object store after a key. The page is small: many rows, or few large ones."""
    kind = _records(database, store)
    rows: list[tuple[str, str]] = []
    size, limit = 0, _PAGE_ROWS
    while size < _PAGE_BYTES and len(rows) < _MAX_PAGE_ROWS:
        found = transaction.extensions.find_page(kind, extension, after, limit)
        rows += [(key, value.decode()) for key, value in found]
        if len(found) < limit:
            return RecordPage(rows, None)
        after = found[-1][0]
        size += sum(len(value) for _, value in found)
        limit = max(1, min(_MAX_PAGE_ROWS - len(rows), (_PAGE_BYTES - size) * len(rows) // (size + 1)))
    return RecordPage(rows, after)


def commit(transaction: Transaction, extension: str, change: Commit) -> None:
    """Apply a transaction. Raises ApiError with the name of an exception, and changes nothing."""
    before = _current(transaction, extension, change.database, change.revision)
    table = transaction.extensions
    _check_quota(transaction, extension, change)
    for store in set(before.stores).difference(change.stores):
        table.clear(extension, _records(change.database, store))
    for each in change.changes:
        kind = _records(change.database, each.store)
        if each.cleared:
            table.clear(extension, kind)
        for key, value in each.rows.items():
            if value is None:
                table.delete(extension, kind, key)
        table.replace(extension, kind, {key: value.encode() for key, value in each.rows.items() if value is not None})
    description = before.description if change.description is None else change.description
    after = _Database(before.revision + 1, change.stores, description)
    table.put(extension, KIND, str(change.database), msgspec.json.encode(after))


def delete(transaction: Transaction, extension: str, database: int, revision: int) -> None:
    """Delete a database."""
    for store in _current(transaction, extension, database, revision).stores:
        transaction.extensions.clear(extension, _records(database, store))
    transaction.extensions.delete(extension, KIND, str(database))


def usage(transaction: Transaction, extension: str) -> int:
    """The size of all databases of an extension, in bytes."""
    records = sum(
        transaction.extensions.size(extension, _records(number, store))
        for number, found in _databases(transaction, extension)
        for store in found.stores
    )
    return records + transaction.extensions.size(extension, KIND)


def _current(transaction: Transaction, extension: str, database: int, revision: int) -> _Database:
    if installed.get(transaction, extension) is None:  # removed while running
        raise ApiError(_STALE)
    row = transaction.extensions.get(extension, KIND, str(database))
    found = _Database(0, (), "") if row is None else _decode(row)
    if found.revision != revision:
        raise ApiError(_STALE)
    return found


def _check_quota(transaction: Transaction, extension: str, change: Commit) -> None:
    """Raise ApiError if a commit adds rows beyond the quota. Rows that it deletes or replaces are counted as free."""
    table = transaction.extensions
    added = len(change.description or "") + sum(
        len(key) + len(value.encode())
        for each in change.changes
        for key, value in each.rows.items()
        if value is not None
    )
    others = sum(len(found.stores) for number, found in _databases(transaction, extension) if number != change.database)
    if others + len(change.stores) > _MAX_STORES:
        raise ApiError("QuotaExceededError")
    if not added or added + table.max_size() <= QUOTA:
        return
    freed = sum(_freed(transaction, extension, change.database, each) for each in change.changes)
    if usage(transaction, extension) - freed + added > QUOTA:
        raise ApiError("QuotaExceededError")


def _freed(transaction: Transaction, extension: str, database: int, change: StoreChange) -> int:
    kind, table = _records(database, change.store), transaction.extensions
    if change.cleared:
        return table.size(extension, kind)
    found = ((key, table.get(extension, kind, key)) for key in change.rows)
    return sum(len(key) + len(value) for key, value in found if value is not None)


def _databases(transaction: Transaction, extension: str) -> Iterator[tuple[int, _Database]]:
    for _, key, value in transaction.extensions.find(KIND, extension):
        yield int(key), _decode(value)


def _records(database: int, store: int) -> str:
    return f"{KIND}.{database}.{store}"


_decode = msgspec.json.Decoder(_Database).decode
