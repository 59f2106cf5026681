"""The SQL of the table of packages: the files of installed extensions. Runs inside a transaction of the caller."""

from __future__ import annotations

import sqlite3

__all__ = ["SqlitePackageTable"]


class SqlitePackageTable:
    """PackageTable on SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def get(self, digest: str) -> bytes | None:
        row = self._execute("SELECT data FROM packages WHERE digest = ?", (digest,)).fetchone()
        return row[0] if row else None

    def put(self, digest: str, data: bytes) -> None:
        self._execute(
            "INSERT INTO packages (digest, data) VALUES (?, ?) ON CONFLICT (digest) DO UPDATE SET data = excluded.data",
            (digest, data),
        )

    def delete(self, digest: str) -> None:
        self._execute("DELETE FROM packages WHERE digest = ?", (digest,))

    def digests(self) -> list[str]:
        return [digest for (digest,) in self._execute("SELECT digest FROM packages ORDER BY digest")]
