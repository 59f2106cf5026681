"""Migrations from every earlier format to the current one. A released migration is never edited."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from hatbox.store.base import NO_GROUP, TabRow
from hatbox.store.keys import Key
from hatbox.store.sqlite.rows import SqliteRows, checksum_of, corruption
from hatbox.store.sqlite.schema import FORMAT, STATEMENTS
from hatbox.store.tables.identity_table import new_uuid
from hatbox.store.tables.new_profile import NEW_HEAD, new_identities
from hatbox.store.tables.profile_row import new_profile_row
from hatbox.store.tables.schema import (
    COOKIES,
    EXTENSION_DATA,
    HEAD,
    IDENTITIES,
    PROFILE,
    SITE_DATA,
    TAB_COUNTS,
    TAB_PAGES,
    TABLES,
    TABS,
    WINDOWS,
    Table,
)
from hatbox.store.tables.tab_order import GAP, RANGE

__all__ = [
    "EARLIER_ROWS",
    "LAST_POSITION",
    "EarlierRows",
    "count_tabs",
    "create_schema",
    "create_tables",
    "has_tables_of",
    "insert_profile",
    "migrate",
    "number_tabs",
    "version_of",
]


class EarlierRows(NamedTuple):
    """How an earlier format stores the rows of a table that got more columns, at the end."""

    table: Table
    statement: str
    """Creates the table."""
    new_values: Callable[[], tuple[str | int, ...]]
    """The values of the new columns."""


_EARLIER: Final[tuple[tuple[str, ...], ...]] = (
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

_NEW_IN_8: Final = ("history", "visits", "bookmarks", "closed_tabs")
_FORMAT_7: Final[dict[str, tuple[str, ...]]] = {
    **{name: statements for name, statements in STATEMENTS.items() if name not in _NEW_IN_8},
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

_BY_FORMAT: Final = {5: _FORMAT_5, 6: _FORMAT_6, 7: _FORMAT_7, FORMAT: STATEMENTS}
_HEAD_5: Final = HEAD._replace(columns=HEAD.columns[:6])
_HEAD_6: Final = HEAD._replace(columns=HEAD.columns[:-1])
_IDENTITIES: Final = EarlierRows(
    IDENTITIES._replace(columns=IDENTITIES.columns[:-1]), _FORMAT_6["identities"][0], lambda: (new_uuid(),)
)
_TABS: Final = EarlierRows(TABS._replace(columns=TABS.columns[:-3]), _FORMAT_7["tabs"][0], lambda: (0, 0, NO_GROUP))

EARLIER_ROWS: Final[tuple[EarlierRows, ...]] = (
    EarlierRows(_HEAD_6, _FORMAT_6["head"][0], lambda: (0,)),
    _IDENTITIES,
    _TABS,
)
"""The rows of formats 6 and 7 that have fewer columns. A repair saves them from a profile that was not upgraded."""

LAST_POSITION: Final = "SELECT max(coalesce(max(position), 0), count(*) * 1048576) FROM identities"
"""Selects the counter identity_position of a profile that has none. Renumbering needs 2**20 for each identity."""


def version_of(connection: sqlite3.Connection) -> int:
    """The number of the format that the file has."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def has_tables_of(connection: sqlite3.Connection, version: int) -> bool:
    """Whether the schema in the file is exactly that of a format."""
    # Not sqlite_sequence, which an upgraded file still has: SQLite never drops it.
    query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    return {sql for (sql,) in connection.execute(query)} == _statements_of(version)


