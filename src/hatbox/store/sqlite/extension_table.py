"""The SQL of the table of what extensions keep. Runs inside the transaction that somebody else began."""

from __future__ import annotations

import sqlite3

__all__ = ["SqliteExtensionTable"]


class SqliteExtensionTable:
    """ExtensionTable on SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def get(self, extension: str, kind: str, key: str) -> bytes | None:
        row = self._execute(
            "SELECT value FROM extension_data WHERE kind = ? AND extension = ? AND key = ?", (kind, extension, key)
        ).fetchone()
        return row[0] if row else None

    def find(self, kind: str, extension: str | None = None) -> list[tuple[str, str, bytes]]:
        columns = "SELECT extension, key, value FROM extension_data WHERE kind = ?"
        if extension is None:
            return self._execute(f"{columns} ORDER BY sequence", (kind,)).fetchall()
        return self._execute(f"{columns} AND extension = ? ORDER BY sequence", (kind, extension)).fetchall()

    def put(self, extension: str, kind: str, key: str, value: bytes) -> None:
        self._execute(
            "INSERT INTO extension_data (extension, kind, key, value) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (kind, extension, key) DO UPDATE SET value = excluded.value",
            (extension, kind, key, value),
        )

    def delete(self, extension: str, kind: str, key: str) -> None:
        self._execute("DELETE FROM extension_data WHERE kind = ? AND extension = ? AND key = ?", (kind, extension, key))

    def clear(self, extension: str, kind: str | None = None) -> None:
        if kind is None:
            self._execute("DELETE FROM extension_data WHERE extension = ?", (extension,))
        else:
            self._execute("DELETE FROM extension_data WHERE kind = ? AND extension = ?", (kind, extension))

    def move(self, extension: str, to: str) -> None:
        rows = self._execute(
            "SELECT kind, key, value FROM extension_data WHERE extension = ? ORDER BY sequence", (extension,)
        ).fetchall()
        for kind, key, value in rows:
            self.put(to, kind, key, value)
        self.clear(extension)

    def size(self, extension: str, kind: str) -> int:
        (size,) = self._execute(
            "SELECT coalesce(sum(length(cast(key AS BLOB)) + length(value)), 0) FROM extension_data "
            "WHERE kind = ? AND extension = ?",
            (kind, extension),
        ).fetchone()
        return int(size)
