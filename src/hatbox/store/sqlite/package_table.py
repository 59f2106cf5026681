"""The SQL of the table of packages: the files of installed extensions. Runs inside a transaction of the caller."""

from __future__ import annotations

import sqlite3

from hatbox.store.sqlite.rows import Rows
from hatbox.store.sqlite.schema import PACKAGES

__all__ = ["SqlitePackageTable"]


class SqlitePackageTable:
    """PackageTable on SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._rows = Rows(connection, PACKAGES)

    def get(self, digest: str) -> bytes | None:
        row = self._rows.get(digest)
        return None if row is None else row[1]

    def put(self, digest: str, data: bytes) -> None:
        self._rows.put([(digest, data)])

    def delete(self, digest: str) -> None:
        self._rows.delete("digest = ?", (digest,))

    def digests(self) -> list[str]:
        return [digest for (digest,) in self._rows.execute("SELECT digest FROM packages ORDER BY digest")]
