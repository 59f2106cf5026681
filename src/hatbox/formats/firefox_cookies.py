"""Firefox's cookies.sqlite: rows of every schema since 2018 as cookies, and cookies as rows of the latest.

Never opens a file that Firefox may be using: `database_copy` reads a copy.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, quote

from hatbox.cookies.cookie import Cookie, Partition, SameSite
from hatbox.cookies.domains import parse_domain
from hatbox.cookies.partitions import canonical_partition, is_foreign
from hatbox.errors import InvalidInputFile
from hatbox.formats.base import Tally, plausible_same_site
from hatbox.formats.database_copy import columns_of, copied_database

__all__ = ["SCHEMA", "OriginAttributes", "create_database", "insert_cookies", "owner_of", "read_cookies", "suffix_of"]

SCHEMA: Final = 17
_OLDEST: Final = 7  # the first with origin attributes; Firefox 60 of 2018 came with 9
_MILLISECONDS_SINCE: Final = 16
_MICRO: Final = 1_000_000
_LATEST: Final = 1e12  # seconds; the column has 64 bits
_UNSET: Final = 256
_SAME_SITE: Final = {0: SameSite.NONE, 1: SameSite.LAX, 2: SameSite.STRICT, _UNSET: SameSite.UNSPECIFIED}
_NUMBER_OF: Final = {value: number for number, value in _SAME_SITE.items()}
_HTTPS: Final = 2  # in schemeMap; Firefox uses 0 for unknown

# SQLite stores any type in any column.
_TEXTS: Final = ("originAttributes", "name", "value", "host", "path")
_INTEGERS: Final = ("expiry", "lastAccessed", "creationTime", "isSecure", "isHttpOnly")
_LATER: Final = ("sameSite", "rawSameSite")

ATTRIBUTES: Final = "cookies of private windows or of first-party isolation"

_TABLE: Final = """
CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY, originAttributes TEXT NOT NULL DEFAULT '', name TEXT, value TEXT,
host TEXT, path TEXT, expiry INTEGER, lastAccessed INTEGER, creationTime INTEGER, isSecure INTEGER, isHttpOnly INTEGER,
inBrowserElement INTEGER DEFAULT 0, sameSite INTEGER DEFAULT 0, schemeMap INTEGER DEFAULT 0,
isPartitionedAttributeSet INTEGER DEFAULT 0, updateTime INTEGER,
CONSTRAINT moz_uniqueid UNIQUE (name, host, path, originAttributes))
"""
# Text is passed as bytes: cookies may contain bytes that are not UTF-8, and Firefox stores them.
_INSERT: Final = """
INSERT OR REPLACE INTO moz_cookies (originAttributes, name, value, host, path, expiry, lastAccessed, creationTime,
isSecure, isHttpOnly, sameSite, schemeMap, isPartitionedAttributeSet, updateTime)
VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT), ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_NUMBER: Final = re.compile(r"[0-9]{1,10}")  # 32 bits
_PARTITION_KEY: Final = re.compile(r"\((?P<scheme>[a-z]+),(?P<host>[^,()]+)(?:,(?P<port>[0-9]+))?(?P<foreign>,f)?\)")


def read_cookies(path: Path, skipped: Tally) -> dict[int, list[Cookie]]:
    """The cookies by userContextId, oldest first; 0 is the default store. Works while Firefox runs."""
    found: dict[int, list[Cookie]] = defaultdict(list)
    with copied_database(path, "Firefox") as connection:
        for row in _rows(connection, path):
            owner = owner_of(row["originAttributes"])
            if owner is None:
                skipped[ATTRIBUTES] += 1
            else:
                found[owner.number].append(_cookie(row, owner))
    return found


def create_database(path: Path) -> None:
    """Create an empty database with the latest schema, unless it has tables: a killed process may have left none."""
    if not path.exists():
        path.touch(0o600)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is None:
            script = f"BEGIN; {_TABLE}; PRAGMA user_version = {SCHEMA}; COMMIT"
            connection.executescript(f"PRAGMA journal_mode = WAL; {script}")


def insert_cookies(connection: sqlite3.Connection, number: int, cookies: Iterable[Cookie]) -> int:
    """Insert cookies in the current transaction, replacing those with the same key. Returns their number."""
    rows = [_row(cookie, number) for cookie in cookies]
    connection.executemany(_INSERT, rows)
    return len(rows)


