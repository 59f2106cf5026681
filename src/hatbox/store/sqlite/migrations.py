"""Migrations from every earlier format to the current one. A released migration is never edited."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from hatbox.store.base import TabRow
from hatbox.store.keys import Key
from hatbox.store.sqlite.earlier_formats import (
    FIRST_FORMATS,
    HEAD_5,
    HEAD_6,
    IDENTITIES_6,
    NEW_IN_8,
    NEW_IN_9,
    TABS_7,
    EarlierRows,
    statements_of,
)
from hatbox.store.sqlite.rows import SqliteRows, checksum_of, corruption
from hatbox.store.sqlite.schema import FORMAT, FORMAT_MASK, STATEMENTS, new_user_version
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
    "LAST_POSITION",
    "count_tabs",
    "create_schema",
    "create_tables",
    "has_tables_of",
    "insert_profile",
    "migrate",
    "number_tabs",
    "version_of",
]


LAST_POSITION: Final = "SELECT max(coalesce(max(position), 0), count(*) * 1048576) FROM identities"
"""Selects the counter identity_position of a profile that has none. Renumbering needs 2**20 for each identity."""


def version_of(connection: sqlite3.Connection) -> int:
    """The number of the format that the file has."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0] & FORMAT_MASK
    return version


def has_tables_of(connection: sqlite3.Connection, version: int) -> bool:
    """Whether the schema in the file is exactly that of a format."""
    # Not sqlite_sequence, which an upgraded file still has: SQLite never drops it.
    query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    return {sql for (sql,) in connection.execute(query)} == statements_of(version)


def create_tables(connection: sqlite3.Connection, key: Key | None = None) -> None:
    """The tables of a new profile, encrypted if a key is given. The caller starts the transaction and commits it."""
    create_schema(connection)
    SqliteRows(connection, IDENTITIES).put(new_identities())
    SqliteRows(connection, HEAD).insert(NEW_HEAD)
    insert_profile(connection, key)
    connection.execute(f"PRAGMA user_version = {new_user_version()}")


def migrate(connection: sqlite3.Connection) -> None:
    """Run the missing migration steps, all or none. The caller starts the transaction and commits it."""
    for step in FIRST_FORMATS[version_of(connection) :]:
        for statement in step:
            connection.execute(statement)
    version = version_of(connection)
    if version < 5:
        _add_checksums(connection)
    else:
        if version < 9:
            _add_grants(connection)
        if version < 8:
            _add_records(connection)
        if version < 7:
            _add_identity_uuids(connection)
        if version == 6:
            _add_rule_counter(connection)
        elif version == 5:
            _add_counters(connection)
    (user_version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {user_version & ~FORMAT_MASK | FORMAT}")


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the tables of the current format, without rows."""
    for table in TABLES:
        _create(connection, table.name)


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
    for table, new in ((IDENTITIES, IDENTITIES_6), (TABS, TABS_7)):
        SqliteRows(connection, table).put(map(new.completed, _rows_of(connection, new.table)))
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
    head = _head_of(connection, HEAD_5)
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
    head = _head_of(connection, HEAD_6.table)
    connection.execute("DROP TABLE head")
    _create(connection, "head")
    SqliteRows(connection, HEAD).insert(HEAD_6.completed(head))


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
    _add_columns(connection, IDENTITIES, IDENTITIES_6)


def _add_records(connection: sqlite3.Connection) -> None:
    """From formats 5 to 7: history, bookmarks and recently closed tabs have tables, and tabs more columns."""
    for name in NEW_IN_8:
        _create(connection, name)
    _add_columns(connection, TABS, TABS_7)


def _add_grants(connection: sqlite3.Connection) -> None:
    """From formats 5 to 8: grants and the activity log have tables."""
    for name in NEW_IN_9:
        _create(connection, name)


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
            yield earlier.completed(values)


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
    SqliteRows(connection, HEAD).insert(HEAD_6.completed((*head, extension_data, position)))
    insert_profile(connection)


def insert_profile(connection: sqlite3.Connection, key: Key | None = None) -> None:
    """Insert the row of the table profile, with a new id."""
    SqliteRows(connection, PROFILE).insert(new_profile_row(key))


def _rows_of(connection: sqlite3.Connection, table: Table, *more: str) -> sqlite3.Cursor:
    """The rows of a table of an earlier format, and more columns of each."""
    columns = ", ".join(f'"{column}"' for column in (*table.columns, *more))
    return connection.cursor().execute(f"SELECT {columns} FROM earlier_{table.name}")
