"""Databases as earlier releases of Firefox left them, made by hand."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

LATER = int(time.time()) + 86400
CREATED = 1_700_000_000_000_000

# What a schema has beyond the columns of all; the year is that of its first release.
COLUMNS = {
    7: "baseDomain TEXT, appId INTEGER DEFAULT 0, inBrowserElement INTEGER DEFAULT 0",
    8: "baseDomain TEXT, inBrowserElement INTEGER DEFAULT 0",
    9: "baseDomain TEXT, inBrowserElement INTEGER DEFAULT 0, sameSite INTEGER",  # 2018
    10: "baseDomain TEXT, inBrowserElement INTEGER DEFAULT 0, sameSite INTEGER, rawSameSite INTEGER",
    11: "inBrowserElement INTEGER DEFAULT 0, sameSite INTEGER DEFAULT 0, rawSameSite INTEGER DEFAULT 0",
}
COLUMNS[12] = f"{COLUMNS[11]}, schemeMap INTEGER DEFAULT 0"
COLUMNS[13] = COLUMNS[14] = f"{COLUMNS[12]}, isPartitionedAttributeSet INTEGER DEFAULT 0"
COLUMNS[15] = COLUMNS[16] = COLUMNS[14].replace("rawSameSite INTEGER DEFAULT 0, ", "")
COLUMNS[17] = f"{COLUMNS[16]}, updateTime INTEGER"  # 2026


def make_database(path: Path, schema: int = 17) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(
        f"""
        PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = {schema};
        CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY, originAttributes TEXT NOT NULL DEFAULT '', name TEXT,
        value TEXT, host TEXT, path TEXT, expiry INTEGER, lastAccessed INTEGER, creationTime INTEGER, isSecure INTEGER,
        isHttpOnly INTEGER, {COLUMNS[schema]},
        CONSTRAINT moz_uniqueid UNIQUE (name, host, path, originAttributes))
        """
    )
    return connection


def insert(connection: sqlite3.Connection, **given: Any) -> None:
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    row: dict[str, Any] = {
        "name": "sid",
        "value": "abc",
        "host": "site.example",
        "path": "/",
        "expiry": LATER * (1000 if schema >= 16 else 1),
        "lastAccessed": CREATED + 5_000_000,
        "creationTime": CREATED,
        "isSecure": 1,
        "isHttpOnly": 0,
        **given,
    }
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO moz_cookies ({', '.join(row)}) VALUES ({marks})", list(row.values()))
