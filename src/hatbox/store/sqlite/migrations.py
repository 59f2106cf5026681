"""The numbered steps that lead from an empty file to today's tables. A step that was released is never edited."""

from __future__ import annotations

import sqlite3
from typing import Final

__all__ = ["APPLICATION_ID", "LATEST", "migrate", "version_of"]

APPLICATION_ID: Final = 0x48415442  # "HATB": stands in the file's header and tells a profile from other databases

_MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        # AUTOINCREMENT: an id is never given out twice, not even after the newest identity was removed.
        """CREATE TABLE identities (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            icon TEXT NOT NULL,
            color TEXT NOT NULL,
            position INTEGER NOT NULL,
            hidden INTEGER NOT NULL DEFAULT 0
        )""",
        "CREATE INDEX identities_by_position ON identities (position)",
        "CREATE INDEX identities_by_name ON identities (name, position)",
        # A row for each commit. The newest is never pruned, so that sequence numbers only grow.
        """CREATE TABLE changes (
            sequence INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            changes BLOB NOT NULL
        )""",
        """INSERT INTO identities (id, name, icon, color, position) VALUES
            (1, 'Personal', 'fingerprint', 'blue', 1048576),
            (2, 'Work', 'briefcase', 'orange', 2097152),
            (3, 'Banking', 'dollar', 'green', 3145728),
            (4, 'Shopping', 'cart', 'pink', 4194304)""",
        # Firefox keeps 5 for itself, so the first identity that a user makes is 6, there and here.
        "UPDATE sqlite_sequence SET seq = 5 WHERE name = 'identities'",
    ),
    (
        # store: the number of the identity; 0 is the store of no identity. expires: NULL for a session cookie.
        """CREATE TABLE cookies (
            store INTEGER NOT NULL,
            domain TEXT NOT NULL,
            host_only INTEGER NOT NULL,
            path TEXT NOT NULL,
            name TEXT NOT NULL,
            partition TEXT NOT NULL,
            value TEXT NOT NULL,
            secure INTEGER NOT NULL,
            http_only INTEGER NOT NULL,
            same_site TEXT NOT NULL,
            expires REAL,
            sequence INTEGER NOT NULL,
            created REAL NOT NULL,
            last_access REAL NOT NULL,
            PRIMARY KEY (store, domain, path, name, host_only, partition)
        ) WITHOUT ROWID""",
    ),
    (
        """CREATE TABLE windows (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            focused INTEGER NOT NULL DEFAULT 0,
            state TEXT NOT NULL DEFAULT 'normal',
            kind TEXT NOT NULL DEFAULT 'normal',
            title_preface TEXT NOT NULL DEFAULT '',
            "left" INTEGER,
            top INTEGER,
            width INTEGER,
            height INTEGER
        )""",
        # AUTOINCREMENT: whoever remembers the id of a tab that was closed never finds another one by it.
        """CREATE TABLE tabs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            window INTEGER NOT NULL,
            position INTEGER NOT NULL,
            store INTEGER NOT NULL,
            url TEXT NOT NULL DEFAULT 'about:blank',
            target TEXT NOT NULL DEFAULT '',
            title TEXT NOT NULL DEFAULT '',
            icon TEXT NOT NULL DEFAULT '',
            active INTEGER NOT NULL DEFAULT 0,
            pinned INTEGER NOT NULL DEFAULT 0,
            hidden INTEGER NOT NULL DEFAULT 0,
            muted INTEGER NOT NULL DEFAULT 0,
            muted_by TEXT NOT NULL DEFAULT '',
            discardable INTEGER NOT NULL DEFAULT 1,
            opener INTEGER,
            owner INTEGER,
            related INTEGER,
            successor INTEGER,
            last_accessed REAL NOT NULL DEFAULT 0,
            navigation INTEGER NOT NULL DEFAULT 0,
            begun INTEGER NOT NULL DEFAULT 0,
            loaded INTEGER NOT NULL DEFAULT 0,
            status INTEGER,
            content_type TEXT NOT NULL DEFAULT '',
            error TEXT NOT NULL DEFAULT '',
            page BLOB
        )""",
        "CREATE INDEX tabs_by_window ON tabs (window, position)",
        "CREATE INDEX tabs_by_store ON tabs (store)",
        """CREATE TABLE site_data (
            store INTEGER NOT NULL,
            origin TEXT NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (store, origin)
        )""",
    ),
    (
        """CREATE TABLE extension_data (
            sequence INTEGER PRIMARY KEY,
            extension TEXT NOT NULL,
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            value BLOB NOT NULL,
            UNIQUE (kind, extension, key)
        )""",
    ),
    (
        # The files of installed extensions, by the hash of their contents. Never in the log of changes.
        """CREATE TABLE packages (
            digest TEXT PRIMARY KEY,
            data BLOB NOT NULL
        )""",
    ),
)

LATEST: Final = len(_MIGRATIONS)


def version_of(connection: sqlite3.Connection) -> int:
    """The number of the last step that the file has seen."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def migrate(connection: sqlite3.Connection) -> None:
    """Take the steps that are missing, all or none. The caller has begun a transaction and commits it."""
    for number, step in enumerate(_MIGRATIONS[version_of(connection) :], start=version_of(connection) + 1):
        for statement in step:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")