def _rows(connection: sqlite3.Connection, path: Path) -> Iterator[dict[str, Any]]:
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    columns = columns_of(connection, "moz_cookies", path)
    missing = [name for name in (*_TEXTS, *_INTEGERS) if name not in columns]
    if missing or not _OLDEST <= schema <= SCHEMA:
        found = f"schema {schema}" + (f" without {', '.join(missing)}" if missing else "")
        problem = f"unsupported {found} (supported: schemas {_OLDEST} (2016) to {SCHEMA} (Firefox 153))"
        raise InvalidInputFile(str(path), problem)
    scale = 1000 if schema >= _MILLISECONDS_SINCE else 1
    texts = (f"coalesce(CAST({name} AS TEXT), '') AS {name}" for name in _TEXTS)
    integers = (f"coalesce(CAST({name} AS INTEGER), 0) AS {name}" for name in _INTEGERS)
    later = (name if name in columns else f"NULL AS {name}" for name in _LATER)
    wanted = ", ".join([*texts, *integers, *later])
    for row in connection.execute(f"SELECT {wanted} FROM moz_cookies ORDER BY creationTime, id"):
        yield {**dict(row), "expiry": row["expiry"] / scale}


def _cookie(row: dict[str, Any], owner: OriginAttributes) -> Cookie:
    host, secure = row["host"], bool(row["isSecure"])
    domain, host_only = parse_domain(host, shared=host.startswith("."))
    return Cookie(
        name=row["name"],
        value=row["value"],
        domain=domain,
        path=row["path"] or "/",
        host_only=host_only,
        secure=secure,
        http_only=bool(row["isHttpOnly"]),
        same_site=plausible_same_site(_same_site(row["sameSite"], row["rawSameSite"]), secure=secure),
        expires=row["expiry"],
        partition=owner.partition and canonical_partition(owner.partition, domain),
        sequence=row["creationTime"],
        created=row["creationTime"] / _MICRO,
        last_access=row["lastAccessed"] / _MICRO,
    )


def _same_site(effective: int | None, raw: int | None) -> SameSite:
    """Schemas 10 to 14 have two columns: Lax by default means that the attribute was not set."""
    if effective == 1 and raw == 0:
        return SameSite.UNSPECIFIED
    return _SAME_SITE.get(effective if effective is not None else _UNSET, SameSite.UNSPECIFIED)


def _as_firefox_spells(partition: Partition, domain: str) -> Partition:
    """Without the cross-site ancestor where the site implies it: Firefox would not find the cookie."""
    site, crossed = partition
    return Partition(site, crossed and not is_foreign(domain, site))


def _row(cookie: Cookie, number: int) -> tuple[object, ...]:
    created = cookie.sequence or int(cookie.created * _MICRO)
    used = int(max(cookie.last_access, cookie.created) * _MICRO)
    return (
        suffix_of(OriginAttributes(number, cookie.partition and _as_firefox_spells(cookie.partition, cookie.domain))),
        *(text.encode("latin-1") for text in (cookie.name, cookie.value)),
        cookie.domain if cookie.host_only else f".{cookie.domain}",
        cookie.path.encode("latin-1"),
        round(min(cookie.expires or 0, _LATEST) * 1000),
        used,
        created,
        int(cookie.secure),
        int(cookie.http_only),
        _NUMBER_OF[cookie.same_site],
        _HTTPS if cookie.secure else 0,
        int(cookie.partition is not None),
        used,
    )


class OriginAttributes(NamedTuple):
    """A userContextId, 0 for the default store, and a partition."""

    number: int = 0
    partition: Partition | None = None


def owner_of(suffix: str) -> OriginAttributes | None:
    """Parse the attributes; None for those without an equivalent, such as private windows."""
    if not suffix:
        return OriginAttributes()
    if not suffix.startswith("^"):
        return None
    number, partition = 0, None
    fields = parse_qsl(suffix[1:], keep_blank_values=True)
    if len(dict(fields)) < len(fields):  # ambiguous: do not guess the owner of a cookie
        return None
    for name, value in fields:
        if name == "userContextId" and _NUMBER.fullmatch(value):
            number = int(value)
        elif name == "partitionKey" and (match := _PARTITION_KEY.fullmatch(value)):
            port = f":{match['port']}" if match["port"] else ""
            partition = Partition(f"{match['scheme']}://{match['host']}{port}", match["foreign"] is not None)
        else:
            return None
    return OriginAttributes(number, partition)


def suffix_of(owner: OriginAttributes) -> str:
    """Format the attributes for a row."""
    parts = [f"userContextId={owner.number}"] if owner.number else []
    if owner.partition is not None:
        scheme, _, place = owner.partition.top_level_site.partition("://")
        host, _, port = place.rpartition(":") if re.search(r":[0-9]+$", place) else (place, "", "")
        fields = [scheme, host, *([port] if port else []), *(["f"] if owner.partition.cross_site_ancestor else [])]
        parts.append(f"partitionKey={quote('(' + ','.join(fields) + ')', safe='')}")
    return "^" + "&".join(parts) if parts else ""
