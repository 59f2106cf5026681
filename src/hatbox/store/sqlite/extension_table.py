"""The SQL of extension data. Runs inside a transaction of the caller."""

from __future__ import annotations

import sqlite3
from typing import Final

from hatbox.store.sqlite.rows import Rows
from hatbox.store.sqlite.schema import EXTENSION_DATA

__all__ = ["SqliteExtensionTable"]

_BY_KEY: Final = "kind = ? AND extension = ? AND key = ?"


class SqliteExtensionTable:
    """ExtensionTable on SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._rows = Rows(connection, EXTENSION_DATA)

    def get(self, extension: str, kind: str, key: str) -> bytes | None:
        found = self._rows.find(f"WHERE {_BY_KEY}", (kind, extension, key))
        return found[0][2] if found else None

    def find(self, kind: str, extension: str | None = None) -> list[tuple[str, str, bytes]]:
        if extension is None:
            found = self._rows.find("WHERE kind = ? ORDER BY sequence", (kind,))
        else:
            found = self._rows.find("WHERE kind = ? AND extension = ? ORDER BY sequence", (kind, extension))
        return [row[:3] for row in found]

    def put(self, extension: str, kind: str, key: str, value: bytes) -> None:
        (sequence,) = self._rows.execute(
            f"SELECT coalesce((SELECT sequence FROM extension_data WHERE {_BY_KEY}), "
            "(SELECT max(sequence) + 1 FROM extension_data), 1)",
            (kind, extension, key),
        ).fetchone()
        self._rows.put([(extension, key, value, kind, sequence)])

    def delete(self, extension: str, kind: str, key: str) -> None:
        self._rows.delete(_BY_KEY, (kind, extension, key))

    def clear(self, extension: str, kind: str | None = None) -> None:
        if kind is None:
            self._rows.delete("extension = ?", (extension,))
        else:
            self._rows.delete("kind = ? AND extension = ?", (kind, extension))

    def move(self, extension: str, to: str) -> None:
        for _, key, value, kind, _ in self._rows.find("WHERE extension = ? ORDER BY sequence", (extension,)):
            self.put(to, kind, key, value)
        self.clear(extension)

    def max_size(self) -> int:
        (pages,), (page_size,) = (
            self._rows.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
        )
        return int(pages * page_size)

    def size(self, extension: str, kind: str) -> int:
        (size,) = self._rows.execute(
            "SELECT coalesce(sum(length(cast(key AS BLOB)) + length(value)), 0) FROM extension_data "
            "WHERE kind = ? AND extension = ?",
            (kind, extension),
        ).fetchone()
        return int(size)
