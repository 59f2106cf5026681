"""The statements that create the tables of the current format. Every row has a checksum over its table and values.

The statements are compared with those in a file when it is opened, so a damaged schema is detected before it is used.
"""

from __future__ import annotations

import secrets
from typing import Final

__all__ = ["APPLICATION_ID", "FORMAT", "FORMAT_MASK", "STATEMENTS", "new_user_version", "next_log", "number_of_log"]

APPLICATION_ID: Final = 0x48415442  # "HATB": in the file header; distinguishes a profile from other databases
FORMAT: Final = 9  # in the file header, in the lowest bits of user_version; the others count WALs, see wal.py

_FORMAT_BITS: Final = 8
FORMAT_MASK: Final = 2**_FORMAT_BITS - 1
_LOG_NUMBERS: Final = 2**23  # SQLite's number has a sign

STATEMENTS: Final[dict[str, tuple[str, ...]]] = {
    "head": (
        """CREATE TABLE head (
            id INTEGER PRIMARY KEY,
            identities INTEGER NOT NULL,
            windows INTEGER NOT NULL,
            tabs INTEGER NOT NULL,
            changes INTEGER NOT NULL,
            logged INTEGER NOT NULL,
            extension_data INTEGER NOT NULL,
            identity_position INTEGER NOT NULL,
            rules INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        )""",
    ),
    "profile": (
        """CREATE TABLE profile (
            id INTEGER PRIMARY KEY,
            uuid TEXT NOT NULL,
            key_check BLOB,
            checksum INTEGER NOT NULL
        )""",
    ),
    "identities": (
        """CREATE TABLE identities (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            icon TEXT NOT NULL,
            color TEXT NOT NULL,
            hidden INTEGER NOT NULL,
            position INTEGER NOT NULL,
            uuid TEXT NOT NULL,
            checksum INTEGER NOT NULL
        )""",
        "CREATE INDEX identities_by_position ON identities (position)",
        "CREATE INDEX identities_by_name ON identities (name, position)",
    ),
    "cookies": (
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
            checksum INTEGER NOT NULL,
            PRIMARY KEY (store, domain, path, name, host_only, partition)
        ) WITHOUT ROWID""",
    ),
    "cookie_time": (
        """CREATE TABLE cookie_time (
            id INTEGER PRIMARY KEY,
            reached REAL NOT NULL,
            before REAL,
            landed REAL,
            checksum INTEGER NOT NULL
        )""",
    ),
    "windows": (
        """CREATE TABLE windows (
            id INTEGER PRIMARY KEY,
            focused INTEGER NOT NULL,
            state TEXT NOT NULL,
            kind TEXT NOT NULL,
            title_preface TEXT NOT NULL,
            "left" INTEGER,
            top INTEGER,
            width INTEGER,
            height INTEGER,
            checksum INTEGER NOT NULL
        )""",
        "CREATE INDEX windows_by_focus ON windows (focused DESC, id)",
    ),
    "tabs": (
        """CREATE TABLE tabs (
            id INTEGER PRIMARY KEY,
            window INTEGER NOT NULL,
            position INTEGER NOT NULL,
            store INTEGER NOT NULL,
            url TEXT NOT NULL,
            target TEXT NOT NULL,
            title TEXT NOT NULL,
            icon TEXT NOT NULL,
            active INTEGER NOT NULL,
            pinned INTEGER NOT NULL,
            hidden INTEGER NOT NULL,
            muted INTEGER NOT NULL,
            muted_by TEXT NOT NULL,
            discardable INTEGER NOT NULL,
            opener INTEGER,
            owner INTEGER,
            related INTEGER,
            successor INTEGER,
            last_accessed REAL NOT NULL,
            navigation INTEGER NOT NULL,
            begun INTEGER NOT NULL,
            loaded INTEGER NOT NULL,
            status INTEGER,
            content_type TEXT NOT NULL,
            error TEXT NOT NULL,
            discarded INTEGER NOT NULL,
            highlighted INTEGER NOT NULL,
            tab_group INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        )""",
        "CREATE INDEX tabs_by_window ON tabs (window, position)",
        "CREATE INDEX tabs_by_store ON tabs (store, window, position)",
        "CREATE INDEX tabs_by_visibility ON tabs (window, hidden, position)",
        "CREATE INDEX tabs_by_access ON tabs (window, hidden, last_accessed DESC, position)",
        "CREATE INDEX tabs_active ON tabs (window) WHERE active = 1",
        "CREATE INDEX tabs_related ON tabs (window) WHERE related IS NOT NULL",
        "CREATE INDEX tabs_by_opener ON tabs (opener) WHERE opener IS NOT NULL",
        "CREATE INDEX tabs_by_successor ON tabs (successor) WHERE successor IS NOT NULL",
    ),
    "tab_counts": (
        """CREATE TABLE tab_counts (
            window INTEGER NOT NULL,
            block INTEGER NOT NULL,
            tabs INTEGER NOT NULL,
            pinned INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (window, block)
        )""",
    ),
    "tab_pages": (
        """CREATE TABLE tab_pages (
            tab INTEGER PRIMARY KEY,
            page BLOB NOT NULL,
            checksum INTEGER NOT NULL
        )""",
    ),
    "site_data": (
        """CREATE TABLE site_data (
            store INTEGER NOT NULL,
            origin TEXT NOT NULL,
            data BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (store, origin)
        )""",
    ),
    "extension_data": (
        """CREATE TABLE extension_data (
            sequence INTEGER PRIMARY KEY,
            extension TEXT NOT NULL,
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            value BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            UNIQUE (kind, extension, key)
        )""",
    ),
    "packages": (
        """CREATE TABLE packages (
            digest TEXT PRIMARY KEY,
            data BLOB NOT NULL,
            checksum INTEGER NOT NULL
        )""",
    ),
    "settings": (
        """CREATE TABLE settings (
            identity INTEGER NOT NULL,
            name TEXT NOT NULL,
            value BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (identity, name)
        )""",
    ),
    "rules": (
        """CREATE TABLE rules (
            id INTEGER PRIMARY KEY,
            rule BLOB NOT NULL,
            checksum INTEGER NOT NULL
        )""",
    ),
    "trash": (
        """CREATE TABLE trash (
            id INTEGER PRIMARY KEY,
            uuid TEXT NOT NULL,
            name TEXT NOT NULL,
            icon TEXT NOT NULL,
            color TEXT NOT NULL,
            removed REAL NOT NULL,
            cookies INTEGER NOT NULL,
            tabs INTEGER NOT NULL,
            size INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            data BLOB NOT NULL
        )""",
    ),
    "history": (
        """CREATE TABLE history (
            store INTEGER NOT NULL,
            id INTEGER NOT NULL,
            url TEXT NOT NULL,
            title TEXT NOT NULL,
            visits INTEGER NOT NULL,
            typed INTEGER NOT NULL,
            last_visit REAL NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (store, id)
        )""",
        "CREATE INDEX history_by_url ON history (url, store)",
        "CREATE INDEX history_by_visit ON history (last_visit, id)",
    ),
    "visits": (
        """CREATE TABLE visits (
            store INTEGER NOT NULL,
            id INTEGER NOT NULL,
            page INTEGER NOT NULL,
            visited REAL NOT NULL,
            transition TEXT NOT NULL,
            referrer INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (store, id)
        )""",
        "CREATE INDEX visits_by_page ON visits (page, visited)",
        "CREATE INDEX visits_by_time ON visits (visited, id)",
        "CREATE INDEX visits_by_id ON visits (id)",
    ),
    "bookmarks": (
        """CREATE TABLE bookmarks (
            id TEXT PRIMARY KEY,
            parent TEXT NOT NULL,
            position INTEGER NOT NULL,
            kind TEXT NOT NULL,
            url TEXT NOT NULL,
            title TEXT NOT NULL,
            added REAL NOT NULL,
            modified REAL NOT NULL,
            checksum INTEGER NOT NULL
        )""",
        "CREATE INDEX bookmarks_by_parent ON bookmarks (parent, position)",
        "CREATE INDEX bookmarks_by_url ON bookmarks (url)",
        "CREATE INDEX bookmarks_by_time ON bookmarks (added)",
    ),
    "closed_tabs": (
        """CREATE TABLE closed_tabs (
            id INTEGER PRIMARY KEY,
            session INTEGER NOT NULL,
            store INTEGER NOT NULL,
            closed REAL NOT NULL,
            checksum INTEGER NOT NULL,
            data BLOB NOT NULL
        )""",
        "CREATE INDEX closed_tabs_by_session ON closed_tabs (session)",
        "CREATE INDEX closed_tabs_by_store ON closed_tabs (store)",
    ),
    "grants": (
        """CREATE TABLE grants (
            id TEXT PRIMARY KEY,
            digest BLOB NOT NULL,
            created REAL NOT NULL,
            expires REAL,
            revoked REAL,
            program TEXT NOT NULL,
            machine TEXT NOT NULL,
            data BLOB NOT NULL,
            checksum INTEGER NOT NULL
        )""",
        "CREATE INDEX grants_by_digest ON grants (digest)",
    ),
    "activity": (
        """CREATE TABLE activity (
            id INTEGER PRIMARY KEY,
            at REAL NOT NULL,
            grant_id TEXT NOT NULL,
            program TEXT NOT NULL,
            machine TEXT NOT NULL,
            store INTEGER,
            action TEXT NOT NULL,
            host TEXT NOT NULL,
            outcome TEXT NOT NULL,
            times INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        )""",
        "CREATE INDEX activity_by_time ON activity (at)",
        "CREATE INDEX activity_by_store ON activity (store, id)",
        "CREATE INDEX activity_by_grant ON activity (grant_id, store, id)",
    ),
    "changes": (
        """CREATE TABLE changes (
            sequence INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            logged INTEGER NOT NULL,
            changes BLOB NOT NULL,
            program TEXT NOT NULL,
            process INTEGER NOT NULL,
            machine TEXT NOT NULL,
            checksum INTEGER NOT NULL
        )""",
    ),
}


def new_user_version() -> int:
    """The user_version of a new profile. Its WALs have other numbers than those of other profiles."""
    return secrets.randbelow(_LOG_NUMBERS) << _FORMAT_BITS | FORMAT


def number_of_log(user_version: int) -> int:
    """The number of the newest WAL in a user_version."""
    return user_version >> _FORMAT_BITS


def next_log(user_version: int) -> int:
    """The user_version that is written first into the next WAL."""
    return user_version & FORMAT_MASK | (number_of_log(user_version) + 1) % _LOG_NUMBERS << _FORMAT_BITS
