"""Encrypts a profile, changes its key, or decrypts it. No other program may have it open.

All values are rewritten in one transaction: a process that is killed leaves a profile with the old or with the new key.
After that, VACUUM and a truncated WAL remove the bytes of the old values from the profile's files.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from functools import partial
from pathlib import Path

from hatbox.store.keys import Key
from hatbox.store.sqlite.check import alone_with
from hatbox.store.sqlite.failures import full, in_use, read_only, to_profile_error
from hatbox.store.sqlite.profile_file import begin_writing, connect_alone, real_path
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.tables.reencryption import has_key, old_values_remain, reencrypt

__all__ = ["change_key"]

_PURPOSE = "its encryption can be changed only while no program has it open"


def change_key(path: Path, old: Key | None, new: Key | None) -> int | None:
    """Replace the key of a profile; None is no encryption. Returns the number of values that were rewritten.

    Returns None if the profile has the new key already. Its free space is cleaned in that case too: the program that
    changed the key may have been killed before that. Raises WrongKey if `old` is not its key, and other ProfileErrors.
    Then nothing was changed.
    """
    path = real_path(path)
    try:
        with alone_with(path) as alone:
            if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
                raise read_only(path)
            if not alone:
                raise in_use(path, _PURPOSE)
            with contextlib.closing(connect_alone(path, _PURPOSE)) as connection:
                return _change_key(path, connection, old, new)
    except (OSError, sqlite3.Error) as error:
        raise to_profile_error(path, error) from error


def _change_key(path: Path, connection: sqlite3.Connection, old: Key | None, new: Key | None) -> int | None:
    rows = partial(SqliteRows, connection)
    count = None
    if not has_key(rows, new):
        pages, page_size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        needed = 4 * pages * page_size + 2**20  # the new values in the WAL, the rebuilt database twice, as for upgrades
        if shutil.disk_usage(path.parent).free < needed:
            raise full(path, needed)
        try:
            begin_writing(path, connection)
            count = reencrypt(rows, old, new, str(path))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    try:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.Error as error:
        raise old_values_remain(str(path), str(error)) from error
    return count