def create_tables(connection: sqlite3.Connection, key: Key | None = None) -> None:
    """The tables of a new profile, encrypted if a key is given. The caller starts the transaction and commits it."""
    create_schema(connection)
    SqliteRows(connection, IDENTITIES).put(new_identities())
    SqliteRows(connection, HEAD).insert(NEW_HEAD)
    insert_profile(connection, key)
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def migrate(connection: sqlite3.Connection) -> None:
    """Run the missing migration steps, all or none. The caller starts the transaction and commits it."""
    for step in _EARLIER[version_of(connection) :]:
        for statement in step:
            connection.execute(statement)
    version = version_of(connection)
    if version < 5:
        _add_checksums(connection)
    else:
        if version < 8:
            _add_records(connection)
        if version < 7:
            _add_identity_uuids(connection)
        if version == 6:
            _add_rule_counter(connection)
        elif version == 5:
            _add_counters(connection)
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the tables of the current format, without rows."""
    for table in TABLES:
        _create(connection, table.name)


def _statements_of(version: int) -> set[str]:
    if version >= 5:
        return {statement for statements in _BY_FORMAT[version].values() for statement in statements}
    return {statement for step in _EARLIER[:version] for statement in step if statement.startswith("CREATE ")}


def _add_checksums(connection: sqlite3.Connection) -> None:
    """From format 4: every row gets a checksum, ids come from the table head, page snapshots have their own table."""
    for name in ("identities_by_position", "identities_by_name", "tabs_by_window", "tabs_by_store"):
        connection.execute(f"DROP INDEX {name}")
    earlier = ("identities", "changes", "cookies", "windows", "tabs", "site_data", "extension_data")
    for name in earlier:
        connection.execute(f"ALTER TABLE {name} RENAME TO earlier_{name}")
    create_schema(connection)
    last = {"identities": 0, "windows": 0, "tabs": 0}
    last.update(connection.execute("SELECT substr(name, 9), seq FROM sqlite_sequence WHERE name LIKE 'earlier_%'"))
    (changes,) = connection.execute("SELECT coalesce(max(sequence), 0) FROM earlier_changes").fetchone()
    # Firefox keeps 5 for itself, see above. The log starts empty: no program has the profile open while this runs.
    head = (1, max(5, last["identities"]), last["windows"], last["tabs"], changes, 0)
    for table, new in ((IDENTITIES, _IDENTITIES), (TABS, _TABS)):
        rows = ((*row, *new.new_values()) for row in _rows_of(connection, new.table))
        SqliteRows(connection, table).put(rows)
    for table in (COOKIES, WINDOWS, SITE_DATA, EXTENSION_DATA):
        SqliteRows(connection, table).put(_rows_of(connection, table))
    pages = connection.cursor().execute("SELECT id, page FROM earlier_tabs WHERE page IS NOT NULL")
    SqliteRows(connection, TAB_PAGES).put(pages)
    for name in earlier:
        connection.execute(f"DROP TABLE earlier_{name}")
    number_tabs(connection)
    _insert_head(connection, head)


def _add_counters(connection: sqlite3.Connection) -> None:
    """From format 5: more counters, an id of the profile, who made a change, positions of tabs with gaps.

    The log starts empty, see above.
    """
    head = _head_of(connection, _HEAD_5)
    for name in ("head", "changes"):
        connection.execute(f"DROP TABLE {name}")
    for name in ("head", "changes", "profile", "tab_counts"):
        _create(connection, name)
    for statement in STATEMENTS["windows"][1:]:  # a new index
        connection.execute(statement)
    number_tabs(connection)
    _insert_head(connection, head)


def _add_rule_counter(connection: sqlite3.Connection) -> None:
    """From format 6: a counter of site rules."""
    head = _head_of(connection, _HEAD_6)
    connection.execute("DROP TABLE head")
    _create(connection, "head")
    SqliteRows(connection, HEAD).insert((*head, 0))


def _head_of(connection: sqlite3.Connection, table: Table) -> tuple[int, ...]:
    """The counters of an earlier format."""
    head = SqliteRows(connection, table).get(1)
    if head is None:
        raise corruption("the row of the table head is missing")
    return head


def _add_identity_uuids(connection: sqlite3.Connection) -> None:
    """From formats 5 and 6: an identity has a UUID; settings, rules and the trash have tables."""
    for name in ("settings", "rules", "trash"):
        _create(connection, name)
    _add_columns(connection, IDENTITIES, _IDENTITIES)


def _add_records(connection: sqlite3.Connection) -> None:
    """From formats 5 to 7: history, bookmarks and recently closed tabs have tables, and tabs more columns."""
    for name in _NEW_IN_8:
        _create(connection, name)
    _add_columns(connection, TABS, _TABS)


def _add_columns(connection: sqlite3.Connection, table: Table, earlier: EarlierRows) -> None:
    """Give every row of a table its new columns, and a new checksum. The old checksum is verified."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
    for (name,) in connection.execute(query, (table.name,)).fetchall():
        connection.execute(f"DROP INDEX {name}")
    connection.execute(f"ALTER TABLE {table.name} RENAME TO earlier_{table.name}")
    _create(connection, table.name)
    SqliteRows(connection, table).put(_with_new_columns(connection, earlier))
    connection.execute(f"DROP TABLE earlier_{table.name}")


def _with_new_columns(connection: sqlite3.Connection, earlier: EarlierRows) -> Iterator[tuple[Any, ...]]:
    """The rows of an earlier format with the new values. Their checksums are verified: new ones would hide damage."""
    table = earlier.table
    # The cursor is closed also after damage: an open one would leave the file locked.
    with contextlib.closing(_rows_of(connection, table, "checksum")) as cursor:
        for *values, checksum in cursor:
            if checksum_of(table, values) != checksum:
                raise corruption(f"a row of the table {table.name} has a wrong checksum")
            yield (*values, *earlier.new_values())


def _create(connection: sqlite3.Connection, name: str) -> None:
    for statement in STATEMENTS[name]:
        connection.execute(statement)


def number_tabs(connection: sqlite3.Connection) -> None:
    """Give all tabs positions with gaps, in their order, and count them."""
    rows = SqliteRows(connection, TABS)
    places: Counter[int] = Counter()
    for row in map(TabRow._make, rows.find("ORDER BY window, position, id")):
        rows.update((row.id,), {"position": places[row.window] * GAP})
        places[row.window] += 1
    count_tabs(connection)


def count_tabs(connection: sqlite3.Connection) -> None:
    """Fill the empty table tab_counts."""
    tabs: Counter[tuple[int, int]] = Counter()
    pinned: Counter[tuple[int, int]] = Counter()
    for row in map(TabRow._make, SqliteRows(connection, TABS).find("ORDER BY id")):
        tabs[row.window, row.position // RANGE] += 1
        pinned[row.window, row.position // RANGE] += row.pinned
    SqliteRows(connection, TAB_COUNTS).put((*key, count, pinned[key]) for key, count in tabs.items())


def _insert_head(connection: sqlite3.Connection, head: tuple[int, ...]) -> None:
    """Insert the counters of formats before 6, and those that are new since."""
    (extension_data,) = connection.execute("SELECT coalesce(max(sequence), 0) FROM extension_data").fetchone()
    (position,) = connection.execute(LAST_POSITION).fetchone()
    SqliteRows(connection, HEAD).insert((*head, extension_data, position, 0))
    insert_profile(connection)


def insert_profile(connection: sqlite3.Connection, key: Key | None = None) -> None:
    """Insert the row of the table profile, with a new id."""
    SqliteRows(connection, PROFILE).insert(new_profile_row(key))


def _rows_of(connection: sqlite3.Connection, table: Table, *more: str) -> sqlite3.Cursor:
    """The rows of a table of an earlier format, and more columns of each."""
    columns = ", ".join(f'"{column}"' for column in (*table.columns, *more))
    return connection.cursor().execute(f"SELECT {columns} FROM earlier_{table.name}")
