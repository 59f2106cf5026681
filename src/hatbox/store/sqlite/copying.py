"""Copies: reads all rows of a file, or fills a new one. A file that is filled is complete or as it was before."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from hatbox.errors import ProfileCorrupt, ProfileError
from hatbox.store.encryption import Cipher
from hatbox.store.keys import Key, configured_key
from hatbox.store.profile_copy import CopyProgress, CopyResult, CopySource, ProfileDump
from hatbox.store.sqlite.failures import read_only, to_profile_error
from hatbox.store.sqlite.info import info
from hatbox.store.sqlite.migrations import create_tables
from hatbox.store.sqlite.nearest_files import not_found
from hatbox.store.sqlite.processes import SqliteProcesses
from hatbox.store.sqlite.profile_file import create_profile, open_profile, real_path
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.sqlite.schema import FORMAT
from hatbox.store.sqlite.transaction import SqliteTransaction
from hatbox.store.tables.dump import dump
from hatbox.store.tables.encrypted_rows import rows_with_cipher
from hatbox.store.tables.fill import fill, require_fillable
from hatbox.store.tables.profile_row import cipher_of
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import PROFILE, Table

__all__ = ["fill_file", "opened_dump"]


@contextlib.contextmanager
def opened_dump(path: Path, key: Key | None = None) -> Iterator[ProfileDump]:
    """The rows of a profile, as of one commit. A profile of an earlier format is upgraded first, as by any program.

    `key` is that of an encrypted profile. Default: the key that is set.
    """
    path = real_path(path)
    if not os.path.lexists(path):
        raise not_found(path)
    file = open_profile(path, _key_of(path, key))
    is_damaged = False
    try:
        with _mapped_errors(path):
            file.connection.execute("BEGIN")
            found = dump(str(path), _rows(path, file.connection, file.cipher))
        # Errors of the target are raised in the body, so they must not be mapped here.
        yield found._replace(batches=_mapped_batches(path, found))
    except ProfileCorrupt as error:
        is_damaged = error.label == str(path)
        raise
    finally:
        file.close(damaged=is_damaged)


def _mapped_batches(path: Path, found: ProfileDump) -> Iterator[tuple[Table, list[tuple[Any, ...]]]]:
    while True:
        with _mapped_errors(path):
            batch = next(found.batches, None)
        if batch is None:
            return
        yield batch


@contextlib.contextmanager
def _mapped_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise to_profile_error(path, error) from error


def fill_file(
    path: Path, source: CopySource, *, plain: bool, progress: CopyProgress, key: Key | None = None
) -> CopyResult:
    """Write the rows of `source` into a new file, or into a profile that is unchanged since it was created."""
    path = real_path(path)
    with _mapped_errors(path):
        if os.path.lexists(path):
            return _fill_existing(path, source, key, plain=plain, progress=progress)
        return _fill_new(path, source, key, plain=plain, progress=progress)


def _fill_new(path: Path, source: CopySource, given: Key | None, *, plain: bool, progress: CopyProgress) -> CopyResult:
    with source.open() as found:

        def fill_draft(connection: sqlite3.Connection) -> None:
            # Without a key it is refused by fill() if the source is encrypted.
            key = None if plain else given or configured_key()
            create_tables(connection, key)
            cipher = cipher_of(SqliteRows(connection, PROFILE), key, str(path))
            _fill(path, connection, cipher, found, plain=plain, progress=progress)
            connection.execute("DELETE FROM changes")  # no program has it open

        if not create_profile(path, fill_draft):
            problem = "another program has created it in the meantime"
            raise ProfileError(path, problem, "Nothing was copied. Choose another path.")
        return CopyResult(found.label, str(path), True, found.rows)


def _fill_existing(
    path: Path, source: CopySource, key: Key | None, *, plain: bool, progress: CopyProgress
) -> CopyResult:
    if (version := info(path).format) != FORMAT:
        problem = f"it has the earlier format {version}, so it is not a new profile"
        raise ProfileError(path, problem, "Nothing was copied. Name a profile that is new or does not exist.")
    file = open_profile(path, _key_of(path, key))
    try:
        if file.read_only:
            raise read_only(path)
        connection = file.connection
        try:
            file.begin(writes=True)
            require_fillable(str(path), partial(SqliteRows, connection), source)
            with source.open() as found:
                _fill(path, connection, file.cipher, found, plain=plain, progress=progress)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return CopyResult(found.label, str(path), False, found.rows)
    finally:
        file.close()


def _key_of(path: Path, key: Key | None) -> Key | None:
    """This key, or the one that is set, if the profile is encrypted: only one of source and target may be."""
    return (key or configured_key()) if info(path).is_encrypted else None


def _rows(path: Path, connection: sqlite3.Connection, cipher: Cipher | None) -> Callable[[Table], Rows]:
    return rows_with_cipher(partial(SqliteRows, connection), cipher, str(path))


def _fill(
    path: Path,
    connection: sqlite3.Connection,
    cipher: Cipher | None,
    found: ProfileDump,
    *,
    plain: bool,
    progress: CopyProgress,
) -> None:
    rows = _rows(path, connection, cipher)
    log = SqliteTransaction(connection, SqliteProcesses(path), cipher=cipher, label=str(path)).changes
    fill(str(path), rows, log.insert, found, plain=plain, progress=progress)
