"""The tables of the current format. Every row has a checksum over its table's name, its key and its values.

The statements are compared with those in a file when it is opened, so a damaged schema is detected before it is used.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hatbox.store.base import TabRow, WindowRow

__all__ = [
    "APPLICATION_ID",
    "CHANGES",
    "COOKIES",
    "COOKIE_TIME",
    "EXTENSION_DATA",
    "FORMAT",
    "HEAD",
    "IDENTITIES",
    "PACKAGES",
    "SITE_DATA",
    "TABLES",
    "TABS",
    "TAB_PAGES",
    "WINDOWS",
    "Table",
]

APPLICATION_ID: Final = 0x48415442  # "HATB": in the file header; distinguishes a profile from other databases
FORMAT: Final = 5  # in the file header, as user_version


class Table(NamedTuple):
    """One table: its columns in the order in which the checksum covers them, and the statements that create it."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    statements: tuple[str, ...]


HEAD: Final = Table(
    "head",
    ("id", "identities", "windows", "tabs", "changes", "logged"),
    ("id",),
    (
        # One row. The highest number that was ever given to an identity, a window, a tab, a row of the change log, so
        # that none is given twice; and how many bytes were ever written to the log.
        """CREATE TABLE head (
            id INTEGER PRIMARY KEY,
            identities INTEGER NOT NULL,
            windows INTEGER NOT NULL,
            tabs INTEGER NOT NULL,
            changes INTEGER NOT NULL,
            logged INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        )""",
    ),
)

IDENTITIES: Final = Table(
    "identities",
    ("id", "name", "icon", "color", "hidden", "position"),
    ("id",),
    (
        """CREATE TABLE identities (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            icon TEXT NOT NULL,
            color TEXT NOT NULL,
            hidden INTEGER NOT NULL,
            position INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        )""",
        "CREATE INDEX identities_by_position ON identities (position)",
        "CREATE INDEX identities_by_name ON identities (name, position)",
    ),
)

COOKIES: Final = Table(
    "cookies",
    (
        *("domain", "host_only", "path", "name", "partition", "value", "secure", "http_only", "same_site"),
        *("expires", "sequence", "created", "last_access", "store"),
    ),
    ("store", "domain", "host_only", "path", "name", "partition"),
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
            checksum INTEGER NOT NULL,
            PRIMARY KEY (store, domain, path, name, host_only, partition)
        ) WITHOUT ROWID""",
    ),
)

COOKIE_TIME: Final = Table(
    "cookie_time",
    ("reached", "before", "landed", "id"),
    ("id",),
    (
        # The high-water time by which cookies expire: one row. before, landed: of a leap that is not confirmed.
        """CREATE TABLE cookie_time (
            id INTEGER PRIMARY KEY,
            reached REAL NOT NULL,
            before REAL,
            landed REAL,
            checksum INTEGER NOT NULL
        )""",
    ),
)

WINDOWS: Final = Table(
    "windows",
    WindowRow._fields,
    ("id",),
    (
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
    ),
)

TABS: Final = Table(
    "tabs",
    TabRow._fields,
    ("id",),
    (
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
            checksum INTEGER NOT NULL
        )""",
        "CREATE INDEX tabs_by_window ON tabs (window, position)",
        "CREATE INDEX tabs_by_store ON tabs (store)",
    ),
)

TAB_PAGES: Final = Table(
    "tab_pages",
    ("tab", "page"),
    ("tab",),
    (
        # A table of its own, so that reading a tab does not read, and verify, the snapshot of its page.
        """CREATE TABLE tab_pages (
            tab INTEGER PRIMARY KEY,
            page BLOB NOT NULL,
            checksum INTEGER NOT NULL
        )""",
    ),
)

SITE_DATA: Final = Table(
    "site_data",
    ("origin", "data", "store"),
    ("store", "origin"),
    (
        """CREATE TABLE site_data (
            store INTEGER NOT NULL,
            origin TEXT NOT NULL,
            data BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (store, origin)
        )""",
    ),
)

EXTENSION_DATA: Final = Table(
    "extension_data",
    ("extension", "key", "value", "kind", "sequence"),
    ("sequence",),
    (
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
)

PACKAGES: Final = Table(
    "packages",
    ("digest", "data"),
    ("digest",),
    (
        # The files of installed extensions, by the hash of their contents.
        """CREATE TABLE packages (
            digest TEXT PRIMARY KEY,
            data BLOB NOT NULL,
            checksum INTEGER NOT NULL
        )""",
    ),
)

CHANGES: Final = Table(
    "changes",
    ("sequence", "at", "logged", "changes"),
    ("sequence",),
    (
        # A row for each commit. logged: the bytes that the log had ever had after it.
        """CREATE TABLE changes (
            sequence INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            logged INTEGER NOT NULL,
            changes BLOB NOT NULL,
            checksum INTEGER NOT NULL
        )""",
    ),
)

TABLES: Final = (
    *(HEAD, IDENTITIES, COOKIES, COOKIE_TIME, WINDOWS, TABS, TAB_PAGES, SITE_DATA),
    *(EXTENSION_DATA, PACKAGES, CHANGES),
)
