"""Finds encrypted rows that cannot be decrypted: they were changed or moved, or the profile has lost its id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from hatbox.errors import DecryptionError, WrongKey
from hatbox.store.encryption import MARKER, Cipher
from hatbox.store.keys import Key
from hatbox.store.tables.profile_row import cipher_of
from hatbox.store.tables.row_cipher import RowCipher
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import TABLES, Table

__all__ = ["delete_encrypted", "delete_undecryptable", "row_ciphers"]


def row_ciphers(rows: Rows, key: Key | None, label: str) -> tuple[dict[str, RowCipher], str]:
    """The ciphers of all tables with secret columns, and why there are none although the profile is encrypted.

    `rows` are those of the table profile.
    """
    row = rows.get(1)
    if row is None or row[1] is None:
        return {}, ""
    if key is None:
        return {}, "no key is set"
    try:
        cipher = cipher_of(rows, key, label)
    except WrongKey as error:
        return {}, error.problem
    return {table.name: RowCipher(table, cipher, label) for table in TABLES if table.secret and cipher}, ""


def delete_undecryptable(rows: Callable[[Table], Rows], cipher: Cipher, label: str) -> Counter[str]:
    """Delete the rows that cannot be decrypted with this cipher. Returns their number by table."""
    deleted: Counter[str] = Counter()
    for table in TABLES:
        if table.secret:
            row_cipher = RowCipher(table, cipher, label)
            for key, row in _rows_of(rows(table), table):
                try:
                    row_cipher.decrypted(row)
                except DecryptionError:
                    rows(table).delete_keys([key])
                    deleted[table.name] += 1
    return deleted


def delete_encrypted(rows: Callable[[Table], Rows]) -> Counter[str]:
    """Delete all encrypted rows of a profile that has lost its id, without which no key decrypts them."""
    deleted: Counter[str] = Counter()
    for table in TABLES:
        places = [table.columns.index(column) for column in table.secret]
        for key, row in _rows_of(rows(table), table) if places else ():
            if any(isinstance(row[place], bytes) and row[place].startswith(MARKER) for place in places):
                rows(table).delete_keys([key])
                deleted[table.name] += 1
    return deleted


def _rows_of(rows: Rows, table: Table) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    for key in rows.select(", ".join(table.key)):
        row = rows.get(*key)
        if row is not None:
            yield key, row
