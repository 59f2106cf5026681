"""Saves the undamaged rows of a profile into a new profile. The damaged one is not changed."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, Final

from hatbox.errors import ProfileCorrupt, ProfileError
from hatbox.store.check_results import Repair
from hatbox.store.encryption import Cipher
from hatbox.store.keys import configured_key
from hatbox.store.record_tables import BookmarkRow
from hatbox.store.sqlite.check import alone_with, connect_to_read
from hatbox.store.sqlite.failures import in_use, not_a_profile, to_profile_error
from hatbox.store.sqlite.migrations import LAST_POSITION, count_tabs, create_schema, insert_profile, number_tabs
from hatbox.store.sqlite.nearest_files import is_profile
from hatbox.store.sqlite.profile_file import create_profile, real_path
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.sqlite.salvage import Salvage
from hatbox.store.sqlite.schema import new_user_version
from hatbox.store.sqlite.wal import damage_in
from hatbox.store.tables.bookmark_tree import as_tree
from hatbox.store.tables.identity_tables import new_uuid
from hatbox.store.tables.profile_row import cipher_of
from hatbox.store.tables.reencryption import has_key
from hatbox.store.tables.row_cipher import RowCipher
from hatbox.store.tables.schema import (
    BOOKMARKS,
    CHANGES,
    GRANTS,
    HEAD,
    HISTORY,
    IDENTITIES,
    PROFILE,
    RULES,
    SETTINGS,
    TAB_COUNTS,
    TABLES,
    TABS,
    WINDOWS,
    Table,
)
from hatbox.store.tables.undecryptable import delete_encrypted, delete_undecryptable

__all__ = ["repair"]

_GAP: Final = 1000  # ids to skip if it is unknown which were used
# The log starts empty, and tabs are counted again. Rows of earlier commits may be found: a grant could be valid again.
_NOT_SAVED: Final = (CHANGES, TAB_COUNTS, GRANTS)
_RESERVED_ID: Final = 5  # by Firefox, for internal use

# The columns of pages that repeat their visits: these may be lost, or of another commit. See history/visits.py.
_PAGES_OF_VISITS: Final = (
    "SELECT history.store, history.id, sum(visits.transition NOT IN ('manual_subframe', 'reload')), "
    "sum(visits.transition = 'typed'), max(visits.visited) "
    "FROM history JOIN visits ON visits.page = history.id AND visits.store = history.store "
    "GROUP BY history.store, history.id"
)
_SETTINGS_NAME: Final = "settings"  # of an identity, among its rows
# Readers of settings refuse this value, until the user sets or unsets it: no request goes out as if none had been set.
_LOST_SETTINGS: Final = b'{"proxy":"lost in a repair"}'


def repair(path: Path, into: Path) -> Repair:
    """Save every row with a valid checksum into a new profile at `into`. Never overwrites a file."""
    path, into = real_path(path), real_path(into)
    if os.path.lexists(into):
        raise ProfileError(into, "it exists", "Nothing was written. Name a file that does not exist.")
    try:
        with alone_with(path) as alone:
            if not alone:
                raise _not_alone(path)
            return _repair(path, into)
    except (OSError, sqlite3.Error) as error:
        raise to_profile_error(path, error) from error


def _not_alone(path: Path) -> ProfileError:
    if not is_profile(path):
        return not_a_profile(path, "is not a Hatbox profile")
    if not os.access(path.parent, os.W_OK):
        problem = f"other programs cannot be locked out: its folder {path.parent} cannot be written to"
        return ProfileError(path, problem, "Nothing was written. Copy the file to another folder, and repair the copy.")
    return in_use(path, "it can be repaired only while no program has it open")


def _repair(path: Path, into: Path) -> Repair:
    salvage = Salvage(path)
    replaced: dict[str, int] = {}
    saved: dict[str, int] = {}
    undecryptable: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    marked = 0

    def fill(connection: sqlite3.Connection) -> None:
        nonlocal marked
        create_schema(connection)
        connection.execute(f"PRAGMA user_version = {new_user_version()}")
        tables = {table.name: SqliteRows(connection, table) for table in TABLES}
        for table, row in salvage.rows():
            if table not in _NOT_SAVED:
                tables[table.name].put([row])
        saved.update((table.name, _count(connection, table)) for table in TABLES if table not in _NOT_SAVED)
        if not any(saved.values()):
            problem = "nothing in it can be saved: no row has a valid checksum"
            raise ProfileCorrupt(path, problem, "Nothing was written. Restore it from a backup.")
        replaced.update(_replace_lost_owners(connection))
        cipher = _cipher(path, connection)
        _repair_records(connection)
        undecryptable.update(_delete_undecryptable(path, connection, cipher))
        _count_tabs(connection)
        _raise_counters(connection)
        missing.update(_missing(path, connection))
        if undecryptable[SETTINGS.name] or missing[SETTINGS.name] or _may_have_lost_settings(path, connection):
            marked = _mark_lost_settings(connection, cipher, str(path))

    if not create_profile(into, fill):
        raise ProfileError(into, "it exists", "Nothing was written. Name a file that does not exist.")
    saved = {name: count - undecryptable[name] for name, count in saved.items()}
    lost = {name: max(salvage.damaged[name], missing[name] + replaced.get(name, 0)) for name in saved}
    return Repair(str(into), saved, lost, salvage.unreadable, replaced, dict(+undecryptable), marked)


def _cipher(path: Path, connection: sqlite3.Connection) -> Cipher | None:
    """The cipher of an encrypted profile, if its key is set."""
    rows = partial(SqliteRows, connection)
    key = configured_key() if _count(connection, PROFILE) else None
    return cipher_of(rows(PROFILE), key, str(path)) if key is not None and not has_key(rows, None) else None


def _delete_undecryptable(path: Path, connection: sqlite3.Connection, cipher: Cipher | None) -> Counter[str]:
    """Delete rows that another program has changed or moved, if the key is set; all encrypted ones without its id."""
    rows = partial(SqliteRows, connection)
    if not _count(connection, PROFILE):
        return delete_encrypted(rows)
    return Counter() if cipher is None else delete_undecryptable(rows, cipher, str(path))


def _count(connection: sqlite3.Connection, table: Table) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()
    return int(count)


def _replace_lost_owners(connection: sqlite3.Connection) -> dict[str, int]:
    """Cookies without their identity could not be reached, and tabs without their window could not be shown."""
    stores = connection.execute(
        "SELECT store FROM cookies UNION SELECT store FROM site_data UNION SELECT store FROM tabs "
        "UNION SELECT identity FROM settings UNION SELECT store FROM history UNION SELECT store FROM closed_tabs "
        "EXCEPT SELECT id FROM identities EXCEPT SELECT 0 ORDER BY 1"
    ).fetchall()
    (position,) = connection.execute("SELECT coalesce(max(position), 0) FROM identities").fetchone()
    for number, (store,) in enumerate(stores, start=1):
        row = (store, f"Recovered {store}", "circle", "toolbar", 0, position + number * 2**20, new_uuid())
        SqliteRows(connection, IDENTITIES).insert(row)
    windows = connection.execute("SELECT window FROM tabs EXCEPT SELECT id FROM windows").fetchall()
    for (window,) in windows:
        SqliteRows(connection, WINDOWS).insert((window, 0, "normal", "normal", "", None, None, None, None))
    return {"identities": len(stores), "windows": len(windows)}


def _raise_counters(connection: sqlite3.Connection) -> None:
    """Restore the counters, so that no id is reused even if the row of the table head is lost."""
    rows = SqliteRows(connection, HEAD)
    head = rows.get(1)
    values = dict(zip(HEAD.columns, head or (1, *[0] * (len(HEAD.columns) - 1)), strict=True))
    gap = 0 if head else _GAP
    for table in (IDENTITIES, WINDOWS, TABS, RULES):
        (highest,) = connection.execute(f"SELECT coalesce(max(id), 0) FROM {table.name}").fetchone()
        values[table.name] = max(values[table.name], highest + gap)
    (removed,) = connection.execute("SELECT coalesce(max(id), 0) FROM trash").fetchone()
    values["identities"] = max(values["identities"], removed, _RESERVED_ID)
    (sequence,) = connection.execute("SELECT coalesce(max(sequence), 0) FROM extension_data").fetchone()
    values["extension_data"] = max(values["extension_data"], sequence)
    (position,) = connection.execute(LAST_POSITION).fetchone()
    values["identity_position"] = max(values["identity_position"], position)
    rows.put([tuple(values.values())])
    if not _count(connection, PROFILE):
        insert_profile(connection)


def _count_tabs(connection: sqlite3.Connection) -> None:
    """Count the saved tabs. Rows of different commits can have one position: then all tabs get new ones."""
    same = connection.execute("SELECT 1 FROM tabs GROUP BY window, position HAVING count(*) > 1 LIMIT 1").fetchone()
    if same:
        number_tabs(connection)
    else:
        count_tabs(connection)


def _missing(path: Path, repaired: sqlite3.Connection) -> Counter[str]:
    """How many rows the indexes of the damaged profile still name that the new one does not have."""
    missing: Counter[str] = Counter()
    if damage_in(path):
        return missing
    with contextlib.closing(connect_to_read(path, alone=True)) as damaged:
        for table in TABLES:
            keys = ", ".join(table.key)
            found: set[Any] = set()
            for statement in _index_scans(repaired, table, keys):
                with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):  # it names as many as it can
                    for key in damaged.execute(statement):
                        found.add(key)
            missing[table.name] = len(found - set(repaired.execute(f"SELECT {keys} FROM {table.name}"))) if found else 0
    return missing


def _index_scans(connection: sqlite3.Connection, table: Table, keys: str) -> list[str]:
    """Statements that read the keys of a table from its indexes alone. Partial indexes do not have all keys."""
    listed = connection.execute(f"PRAGMA index_list({table.name})")
    indexes = [name for _, name, _, _, is_partial in listed if not is_partial]
    statements = [f"SELECT {keys} FROM {table.name} INDEXED BY {name}" for name in indexes]
    return [
        statement
        for statement in statements
        if "COVERING INDEX" in str(connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall())
    ]


def _repair_records(connection: sqlite3.Connection) -> None:
    """Count the visits of each page again, and let every bookmark be in a folder that exists."""
    connection.execute(
        "DELETE FROM visits WHERE NOT EXISTS "
        "(SELECT 1 FROM history WHERE history.id = visits.page AND history.store = visits.store)"
    )
    pages = SqliteRows(connection, HISTORY)
    for store, page, visits, typed, last_visit in connection.execute(_PAGES_OF_VISITS).fetchall():
        pages.update((store, page), {"visits": visits, "typed": typed, "last_visit": last_visit})
    bookmarks = SqliteRows(connection, BOOKMARKS)
    rows = [BookmarkRow._make(row) for row in bookmarks.find("ORDER BY id")]
    if rows:
        bookmarks.put(as_tree(rows, time.time()))


def _may_have_lost_settings(path: Path, repaired: sqlite3.Connection) -> bool:
    """Whether the damaged profile had settings that the new one does not have, or whether this is unknown."""
    if damage_in(path):
        return True
    try:
        with contextlib.closing(connect_to_read(path, alone=True)) as damaged:
            if not damaged.execute("SELECT 1 FROM sqlite_schema WHERE name = 'settings'").fetchone():
                return bool(damaged.execute("SELECT 1 FROM sqlite_schema WHERE name = 'trash'").fetchone())
            # All columns, so that SQLite reads the table itself, not an index of it.
            rows = {row[:2] for row in damaged.execute("SELECT identity, name, value, checksum FROM settings")}
    except (sqlite3.Error, UnicodeError):
        return True
    return bool(rows - set(repaired.execute("SELECT identity, name FROM settings")))


def _mark_lost_settings(repaired: sqlite3.Connection, cipher: Cipher | None, label: str) -> int:
    """Mark all identities without settings. Returns their number.

    Without the key of an encrypted profile, the mark is a value that cannot be decrypted, which is refused as well.
    """
    identities = repaired.execute(
        "SELECT id FROM identities WHERE id NOT IN (SELECT identity FROM settings WHERE name = ?)", (_SETTINGS_NAME,)
    ).fetchall()
    row_cipher = None if cipher is None else RowCipher(SETTINGS, cipher, label)
    for (identity,) in identities:
        row = (identity, _SETTINGS_NAME, _LOST_SETTINGS)
        SqliteRows(repaired, SETTINGS).insert(row if row_cipher is None else row_cipher.encrypted(row))
    return len(identities)
