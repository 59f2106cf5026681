"""The tables of extension packages and of what extensions store. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hatbox.store.tables.counters import Counters
from hatbox.store.tables.rows import Rows

__all__ = ["SqlExtensionTable", "SqlPackageTable"]

_BY_KEY: Final = "kind = ? AND extension = ? AND key = ?"


class SqlExtensionTable:
    """ExtensionTable in SQL."""

    def __init__(self, rows: Rows, counters: Counters) -> None:
        self._rows = rows
        self._counters = counters

    def get(self, extension: str, kind: str, key: str) -> bytes | None:
        found = self._rows.find(f"WHERE {_BY_KEY}", (kind, extension, key))
        return found[0][2] if found else None

    def prefetch(self, extension: str, kind: str, key: str) -> None:
        """See Transaction.load."""
        self._rows.prefetch(f"WHERE {_BY_KEY}", (kind, extension, key))

    def find(self, kind: str, extension: str | None = None) -> list[tuple[str, str, bytes]]:
        if extension is None:
            found = self._rows.find("WHERE kind = ? ORDER BY sequence", (kind,))
        else:
            found = self._rows.find("WHERE kind = ? AND extension = ? ORDER BY sequence", (kind, extension))
        return [row[:3] for row in found]

    def find_page(self, kind: str, extension: str, after: str, limit: int) -> list[tuple[str, bytes]]:
        rest = f"WHERE kind = ? AND extension = ? AND key > ? ORDER BY key LIMIT {limit:d}"
        return [row[1:3] for row in self._rows.find(rest, (kind, extension, after))]

    def load(self, extension: str) -> list[tuple[str, str, bytes]]:
        found = self._rows.find("WHERE extension = ? ORDER BY sequence", (extension,))
        return [(kind, key, value) for _, key, value, kind, _ in found]

    def put(self, extension: str, kind: str, key: str, value: bytes) -> None:
        found = self._rows.select("sequence", f"WHERE {_BY_KEY}", (kind, extension, key))
        sequence = found[0][0] if found else self._counters.increment("extension_data")
        self._rows.put([(extension, key, value, kind, sequence)])

    def replace(self, extension: str, kind: str, values: Mapping[str, bytes]) -> None:
        for key in values:
            self.delete(extension, kind, key)
        self._rows.put(
            (extension, key, value, kind, self._counters.increment("extension_data")) for key, value in values.items()
        )

    def delete(self, extension: str, kind: str, key: str) -> None:
        self._rows.delete(_BY_KEY, (kind, extension, key))

    def clear(self, extension: str, kind: str | None = None) -> None:
        if kind is None:
            self._rows.delete("extension = ?", (extension,))
        else:
            self._rows.delete("kind = ? AND extension = ?", (kind, extension))

    def clear_kind(self, kind: str) -> None:
        self._rows.delete("kind = ?", (kind,))

    def move(self, extension: str, to: str) -> None:
        for _, key, value, kind, _ in self._rows.find("WHERE extension = ? ORDER BY sequence", (extension,)):
            self.put(to, kind, key, value)
        self.clear(extension)

    def max_size(self) -> int:
        return self._rows.max_bytes()

    def size(self, extension: str, kind: str) -> int:
        return self._rows.total_bytes(("key", "value"), "WHERE kind = ? AND extension = ?", (kind, extension))


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
