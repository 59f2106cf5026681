"""Cookie databases as Chromium has written them over the years, and its encryption on Linux."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

__all__ = ["EPOCH", "SCHEMAS", "encrypted", "insert", "make_database", "make_profile"]

EPOCH = 11_644_473_600 * 10**6

_V5 = """creation_utc INTEGER NOT NULL UNIQUE PRIMARY KEY, host_key TEXT NOT NULL, name TEXT NOT NULL,
value TEXT NOT NULL, path TEXT NOT NULL, expires_utc INTEGER NOT NULL, secure INTEGER NOT NULL,
httponly INTEGER NOT NULL, last_access_utc INTEGER NOT NULL, has_expires INTEGER NOT NULL DEFAULT 1,
persistent INTEGER NOT NULL DEFAULT 1"""
_V7 = f"{_V5}, priority INTEGER NOT NULL DEFAULT 1, encrypted_value BLOB DEFAULT ''"
_V8 = f"{_V7}, firstpartyonly INTEGER NOT NULL DEFAULT 0"
_V10 = """creation_utc INTEGER NOT NULL, host_key TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
path TEXT NOT NULL, expires_utc INTEGER NOT NULL, is_secure INTEGER NOT NULL, is_httponly INTEGER NOT NULL,
last_access_utc INTEGER NOT NULL, has_expires INTEGER NOT NULL DEFAULT 1, is_persistent INTEGER NOT NULL DEFAULT 1,
priority INTEGER NOT NULL DEFAULT 1, encrypted_value BLOB DEFAULT '', firstpartyonly INTEGER NOT NULL DEFAULT 0"""
_V11 = _V10.replace("firstpartyonly INTEGER NOT NULL DEFAULT 0", "samesite INTEGER NOT NULL DEFAULT -1")
_V15 = f"""{_V11}, source_scheme INTEGER NOT NULL DEFAULT 0, source_port INTEGER NOT NULL DEFAULT -1,
is_same_party INTEGER NOT NULL DEFAULT 0, top_frame_site_key TEXT NOT NULL DEFAULT ''"""
_V24 = """creation_utc INTEGER NOT NULL, host_key TEXT NOT NULL, top_frame_site_key TEXT NOT NULL DEFAULT '',
name TEXT NOT NULL, value TEXT NOT NULL, encrypted_value BLOB NOT NULL DEFAULT '', path TEXT NOT NULL,
expires_utc INTEGER NOT NULL, is_secure INTEGER NOT NULL, is_httponly INTEGER NOT NULL,
last_access_utc INTEGER NOT NULL, has_expires INTEGER NOT NULL DEFAULT 1, is_persistent INTEGER NOT NULL DEFAULT 1,
priority INTEGER NOT NULL DEFAULT 1, samesite INTEGER NOT NULL DEFAULT -1, source_scheme INTEGER NOT NULL DEFAULT 0,
source_port INTEGER NOT NULL DEFAULT 0, last_update_utc INTEGER NOT NULL DEFAULT 0,
source_type INTEGER NOT NULL DEFAULT 0, has_cross_site_ancestor INTEGER NOT NULL DEFAULT 1"""
SCHEMAS = {5: _V5, 7: _V7, 8: _V8, 9: _V8, 10: _V10, 11: _V11, 15: _V15, 18: _V15, 23: _V24, 24: _V24}


def make_database(path: Path, version: int = 24, *, compatible: int | None = None) -> sqlite3.Connection:
    """A database without cookies. Versions that are not listed have the columns of the newest."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("CREATE TABLE meta(key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR)")
    numbers = {"version": version, "last_compatible_version": compatible or version, "mmap_status": -1}
    connection.executemany("INSERT INTO meta VALUES (?, ?)", [(key, str(value)) for key, value in numbers.items()])
    connection.execute(f"CREATE TABLE cookies({SCHEMAS.get(version, _V24)})")
    return connection


def insert(connection: sqlite3.Connection, **more: Any) -> None:
    """Add a cookie. Fields have the names of the newest version."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(cookies)")}
    fields = {
        "creation_utc": EPOCH + 1_700_000_000_000_001,
        "host_key": ".site.example",
        "name": "sid",
        "value": "abc",
        "path": "/",
        "expires_utc": EPOCH + 4_000_000_000_000_000,
        "is_secure": 1,
        "is_httponly": 1,
        "last_access_utc": EPOCH + 1_700_000_001_500_000,
        **more,
    }
    old = {"is_secure": "secure", "is_httponly": "httponly", "is_persistent": "persistent"}
    named = {name if name in columns else old.get(name, name): value for name, value in fields.items()}
    marks = ", ".join("?" * len(named))
    connection.execute(f"INSERT INTO cookies({', '.join(named)}) VALUES ({marks})", list(named.values()))


def encrypted(
    value: bytes, host_key: str = ".site.example", *, password: bytes = b"peanuts", digest: bool = True
) -> bytes:
    """A value as Chromium on Linux encrypts it without a keyring."""
    key = hashlib.pbkdf2_hmac("sha1", password, b"saltysalt", 1, 16)
    plain = (hashlib.sha256(host_key.encode()).digest() if digest else b"") + value
    count = 16 - len(plain) % 16
    encryptor = Cipher(algorithms.AES(key), modes.CBC(b" " * 16)).encryptor()
    return b"v10" + encryptor.update(plain + bytes([count]) * count) + encryptor.finalize()


def make_profile(folder: Path, *, network: bool = True, **more: Any) -> None:
    """A profile folder with one cookie."""
    place = folder / "Network" if network else folder
    place.mkdir(parents=True)
    connection = make_database(place / "Cookies")
    insert(connection, **more)
    connection.close()
