"""The table of settings, of identities and of the profile. Runs inside a transaction of the caller."""

from __future__ import annotations

from typing import Final

from hatbox.store.tables.rows import Rows

__all__ = ["SqlSettingsTable"]


_BY_KEY: Final = "WHERE identity = ? AND name = ?"


class SqlSettingsTable:
    """SettingsTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def get(self, identity: int, name: str) -> bytes | None:
        found = self._rows.find(_BY_KEY, (identity, name))
        return found[0][2] if found else None

    def prefetch(self, identity: int, name: str) -> None:
        """See Transaction.load."""
        self._rows.prefetch(_BY_KEY, (identity, name))

    def load(self, identity: int) -> list[tuple[str, bytes]]:
        return [row[1:] for row in self._rows.find("WHERE identity = ? ORDER BY name", (identity,))]

    def find(self, name: str) -> list[tuple[int, bytes]]:
        found = self._rows.find("WHERE name = ? ORDER BY identity", (name,))
        return [(identity, value) for identity, _, value in found]

    def put(self, identity: int, name: str, value: bytes) -> None:
        self._rows.put([(identity, name, value)])

    def delete(self, identity: int, name: str) -> None:
        self._rows.delete("identity = ? AND name = ?", (identity, name))

    def clear(self, identity: int) -> None:
        self._rows.delete("identity = ?", (identity,))
