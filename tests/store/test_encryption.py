"""Encryption of values and of rows (store/encryption.py, store/tables/encrypted_rows.py)."""

from __future__ import annotations

import contextlib
import sqlite3
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hatbox
from hatbox.store import encryption
from hatbox.store.encryption import MARKER, OVERHEAD, Cipher, InvalidCiphertext
from hatbox.store.keys import Key
from hatbox.store.sqlite.migrations import create_schema
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.tables.encrypted_rows import EncryptedRows, rows_with_cipher
from hatbox.store.tables.row_cipher import LogCipher
from hatbox.store.tables.schema import CHANGES, COOKIES, EXTENSION_DATA, TAB_PAGES, TABLES, Table

KEY = Key(bytes(range(32)))
CIPHER = Cipher(KEY, "one profile")
SECRET_TABLES = [table for table in TABLES if table.secret]


@pytest.mark.parametrize(
    ("key", "data", "expected"),
    [
        (1, b"", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
        (3, b"c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"),
    ],
)
def test_values_are_encrypted_as_the_specification_of_xaes_256_gcm_says(key: int, data: bytes, expected: str) -> None:
    nonce = b"ABCDEFGHIJKLMNOPQRSTUVWX"
    subkey = encryption._Subkeys(bytes([key]) * 32).derive(nonce[:12])
    assert subkey.encrypt(nonce[12:], b"XAES-256-GCM", data).hex() == expected


@settings(deadline=None)
@given(value=st.binary(max_size=200), data=st.binary(max_size=50))
def test_a_value_reads_back_and_is_longer_by_a_fixed_number_of_bytes(value: bytes, data: bytes) -> None:
    stored = CIPHER.encrypt(value, data)
    assert len(stored) == len(value) + OVERHEAD
    assert Cipher(KEY, "one profile").decrypt(stored, data) == value


@settings(deadline=None)
@given(place=st.integers(0, OVERHEAD + 4), bit=st.integers(0, 7))
def test_no_flipped_bit_is_accepted(place: int, bit: int) -> None:
    stored = bytearray(CIPHER.encrypt(b"value", b"data"))
    stored[place] ^= 1 << bit
    with pytest.raises(InvalidCiphertext):
        CIPHER.decrypt(bytes(stored), b"data")


@pytest.mark.parametrize("stored", [b"", MARKER, b"plain", "plain text", None, MARKER + bytes(OVERHEAD)])
def test_what_was_never_encrypted_is_not_accepted(stored: object) -> None:
    with pytest.raises(InvalidCiphertext):
        CIPHER.decrypt(stored, b"data")


def test_another_key_another_profile_and_other_data_are_not_accepted() -> None:
    stored = CIPHER.encrypt(b"value", b"data")
    for cipher in (Cipher(Key(bytes(32)), "one profile"), Cipher(KEY, "another profile")):
        with pytest.raises(InvalidCiphertext):
            cipher.decrypt(stored, b"data")
        assert not cipher.accepts(CIPHER.key_check())
    with pytest.raises(InvalidCiphertext):
        CIPHER.decrypt(stored, b"date")
    assert Cipher(KEY, "one profile").accepts(CIPHER.key_check())
    assert not CIPHER.accepts(CIPHER.encrypt(b"hatbox", b"another text"))


def test_equal_values_are_never_stored_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption, "_VALUES_PER_SUBKEY", 10)
    cipher = Cipher(KEY, "one profile")
    stored = {cipher.encrypt(b"value", b"data") for _ in range(100)}
    assert len({each[2:26] for each in stored}) == 100
    assert len({each[2:14] for each in stored}) == 11
    assert {cipher.decrypt(each, b"data") for each in stored} == {b"value"}


# ----------------------------------------------------------------------------------------------------------------- rows

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_values = {
    "integer": st.integers(-(2**63), 2**63 - 1),
    "text": _texts,
    "blob": st.binary(max_size=50),
    "real": st.floats(allow_nan=False).map(lambda each: each + 0.0),
}


def rows_of(table: Table) -> st.SearchStrategy[tuple[Any, ...]]:
    columns = zip(table.columns, table.types, strict=True)
    return st.tuples(
        *(st.none() | _values[kind] if column in table.nullable else _values[kind] for column, kind in columns)
    )


def encrypted(table: Table, connection: sqlite3.Connection, cipher: Cipher = CIPHER) -> EncryptedRows:
    rows = rows_with_cipher(partial(SqliteRows, connection), cipher, "profile.db")(table)
    assert isinstance(rows, EncryptedRows)
    return rows


@contextlib.contextmanager
def database() -> Any:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_schema(connection)
        yield connection


