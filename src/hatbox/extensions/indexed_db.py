"""IndexedDB of background scripts, stored in the profile. Checks the requests of the extension process.

idb_profile.js sends them. The changes of a transaction arrive in parts, which are collected until its commit.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable
from typing import Any, Final

from hatbox.errors import ApiError
from hatbox.extension_data import indexed_databases
from hatbox.extension_data.indexed_databases import QUOTA, Commit, StoreChange
from hatbox.extensions.runtime.wire_frames import ProtocolError
from hatbox.store.base import Store

__all__ = ["MAX_ROW", "IndexedDb"]

MAX_ROW: Final = 1 << 14
"""Characters of a row. A page of rows must fit into a message, and must not delay others."""

_MAX_STAGED_ROWS: Final = 100_000  # written in one transaction, for which other programs wait
_MAX_NUMBER: Final = (1 << 53) - 1
_ROW_KEY: Final = re.compile(r"[0-9]{1,16}\.[0-9]{1,8}", re.ASCII)


class IndexedDb:
    """The databases of one extension."""

    def __init__(self, store: Store, extension: str) -> None:
        self._store = store
        self._extension = extension
        self.discard_staged()

    def discard_staged(self) -> None:
        """Discard changes that were not committed: their process has ended."""
        self._staged: list[StoreChange] = []
        self._staged_size = 0
        self._staged_rows = 0

    def handle(self, operation: str, fields: list[Any]) -> Awaitable[Any]:
        """Start an operation. Raises ProtocolError if it is invalid."""
        extension = self._extension
        match operation, fields:
            case "list", []:
                return self._store.read(lambda transaction: indexed_databases.list_all(transaction, extension))
            case "read", [database, store, str(after)] if _are_numbers(database, store) and _is_row_key(after or "0.0"):
                return self._store.read(
                    lambda transaction: indexed_databases.read_page(transaction, extension, database, store, after)
                )
            case "stage", [store, bool(cleared), list(rows)] if _are_numbers(store):
                self._stage(StoreChange(store, cleared, dict(map(_row, rows))))
                return _nothing()
            case "commit", [database, revision, list(stores), str() | None as description] if _are_numbers(
                database, revision, *stores
            ):
                # Taken here, not when the coroutine first runs: another database may stage its changes before that.
                staged, too_large = self._staged, self._is_too_large()
                self.discard_staged()
                return self._commit(Commit(database, revision, tuple(stores), description, staged), too_large=too_large)
            case "delete", [database, revision] if _are_numbers(database, revision):
                return self._store.write(
                    lambda transaction: indexed_databases.delete(transaction, extension, database, revision)
                )
            case "usage", []:
                return self._usage()
        raise ProtocolError("invalid request of IndexedDB")

    def _stage(self, change: StoreChange) -> None:
        self._staged_size += sum(len(value) for value in change.rows.values() if value is not None)
        self._staged_rows += len(change.rows)
        if self._is_too_large():
            change = StoreChange(change.store, False, {})  # refused at the commit
            self._staged = []
        self._staged.append(change)

    def _is_too_large(self) -> bool:
        return self._staged_size > QUOTA or self._staged_rows > _MAX_STAGED_ROWS

    async def _commit(self, commit: Commit, *, too_large: bool) -> None:
        if too_large:
            raise ApiError("QuotaExceededError")
        await self._store.write(lambda transaction: indexed_databases.commit(transaction, self._extension, commit))

    async def _usage(self) -> tuple[int, int]:
        return await self._store.read(lambda transaction: indexed_databases.usage(transaction, self._extension)), QUOTA


async def _nothing() -> None:
    """The result of a staged change."""


def _are_numbers(*values: Any) -> bool:
    return all(type(value) is int and 0 <= value <= _MAX_NUMBER for value in values)


def _is_row_key(key: str) -> bool:
    return _ROW_KEY.fullmatch(key) is not None


def _row(row: Any) -> tuple[str, str | None]:
    match row:
        case [str(key), str() | None as value] if _is_row_key(key) and len(value or "") <= MAX_ROW:
            return key, value
    raise ProtocolError("invalid row of IndexedDB")
