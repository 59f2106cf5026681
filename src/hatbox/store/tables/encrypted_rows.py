"""Rows whose secret columns are encrypted. Works on the rows of any store, which see and verify only stored bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hatbox.store.encryption import OVERHEAD, Cipher
from hatbox.store.tables.row_cipher import RowCipher
from hatbox.store.tables.rows import Rows, Value
from hatbox.store.tables.schema import Table

__all__ = ["EncryptedRows", "rows_with_cipher"]


def rows_with_cipher(rows: Callable[[Table], Rows], cipher: Cipher | None, label: str) -> Callable[[Table], Rows]:
    """`rows`, with the secret columns of each table encrypted. Without a cipher it is `rows` itself.

    `label` names the profile in errors.
    """
    if cipher is None:
        return rows

    def encrypted(table: Table) -> Rows:
        return EncryptedRows(rows(table.encrypted()), table, cipher, label) if table.secret else rows(table)

    return encrypted


class EncryptedRows:
    """Rows with values, on top of rows with encrypted values. Reading them raises DecryptionError."""

    def __init__(self, rows: Rows, table: Table, cipher: Cipher, label: str) -> None:
        self._rows = rows
        self._table = table
        row_cipher = RowCipher(table, cipher, label)
        self._encrypted = row_cipher.encrypted
        self._decrypted = row_cipher.decrypted
        self._whole_row = table.secret.union(table.bound)  # a change of one of these encrypts the row again
        self.prefetch = rows.prefetch
        self.select = rows.select
        self.delete = rows.delete
        self.delete_keys = rows.delete_keys
        self.max_bytes = rows.max_bytes
        self.damage = rows.damage

    def get(self, *key: Value) -> tuple[Any, ...] | None:
        row = self._rows.get(*key)
        return None if row is None else self._decrypted(row)

    def find(self, rest: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        return list(map(self._decrypted, self._rows.find(rest, values)))

    def total_bytes(self, columns: Sequence[str], rest: str = "", values: Sequence[Value] = ()) -> int:
        total = self._rows.total_bytes(columns, rest, values)
        if encrypted := self._table.secret.intersection(columns):
            ((count,),) = self._rows.select("count(*)", rest, values)
            total -= OVERHEAD * len(encrypted) * int(count)
        return total

    def insert(self, values: Sequence[Value]) -> None:
        self._rows.insert(self._encrypted(values))

    def put(self, rows: Iterable[Sequence[Value]]) -> None:
        self._rows.put(map(self._encrypted, rows))

    def update(self, key: Sequence[Value], changed: Mapping[str, Value]) -> None:
        if self._whole_row.isdisjoint(changed):
            self._rows.update(key, changed)
        elif (row := self.get(*key)) is not None:
            values = [changed.get(column, value) for column, value in zip(self._table.columns, row, strict=True)]
            stored = dict(zip(self._table.columns, self._encrypted(values), strict=True))
            self._rows.update(key, {column: stored[column] for column in (*changed, *self._table.secret)})
