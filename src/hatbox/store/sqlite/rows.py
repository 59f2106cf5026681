"""Rows with checksums: written with one, verified whenever they are read. Knows no table in particular."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from zlib import crc32

import msgspec

from hatbox.store.tables.rows import Value
from hatbox.store.tables.schema import Table

__all__ = ["SqliteRows", "checksum_of", "corruption"]

_encode: Final = msgspec.msgpack.Encoder().encode


def corruption(problem: str) -> sqlite3.DatabaseError:
    """The error for damage that SQLite itself cannot see."""
    error = sqlite3.DatabaseError(problem)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def checksum_of(table: Table, values: Sequence[Value]) -> int:
    """The checksum of a row: its values in the order of `table.columns`, each of the type that SQLite returns."""
    return crc32(_encode(values), crc32(table.name.encode()))


class SqliteRows:
    """Rows on SQLite."""

    def __init__(self, connection: sqlite3.Connection, table: Table) -> None:
        self._execute = connection.execute
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
        row = self._cursor.execute(self._get, key).fetchone()
        return None if row is None else self._verified(row)

    def find(self, rest: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        return list(map(self._verified, self._cursor.execute(self._select + rest, values).fetchall()))

    def prefetch(self, rest: str, values: Sequence[Value] = ()) -> None:
        """Does nothing: a query costs no round trip."""

    def select(self, columns: str, rest: str = "", values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        return self._cursor.execute(f"SELECT {columns} FROM {self._table.name} {rest}", values).fetchall()

    def total_bytes(self, columns: Sequence[str], rest: str = "", values: Sequence[Value] = ()) -> int:
        size = " + ".join(f"length(cast({column} AS BLOB))" for column in columns)
        ((total,),) = self.select(f"coalesce(sum({size}), 0)", rest, values)
        return int(total)

    def max_bytes(self) -> int:
        (pages,), (page_size,) = (self._execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
        return int(pages * page_size)

    def damage(self, problem: str) -> Exception:
        return corruption(problem)

    def insert(self, values: Sequence[Value]) -> None:
        self._execute(f"INSERT {self._insert}", (*values, crc32(_encode(values), self._seed)))

    def put(self, rows: Iterable[Sequence[Value]]) -> None:
        seed = self._seed
        marked = ((*values, crc32(_encode(values), seed)) for values in rows)
        self._executemany(f"INSERT OR REPLACE {self._insert}", marked)

    def update(self, key: Sequence[Value], changed: Mapping[str, Value]) -> None:
        row = self.get(*key)
        if row is None:
            return
        columns = self._table.columns
        values = [changed.get(column, value) for column, value in zip(columns, row, strict=True)]
        assignments = ", ".join(f'"{column}" = ?' for column in (*changed, "checksum"))
        statement = f"UPDATE {self._table.name} SET {assignments} WHERE {self._by_key}"
        self._execute(statement, (*changed.values(), crc32(_encode(values), self._seed), *key))

    def delete(self, where: str, values: Sequence[Value]) -> None:
        self._execute(f"DELETE FROM {self._table.name} WHERE {where}", values)

    def delete_keys(self, keys: Iterable[Sequence[Value]]) -> None:
        self._executemany(f"DELETE FROM {self._table.name} WHERE {self._by_key}", keys)

    def _verified(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        values = row[:-1]
        if crc32(_encode(values), self._seed) != row[-1]:
            raise corruption(f"a row of the table {self._table.name} has a wrong checksum")
        return values
