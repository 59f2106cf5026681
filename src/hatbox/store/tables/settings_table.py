"""The table of settings, of identities and of the profile. Runs inside a transaction of the caller."""

from __future__ import annotations

from hatbox.store.tables.rows import Rows

__all__ = ["SqlSettingsTable"]


class SqlSettingsTable:
    """SettingsTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def get(self, identity: int, name: str) -> bytes | None:
        row = self._rows.get(identity, name)
        return None if row is None else row[2]

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
