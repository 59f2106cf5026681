"""Chromium's cookie database, versions 5 (2011) to 24: rows as cookies.

Never opens a file that Chromium may be using: `database_copy` reads a copy.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hatbox.cookies.cookie import Cookie, Partition, SameSite
from hatbox.cookies.domains import parse_domain
from hatbox.cookies.partitions import canonical_partition
from hatbox.errors import InvalidInputFile
from hatbox.formats.base import Tally, plausible_same_site
from hatbox.formats.chromium_encryption import ValueCipher
from hatbox.formats.database_copy import columns_of, copied_database

__all__ = ["NEWEST", "OLDEST", "read_cookies"]

OLDEST: Final = 5  # the first with session cookies
NEWEST: Final = 24  # Chromium 130 to 156
_MICRO: Final = 1_000_000
_EPOCH: Final = 11_644_473_600 * _MICRO  # from 1601 to 1970
_SAME_SITE: Final = {0: SameSite.NONE, 1: SameSite.LAX, 2: SameSite.STRICT}
# Version 10 gave the booleans a prefix, and version 11 replaced firstpartyonly, where 0 means that nothing was set.
_TEXTS: Final = (("host_key",), ("name",), ("value",), ("path",))
_INTEGERS: Final = (
    ("creation_utc",),
    ("expires_utc",),
    ("last_access_utc",),
    ("is_secure", "secure"),
    ("is_httponly", "httponly"),
    ("has_expires",),
    ("is_persistent", "persistent"),
)
_LATER: Final = (
    ("encrypted_value",),
    ("samesite",),
    ("firstpartyonly",),
    ("top_frame_site_key",),
    ("has_cross_site_ancestor",),
)

OPAQUE: Final = "cookies that are partitioned by a page without an address"


def read_cookies(path: Path, skipped: Tally) -> list[Cookie]:
    """The cookies, oldest first. Counts those that cannot be decrypted. Works while Chromium runs."""
    found: list[Cookie] = []
    with copied_database(path, "Chromium") as connection:
        version = _version(connection, path)
        cipher = ValueCipher(version)
        for row in _rows(connection, version, path):
            value, reason = row["value"], ""
            if encrypted := row["encrypted_value"]:
                plain, reason = cipher.decrypt(encrypted, row["host_key"])
                value = plain.decode("latin-1")
            site = row["top_frame_site_key"] or ""
            if site and "://" not in site:
                reason = OPAQUE
            if reason:
                skipped[reason] += 1
            else:
                found.append(_cookie(row, value))
    return found


def _version(connection: sqlite3.Connection, path: Path) -> int:
    columns_of(connection, "meta", path)
    found = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('version', 'last_compatible_version')"))
    numbers = {name: int(str(value)) for name, value in found.items() if str(value).isdecimal()}
    version = numbers.get("version", 0)
    # A newer version may say that programs for an older one read it right.
    if OLDEST <= version <= NEWEST or OLDEST <= numbers.get("last_compatible_version", 0) <= NEWEST < version:
        return version
    problem = f"unsupported version {version} of the cookie database (supported: {OLDEST} to {NEWEST})"
    raise InvalidInputFile(str(path), problem)


def _rows(connection: sqlite3.Connection, version: int, path: Path) -> Iterator[dict[str, Any]]:
    columns = columns_of(connection, "cookies", path)
    wanted: list[str] = []
    for names in (*_TEXTS, *_INTEGERS):
        name = next((each for each in names if each in columns), None)
        if name is None:
            problem = f"version {version} of the cookie database has no column {names[0]}"
            raise InvalidInputFile(str(path), problem)
        kind, default = ("TEXT", "''") if names in _TEXTS else ("INTEGER", "0")
        wanted.append(f"coalesce(CAST({name} AS {kind}), {default}) AS {names[0]}")
    for (name,) in _LATER:
        kind = {"encrypted_value": "BLOB", "top_frame_site_key": "TEXT"}.get(name, "INTEGER")
        wanted.append(f"CAST({name} AS {kind}) AS {name}" if name in columns else f"NULL AS {name}")
    yield from map(dict, connection.execute(f"SELECT {', '.join(wanted)} FROM cookies ORDER BY creation_utc, rowid"))


def _cookie(row: dict[str, Any], value: str) -> Cookie:
    host, secure = row["host_key"], bool(row["is_secure"])
    domain, host_only = parse_domain(host, shared=host.startswith("."))
    created = row["creation_utc"] - _EPOCH
    lasts = row["has_expires"] and row["is_persistent"] and row["expires_utc"]
    return Cookie(
        name=row["name"],
        value=value,
        domain=domain,
        path=row["path"] or "/",
        host_only=host_only,
        secure=secure,
        http_only=bool(row["is_httponly"]),
        same_site=plausible_same_site(_same_site(row), secure=secure),
        expires=(row["expires_utc"] - _EPOCH) / _MICRO if lasts else None,
        partition=_partition(row, domain),
        sequence=max(created, 0),
        created=max(created, 0) / _MICRO,
        last_access=max(row["last_access_utc"] - _EPOCH, created, 0) / _MICRO,
    )


def _same_site(row: dict[str, Any]) -> SameSite:
    number = row["samesite"] if row["samesite"] is not None else row["firstpartyonly"] or None
    return SameSite.UNSPECIFIED if number is None else _SAME_SITE.get(number, SameSite.UNSPECIFIED)


def _partition(row: dict[str, Any], domain: str) -> Partition | None:
    if not row["top_frame_site_key"]:
        return None
    return canonical_partition(Partition(row["top_frame_site_key"], bool(row["has_cross_site_ancestor"])), domain)
