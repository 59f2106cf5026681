"""The table of packages: the files of installed extensions. Runs inside a transaction of the caller."""

from __future__ import annotations

from hatbox.store.tables.rows import Rows

__all__ = ["SqlPackageTable"]


class SqlPackageTable:
    """PackageTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def get(self, digest: str) -> bytes | None:
        row = self._rows.get(digest)
        return None if row is None else row[1]

    def put(self, digest: str, data: bytes) -> None:
        self._rows.put([(digest, data)])

    def delete(self, digest: str) -> None:
        self._rows.delete("digest = ?", (digest,))

    def digests(self) -> list[str]:
        return [digest for (digest,) in self._rows.select("digest", "ORDER BY digest")]
