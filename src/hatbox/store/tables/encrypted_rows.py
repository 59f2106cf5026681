"""Rows whose secret columns are encrypted. Works on the rows of any store, which see and verify only stored bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hatbox.errors import DecryptionError
from hatbox.store.encryption import OVERHEAD, Cipher, InvalidCiphertext
from hatbox.store.tables.rows import Rows, Value
from hatbox.store.tables.schema import Table

__all__ = ["EncryptedRows", "rows_with_cipher"]

_encode: Final = msgspec.msgpack.Encoder().encode


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
        self._cipher = cipher
        self._label = label
        self._secret = [
            (place, _encode([table.name, column]), kind == "text")
            for place, (column, kind) in enumerate(zip(table.columns, table.types, strict=True))
            if column in table.secret
        ]
        self._bound = [table.columns.index(column) for column in table.bound]
        self._whole_row = table.secret.union(table.bound)  # a change of one of these encrypts the row again
        self.select = rows.select
        self.delete = rows.delete
        self.delete_keys = rows.delete_keys
        self.max_bytes = rows.max_bytes
        self.damage = rows.damage

    def get(self, *key: Value) -> tuple[Any, ...] | None:
        row = self._rows.get(*key)
        return None if row is None else self.decrypted(row)

    def find(self, rest: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        return list(map(self.decrypted, self._rows.find(rest, values)))

    def total_bytes(self, columns: Sequence[str], rest: str = "", values: Sequence[Value] = ()) -> int:
        total = self._rows.total_bytes(columns, rest, values)
        if encrypted := self._table.secret.intersection(columns):
            ((count,),) = self._rows.select("count(*)", rest, values)
            total -= OVERHEAD * len(encrypted) * int(count)
        return total

    def insert(self, values: Sequence[Value]) -> None:
        self._rows.insert(self.encrypted(values))

    def put(self, rows: Iterable[Sequence[Value]]) -> None:
        self._rows.put(map(self.encrypted, rows))

    def update(self, key: Sequence[Value], changed: Mapping[str, Value]) -> None:
        if self._whole_row.isdisjoint(changed):
            self._rows.update(key, changed)
        elif (row := self.get(*key)) is not None:
            values = [changed.get(column, value) for column, value in zip(self._table.columns, row, strict=True)]
            stored = dict(zip(self._table.columns, self.encrypted(values), strict=True))
            self._rows.update(key, {column: stored[column] for column in (*changed, *self._table.secret)})

    def encrypted(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """A row as it is stored."""
        row = list(values)
        bound = self._bound_values(row)
        for place, prefix, _ in self._secret:
            value = row[place]
            data = value.encode() if isinstance(value, str) else value
            if not isinstance(data, bytes):
                raise TypeError(f"a secret column has a value of type {type(value).__name__}")
            row[place] = self._cipher.encrypt(data, prefix + bound)
        return tuple(row)

    def decrypted(self, stored: Sequence[Any]) -> tuple[Any, ...]:
        """The row that is stored like this. Raises DecryptionError."""
        row = list(stored)
        bound = self._bound_values(row)
        for place, prefix, is_text in self._secret:
            try:
                value = self._cipher.decrypt(row[place], prefix + bound)
                row[place] = value.decode() if is_text else value
            except (InvalidCiphertext, UnicodeDecodeError):
                raise self._error(stored) from None
        return tuple(row)

    def _bound_values(self, row: Sequence[Value]) -> bytes:
        return _encode([row[place] for place in self._bound])

    def _error(self, stored: Sequence[Value]) -> DecryptionError:
        key = " ".join(str(stored[self._table.columns.index(column)]) for column in self._table.key)
        problem = f"the row {key} of the table {self._table.name} cannot be decrypted"
        return DecryptionError(
            self._label,
            f"{problem}: another program has changed it or moved it there",
            "Restore the profile from a backup, or delete the row.",
        )
