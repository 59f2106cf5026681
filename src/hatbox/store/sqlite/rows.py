"""Rows with checksums: written with one, verified whenever they are read. Knows SQL, and no table in particular."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from zlib import crc32

import msgspec

from hatbox.store.sqlite.schema import Table

__all__ = ["Rows", "checksum_of", "corruption"]

_encode: Final = msgspec.msgpack.Encoder().encode

Value = str | bytes | int | float | None


def corruption(problem: str) -> sqlite3.DatabaseError:
    """The error for damage that SQLite itself cannot see."""
    error = sqlite3.DatabaseError(problem)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def checksum_of(table: Table, values: Sequence[Value]) -> int:
    """The checksum of a row: its values in the order of `table.columns`, each of the type that SQLite returns."""
    return crc32(_encode(values), crc32(table.name.encode()))


class Rows:
    """The rows of one table. Values have the order of `table.columns`; a REAL column gets floats."""

    def __init__(self, connection: sqlite3.Connection, table: Table) -> None:
        self.execute = connection.execute
        self._executemany = connection.executemany
        self._cursor = connection.cursor()
        self._table = table
        self._seed = crc32(table.name.encode())
        columns = [f'"{column}"' for column in (*table.columns, "checksum")]  # quoted: "left" is a keyword
        self._select = f"SELECT {', '.join(columns)} FROM {table.name} "
        self._insert = f"INTO {table.name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        self._by_key = " AND ".join(f"{column} = ?" for column in table.key)
        self._get = f"{self._select}WHERE {self._by_key}"

    def get(self, *key: Value) -> tuple[Any, ...] | None:
        """The row with this key, or None."""
        row = self._cursor.execute(self._get, key).fetchone()
        return None if row is None else self._verified(row)

    def find(self, rest: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        """The rows that `rest`, which starts with WHERE or ORDER BY, selects and orders."""
        return list(map(self._verified, self._cursor.execute(self._select + rest, values).fetchall()))

    def insert(self, values: Sequence[Value]) -> None:
        """Add a row."""
        self.execute(f"INSERT {self._insert}", (*values, crc32(_encode(values), self._seed)))

    def put(self, rows: Iterable[Sequence[Value]]) -> None:
        """Write rows; they replace those with the same key."""
        seed = self._seed
        marked = ((*values, crc32(_encode(values), seed)) for values in rows)
        self._executemany(f"INSERT OR REPLACE {self._insert}", marked)

    def update(self, key: Sequence[Value], changed: Mapping[str, Value]) -> bool:
        """Change some values of the row with this key. False if it does not exist."""
        row = self.get(*key)
        if row is None:
            return False
        columns = self._table.columns
        values = [changed.get(column, value) for column, value in zip(columns, row, strict=True)]
        assignments = ", ".join(f'"{column}" = ?' for column in (*changed, "checksum"))
        statement = f"UPDATE {self._table.name} SET {assignments} WHERE {self._by_key}"
        self.execute(statement, (*changed.values(), crc32(_encode(values), self._seed), *key))
        return True

    def delete(self, where: str, values: Sequence[Value]) -> None:
        """Delete the rows that match a condition."""
        self.execute(f"DELETE FROM {self._table.name} WHERE {where}", values)

    def delete_keys(self, keys: Iterable[Sequence[Value]]) -> None:
        """Delete the rows with these keys."""
        self._executemany(f"DELETE FROM {self._table.name} WHERE {self._by_key}", keys)

    def _verified(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        values = row[:-1]
        if crc32(_encode(values), self._seed) != row[-1]:
            raise corruption(f"a row of the table {self._table.name} has a wrong checksum")
        return values
