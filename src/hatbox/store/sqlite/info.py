"""Creates the file of a profile, and describes it. Never changes a file that exists."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from hatbox.store.keys import configured_key
from hatbox.store.profile_info import ProfileInfo
from hatbox.store.sqlite import lock_holders
from hatbox.store.sqlite.check import alone_with, connect_to_read
from hatbox.store.sqlite.failures import corrupt, not_a_profile, to_opening_error
from hatbox.store.sqlite.header import inspect, wal_size
from hatbox.store.sqlite.migrations import create_tables, has_tables_of
from hatbox.store.sqlite.nearest_files import not_found
from hatbox.store.sqlite.profile_file import check_schema_version, connect, create_profile, real_path, wait_until_named
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.sqlite.schema import APPLICATION_ID, FORMAT
from hatbox.store.sqlite.wal import damage_in
from hatbox.store.tables.summary import Summary, summarize

__all__ = ["create", "info"]

_NAME = "SQLite"


def create(path: Path) -> bool:
    """Create a profile with the rows of a new one. False if a profile with this name exists: it is not changed."""
    path = real_path(path)
    try:
        if not os.path.lexists(path) and create_profile(path, partial(create_tables, key=configured_key())):
            return True
    except (OSError, sqlite3.Error) as error:
        raise to_opening_error(path, error) from error
    info(path)  # raises if it is no profile
    return False


def info(path: Path) -> ProfileInfo:
    """Describe a profile. Raises ProfileError if no file has this name, or it is not a profile."""
    path = real_path(path)
    if not os.path.lexists(path):
        raise not_found(path)
    try:
        with alone_with(path) as alone:
            return _info(path, alone=alone)
    except (OSError, sqlite3.Error) as error:
        raise to_opening_error(path, error) from error


def _info(path: Path, *, alone: bool) -> ProfileInfo:
    if alone:
        alone = not wait_until_named(path, inspect(path)).in_use
        if damage := damage_in(path):
            raise corrupt(path, damage)
    programs = tuple(map(lock_holders.describe, lock_holders.processes_with_open(path)))
    with _opened(path, alone=alone) as connection:
        if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
            raise not_a_profile(path, "is a database of another program, not a Hatbox profile")
        version = check_schema_version(path, connection)
        if not has_tables_of(connection, version):
            raise corrupt(path, f"is damaged: its tables are not those of format {version}")
        summary = _summary(connection) if version == FORMAT else None
    return ProfileInfo(
        store=_NAME,
        label=str(path),
        place=f"the file {path}",
        format=version,
        uuid=summary.uuid if summary else None,
        rows=summary.rows if summary else {},
        extensions=summary.extensions if summary else 0,
        size=path.stat().st_size + wal_size(path),
        is_encrypted=summary is not None and summary.is_encrypted,
        programs=programs if programs or alone else None,
        last_change=summary.last_change if summary else None,
    )


@contextlib.contextmanager
def _opened(path: Path, *, alone: bool) -> Iterator[sqlite3.Connection]:
    """A connection for one transaction, which leaves no file behind."""
    index = path.with_name(f"{path.name}-shm")
    had_index = index.exists()
    connection = connect_to_read(path, alone=True) if alone else connect(path, read_only=True)
    try:
        with contextlib.closing(connection):
            connection.execute("BEGIN")
            yield connection
    finally:
        if alone and not had_index:
            index.unlink(missing_ok=True)


def _summary(connection: sqlite3.Connection) -> Summary:
    return summarize(partial(SqliteRows, connection))
