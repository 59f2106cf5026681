"""Encrypts the secret columns of rows, and authenticates the key beside them: a row that was moved is not accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from hatbox.errors import DecryptionError
from hatbox.store.encryption import Cipher, InvalidCiphertext
from hatbox.store.tables.rows import Value
from hatbox.store.tables.schema import CHANGES, Table

__all__ = ["LogCipher", "RowCipher"]

_encode: Final = msgspec.msgpack.Encoder().encode


class RowCipher:
    """Encrypts and decrypts the rows of one table. `label` names the profile in errors."""

    def __init__(self, table: Table, cipher: Cipher, label: str) -> None:
        self._table = table
        self._cipher = cipher
        self._label = label
        self._secret = [
            (place, _encode([table.name, column]), kind == "text")
            for place, (column, kind) in enumerate(zip(table.columns, table.types, strict=True))
            if column in table.secret
        ]
        self._bound = [table.columns.index(column) for column in table.bound]

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
            "Restore the profile from a backup. `hatbox check` lists such rows of a SQLite profile, and "
            "`hatbox check --repair NEW-FILE` saves all others.",
        )


class LogCipher:
    """Encrypts the changes of a row of the change log, for stores that write it themselves."""

    def __init__(self, cipher: Cipher | None, label: str) -> None:
        self._rows = None if cipher is None else RowCipher(CHANGES, cipher, label)

    def encrypted(self, sequence: int, changes: bytes) -> bytes:
        """The changes as they are stored in the row with this number. Without a cipher, the same bytes."""
        if self._rows is None:
            return changes
        stored: Any = self._rows.encrypted((sequence, 0, 0, changes, "", 0, ""))[3]
        return bytes(stored)

    def decrypted(self, sequence: int, stored: bytes) -> bytes:
        """The changes that are stored like this. Raises DecryptionError."""
        return stored if self._rows is None else bytes(self._rows.decrypted((sequence, 0, 0, stored, "", 0, ""))[3])
