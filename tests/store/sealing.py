"""Edit a profile's file behind Hatbox's back, as another program would, with checksums that are right afterwards."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from hatbox.store.sqlite.rows import checksum_of
from hatbox.store.tables.schema import TABLES
from tests.postgres import sqlite_file


@contextlib.contextmanager
def edited(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection in a transaction; at its end every row gets its checksum and all is committed."""
    with contextlib.closing(sqlite3.connect(sqlite_file(path), isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        seal(connection)
        connection.execute("COMMIT")


def seal(connection: sqlite3.Connection) -> None:
    """Give every row the checksum of its values."""
    for table in TABLES:
        columns = ", ".join(f'"{column}"' for column in table.columns)
        by_key = " AND ".join(f"{column} = ?" for column in table.key)
        places = [table.columns.index(column) for column in table.key]
        for row in connection.execute(f"SELECT {columns} FROM {table.name}").fetchall():
            values = (checksum_of(table, row), *(row[place] for place in places))
            connection.execute(f"UPDATE {table.name} SET checksum = ? WHERE {by_key}", values)