def test_the_tables_that_hold_logins_are_encrypted() -> None:
    assert {f"{table.name}.{column}" for table in TABLES for column in table.secret} == {
        *("cookies.value", "site_data.data", "tab_pages.page", "extension_data.value", "changes.changes"),
        *("settings.value", "trash.data", "closed_tabs.data", "grants.data", "activity.host"),
    }
    for table in SECRET_TABLES:
        assert set(table.key) <= set(table.bound)
        assert not table.secret & {*table.bound, *table.nullable}


@pytest.mark.parametrize("table", SECRET_TABLES, ids=lambda table: table.name)
@settings(deadline=None)
@given(data=st.data())
def test_a_row_of_every_table_reads_back(table: Table, data: st.DataObject) -> None:
    row = data.draw(rows_of(table))
    with database() as connection:
        rows = encrypted(table, connection)
        rows.insert(row)
        rows.put([row])
        key = [row[table.columns.index(column)] for column in table.key]
        assert rows.get(*key) == row
        assert rows.find("") == [row]
        other = data.draw(rows_of(table))
        changed = {
            column: value for column, value in zip(table.columns, other, strict=True) if column not in table.bound
        }
        rows.update(key, changed)
        updated = tuple(changed.get(column, value) for column, value in zip(table.columns, row, strict=True))
        assert rows.get(*key) == updated
        sizes = [len(v.encode() if isinstance(v, str) else v) for v in map(updated.__getitem__, _secret_places(table))]
        assert rows.total_bytes(sorted(table.secret)) == sum(sizes)


def _secret_places(table: Table) -> list[int]:
    return [table.columns.index(column) for column in table.secret]


COOKIE = ("a.example", 1, "/", "session", "", "the value", 1, 1, "lax", None, 1, 1.0, 1.0, 3)


def test_an_update_of_a_bound_column_encrypts_the_row_again() -> None:
    with database() as connection:
        rows = encrypted(COOKIES, connection)
        rows.insert(COOKIE)
        rows.update((3, "a.example", 1, "/", "session", ""), {"secure": 0})
        assert rows.find("") == [(*COOKIE[:6], 0, *COOKIE[7:])]


def test_an_update_of_another_column_leaves_the_stored_value() -> None:
    with database() as connection:
        rows = encrypted(COOKIES, connection)
        rows.insert(COOKIE)
        before = connection.execute("SELECT value FROM cookies").fetchone()
        rows.update((3, "a.example", 1, "/", "session", ""), {"last_access": 5.0})
        assert connection.execute("SELECT value FROM cookies").fetchone() == before
        assert rows.find("")[0][12] == 5.0


@pytest.mark.parametrize(
    ("column", "value"),
    [("store", 4), ("domain", "b.example"), ("path", "/x"), ("name", "other"), ("partition", "p"), ("secure", 0)],
)
def test_a_cookie_that_was_moved_is_not_returned(column: str, value: str | int) -> None:
    with database() as connection:
        encrypted(COOKIES, connection).insert(COOKIE)
        [stored] = SqliteRows(connection, COOKIES).find("")
        moved = [value if name == column else each for name, each in zip(COOKIES.columns, stored, strict=True)]
        connection.execute("DELETE FROM cookies")
        SqliteRows(connection, COOKIES).insert(moved)  # with a checksum that is right
        with pytest.raises(hatbox.DecryptionError, match=r"profile\.db: the row .* of the table cookies cannot be"):
            encrypted(COOKIES, connection).find("")


def test_a_value_of_another_table_with_the_same_key_is_not_returned() -> None:
    with database() as connection:
        encrypted(TAB_PAGES, connection).insert((1, b"page"))
        [(_, stored)] = SqliteRows(connection, TAB_PAGES).find("")
        SqliteRows(connection, CHANGES).insert((1, 0, 0, stored, "", 0, ""))
        with pytest.raises(hatbox.DecryptionError, match="the row 1 of the table changes"):
            encrypted(CHANGES, connection).find("")


def test_the_log_of_every_store_is_encrypted_alike() -> None:
    log = LogCipher(CIPHER, "profile.db")
    with database() as connection:
        SqliteRows(connection, CHANGES).insert((7, 0, 0, log.encrypted(7, b"[]"), "", 0, ""))
        [row] = encrypted(CHANGES, connection).find("")
        assert row[3] == b"[]"
    assert log.decrypted(7, log.encrypted(7, b"[]")) == b"[]"
    with pytest.raises(hatbox.DecryptionError):
        log.decrypted(8, log.encrypted(7, b"[]"))
    assert LogCipher(None, "").encrypted(7, b"[]") == b"[]"


def test_a_value_that_was_not_encrypted_is_not_returned() -> None:
    with database() as connection:
        SqliteRows(connection, COOKIES).insert(COOKIE)
        SqliteRows(connection, EXTENSION_DATA).insert(("e", "k", b'"plain"', "storage.local", 1))
        for table in (COOKIES, EXTENSION_DATA):
            with pytest.raises(hatbox.DecryptionError):
                encrypted(table, connection).find("")
