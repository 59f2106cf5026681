"""localStorage of a background page, stored in the profile. Changes are written in order, in the background.

Scripts do not wait, so changes are collected while a transaction is pending. Independent of the bridge.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Final, NamedTuple

from hatbox.errors import HatboxError
from hatbox.extension_data import installed_extensions as installed
from hatbox.store.base import Store, Transaction

__all__ = ["KIND", "QUOTA", "LocalStorage"]

logger = logging.getLogger("hatbox.extensions")

KIND: Final = "localStorage"
"""The kind of its rows. Keys and values are ASCII JSON, because JavaScript strings may have lone surrogates."""

QUOTA: Final = 5 << 20
"""Code units of keys and values together, as in Firefox."""


class _Change(NamedTuple):
    value: str | None
    reinserted: bool
    """Whether it was removed before: then it is last in the order."""


class LocalStorage:
    """The localStorage of one extension. Call load() first."""

    def __init__(self, store: Store, extension: str) -> None:
        self._store = store
        self._extension = extension
        self._sizes: dict[str, int] = {}
        self._used = 0
        self._cleared = False
        self._changes: dict[str, _Change] = {}
        self._writing: asyncio.Task[None] | None = None

    async def load(self) -> list[tuple[str, str]]:
        """All keys and values, in the order in which they were set."""
        await self.flush()
        found = await self._store.read(lambda transaction: transaction.extensions.find(KIND, self._extension))
        entries = [(json.loads(key), json.loads(value)) for _, key, value in found]
        self._sizes = {key: _units(key) + _units(value) for key, value in entries}
        self._used = sum(self._sizes.values())
        return entries

    def change(self, key: str | None, value: str | None) -> bool:
        """Set a value, remove it (None), or clear all (no key). Returns False if the quota is exceeded."""
        if key is None:
            self._cleared, self._changes, self._sizes, self._used = True, {}, {}, 0
        else:
            size = 0 if value is None else _units(key) + _units(value)
            growth = size - self._sizes.pop(key, 0)
            if growth > 0 and self._used + growth > QUOTA:
                return False
            self._used += growth
            if value is not None:
                self._sizes[key] = size
            before = self._changes.get(key)
            removed = before is not None and (before.reinserted or before.value is None)
            if removed and value is not None:
                del self._changes[key]
            self._changes[key] = _Change(value, removed)
        self._start_writing()
        return True

    async def flush(self) -> None:
        """Wait until all changes are durable."""
        while (writing := self._start_writing()) is not None:
            await asyncio.wait([writing])

    def _start_writing(self) -> asyncio.Task[None] | None:
        """The task that writes, or None if nothing is left. A cancelled task is replaced."""
        if self._writing is None or self._writing.done():
            unsaved = self._changes or self._cleared
            self._writing = asyncio.ensure_future(self._write_all()) if unsaved else None
        return self._writing

    async def _write_all(self) -> None:
        while self._changes or self._cleared:
            cleared, changes = self._cleared, self._changes
            self._cleared, self._changes = False, {}
            await self._write(cleared, changes)

    async def _write(self, cleared: bool, changes: dict[str, _Change]) -> None:
        def write(transaction: Transaction) -> None:
            if installed.get(transaction, self._extension) is not None:  # else it was removed while running
                _apply(transaction, self._extension, cleared, changes)

        try:
            await self._store.write(write)
        except HatboxError as error:
            logger.error("localStorage of %s: write failed: %s", self._extension, error)


def _apply(transaction: Transaction, extension: str, cleared: bool, changes: dict[str, _Change]) -> None:
    table = transaction.extensions
    if cleared:
        table.clear(extension, KIND)
    for key, change in changes.items():
        row_key = json.dumps(key)
        if change.value is None or change.reinserted:
            table.delete(extension, KIND, row_key)
        if change.value is not None:
            table.put(extension, KIND, row_key, json.dumps(change.value).encode("ascii"))


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
