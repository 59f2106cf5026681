"""The tables of earlier formats: the statements that created them, and how their rows differ.

Never edited: the statements are compared with those in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from hatbox.store.sqlite.schema import FORMAT, STATEMENTS
from hatbox.store.tables.identity_tables import new_uuid
from hatbox.store.tables.schema import HEAD, IDENTITIES, TABS, Table

__all__ = [
    "EARLIER_ROWS",
    "FIRST_FORMATS",
    "HEAD_5",
    "HEAD_6",
    "IDENTITIES_6",
    "NEW_IN_8",
    "NEW_IN_9",
    "TABS_7",
    "EarlierRows",
    "statements_of",
]


class EarlierRows(NamedTuple):
    """How an earlier format stores the rows of a table that got more columns."""

    table: Table
    statement: str
    """Creates the table."""
    completed: Callable[[Sequence[Any]], tuple[Any, ...]]
    """Returns a row of the current format for a row of the earlier one."""


FIRST_FORMATS: Final[tuple[tuple[str, ...], ...]] = (
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
        # AUTOINCREMENT: the id of a closed tab is never used again.
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
)

"""The steps to formats 1 to 4, whose rows have no checksums."""

NEW_IN_9: Final = ("grants", "activity")
_FORMAT_8: Final[dict[str, tuple[str, ...]]] = {
    name: statements for name, statements in STATEMENTS.items() if name not in NEW_IN_9
}
NEW_IN_8: Final = ("history", "visits", "bookmarks", "closed_tabs")
_FORMAT_7: Final[dict[str, tuple[str, ...]]] = {
    **{name: statements for name, statements in _FORMAT_8.items() if name not in NEW_IN_8},
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
            checksum INTEGER NOT NULL
        )""",
        *STATEMENTS["tabs"][1:],
    ),
}
_FORMAT_6: Final[dict[str, tuple[str, ...]]] = {
    **{name: statements for name, statements in _FORMAT_7.items() if name not in ("settings", "rules", "trash")},
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
            checksum INTEGER NOT NULL
        )""",
        "CREATE INDEX identities_by_position ON identities (position)",
        "CREATE INDEX identities_by_name ON identities (name, position)",
    ),
}
_FORMAT_5: Final[dict[str, tuple[str, ...]]] = {
    **{name: statements for name, statements in _FORMAT_6.items() if name not in ("profile", "tab_counts")},
    "windows": STATEMENTS["windows"][:1],
    "tabs": (
        _FORMAT_7["tabs"][0],
        "CREATE INDEX tabs_by_window ON tabs (window, position)",
        "CREATE INDEX tabs_by_store ON tabs (store)",
    ),
    "head": (
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
    "changes": (
        """CREATE TABLE changes (
            sequence INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            logged INTEGER NOT NULL,
            changes BLOB NOT NULL,
            checksum INTEGER NOT NULL
        )""",
    ),
}

_BY_FORMAT: Final = {5: _FORMAT_5, 6: _FORMAT_6, 7: _FORMAT_7, 8: _FORMAT_8, FORMAT: STATEMENTS}

HEAD_5: Final = HEAD._replace(columns=HEAD.columns[:6])


def _earlier(table: Table, statement: str, *added: str, computed: Callable[[], dict[str, Any]] = dict) -> EarlierRows:
    """The rows of a table before some columns were added. New values are defaults, except those computed for a row."""
    earlier = table.without(*added)
    return EarlierRows(
        earlier,
        statement,
        lambda row: table.completed(dict(zip(earlier.columns, row, strict=True)) | computed()),
    )


HEAD_6: Final = _earlier(HEAD, _FORMAT_6["head"][0], "rules")
IDENTITIES_6: Final = _earlier(IDENTITIES, _FORMAT_6["identities"][0], "uuid", computed=lambda: {"uuid": new_uuid()})
TABS_7: Final = _earlier(TABS, _FORMAT_7["tabs"][0], "discarded", "highlighted", "tab_group")

EARLIER_ROWS: Final[tuple[EarlierRows, ...]] = (HEAD_6, IDENTITIES_6, TABS_7)
"""The rows of formats 6 and 7 that have fewer columns. A repair saves them from a profile that was not upgraded."""


def statements_of(version: int) -> set[str]:
    """The statements that create the tables and indexes of a format."""
    if version >= 5:
        return {statement for statements in _BY_FORMAT[version].values() for statement in statements}
    return {statement for step in FIRST_FORMATS[:version] for statement in step if statement.startswith("CREATE ")}
