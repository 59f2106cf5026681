"""The profile's file: created, inspected, upgraded, opened and closed.

Never changes a file that is not an undamaged profile of a known format. While a handle of this process may
be open, the database and its WAL are opened by SQLite only: see lock.py.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from hatbox.errors import MissingExtra, ProfileCorrupt, ProfileError, ProfileReadOnly, WrongKey
from hatbox.new_files import new_file, sync_folder
from hatbox.store.encryption import Cipher
from hatbox.store.keys import Key
from hatbox.store.sqlite import failures
from hatbox.store.sqlite.background_check import note_check
from hatbox.store.sqlite.failures import (
    corrupt,
    full,
    in_use,
    not_a_profile,
    read_again,
    to_opening_error,
    too_new,
    under_another_name,
)
from hatbox.store.sqlite.header import Inspection, inspect, require_file, wal_size
from hatbox.store.sqlite.lock import LockBusy, ProfileLock
from hatbox.store.sqlite.migrations import create_tables, has_tables_of, migrate, version_of
from hatbox.store.sqlite.nearest_files import not_found
from hatbox.store.sqlite.rows import SqliteRows, corruption
from hatbox.store.sqlite.schema import APPLICATION_ID, FORMAT, next_log
from hatbox.store.sqlite.side_files import (
    OpenFiles,
    beside,
    check_before_open,
    check_folder,
    check_side_files,
    create_private,
    is_open_elsewhere,
)
from hatbox.store.tables.profile_row import cipher_of
from hatbox.store.tables.schema import PROFILE

__all__ = [
    "ProfileFile",
    "begin_writing",
    "check_schema_version",
    "connect",
    "connect_alone",
    "create_profile",
    "free_pages",
    "open_profile",
    "real_path",
    "wait_until_named",
]

_abandoned: Final[list[sqlite3.Connection]] = []
"""Connections to files that have lost their names. They end with the process."""

_UPGRADE_WAIT_SECONDS: Final = 3.0
_NAME_WAIT_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = 0.05
_INCREMENTAL: Final = 2  # PRAGMA auto_vacuum
_CHECKPOINTED_BYTES: Final = 1000 * 4096
"""From about this size on, each commit makes a checkpoint, after which the WAL starts again unless it is being read."""

_MODES: Final = 18  # the offset of the file format versions, to write and to read, in the header
_WAL_MODE: Final = b"\2\2"


class ProfileFile:
    """An open profile: the writing connection, and the lock of the handle."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        lock: ProfileLock | None,
        cipher: Cipher | None,
        *,
        read_only: bool,
        unclean: bool,
    ) -> None:
        self.path = path
        self.connection = connection
        self.cipher = cipher
        """None if the profile is not encrypted."""
        self.read_only = read_only
        self.unclean = unclean
        """Whether the last program that had it open ended without closing it."""
        self._lock = lock
        self.files = OpenFiles(path)
        """Its files. SQLite has opened them."""

    def begin(self, *, writes: bool) -> None:
        """Start a transaction. One that only reads does not wait for another process that writes.

        Raises ProfileError if another file was copied over the database: SQLite would write pages of both.
        """
        if writes and not self.read_only:
            begin_writing(self.path, self.connection, self._check_content)
        else:
            self.connection.execute("BEGIN")
            check_schema_version(self.path, self.connection)

    def truncate_log(self) -> bool:
        """Write the WAL into the database and empty it; False if a reader prevents that it is emptied."""
        blocked, frames, copied = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if blocked and frames == copied:  # after the reader ends, any process may start it again
            begin_writing(self.path, self.connection, is_copied=True)
            self.connection.execute("COMMIT")
        return not blocked

    def _check_content(self) -> None:
        self.files.check()
        with contextlib.closing(_connect(self.path, "ro")) as reader:  # it has no pages in memory, nor in a WAL
            if _user_version(self.connection) != _user_version(reader):
                raise self.files.replaced(self.path)

    def close(self, *, damaged: bool = False) -> None:
        """Close it. If it is damaged, its files stay as they are; else the last handle empties the change log."""
        try:
            if self._is_replaced():
                _abandoned.append(self.connection)  # closing it would delete the WAL of another program, by its name
            elif damaged:
                _close_untouched(self.path, self.connection)
            else:
                self._close()
        finally:
            if self._lock:
                self._lock.release()

    def _is_replaced(self) -> bool:
        """Whether a file has lost its name, and another program may go on with another one."""
        lost = self.files.lost()
        return lost is not None and (lost.exists() or not (self._lock and self._lock.become_exclusive()))

    def _close(self) -> None:
        written = self.connection.total_changes > 0
        with contextlib.suppress(sqlite3.Error):  # closing must not fail; the next handle empties the log
            written = not self.read_only and (written or _has_log(self.connection))
        self.connection.close()
        if written and self._lock and self._lock.become_exclusive():
            with contextlib.suppress(OSError, sqlite3.Error, ProfileError):
                self.files.check_database()
                _empty_log(self.path)
                from hatbox.store.sqlite.unallocated_space import (
                    clear_unallocated_space,
                )  # at the end only: not while a program starts

                clear_unallocated_space(self.path)


def open_profile(path: Path, key: Key | None = None, *, create: bool = True) -> ProfileFile:
    """Open the profile at `path`, created if it does not exist. Without write access it is opened read-only.

    Raises WrongKey, and ProfileNotFound without `create`, and then changes nothing.
    """
    try:
        if not os.path.lexists(path):
            if not create:
                raise not_found(path)
            create_profile(path, create_tables if key is None else partial(create_tables, key=key))
        require_file(path)
        check_before_open(path)
        read_only = not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        lock = _lock(path, read_only=read_only)
        try:
            return read_again(partial(_open, path, lock, key, read_only=read_only))
        except BaseException:
            if lock:
                lock.release()
            raise
    except (OSError, sqlite3.Error) as error:
        raise to_opening_error(path, error) from error


def _lock(path: Path, *, read_only: bool) -> ProfileLock | None:
    try:
        return ProfileLock(path, failures.BUSY_SECONDS)
    except LockBusy as error:
        raise in_use(path, "it is being checked or upgraded") from error
    except OSError:
        if read_only:  # the folder has no lock file, and none can be created
            return None
        raise


def _open(path: Path, lock: ProfileLock | None, key: Key | None, *, read_only: bool) -> ProfileFile:
    unclean = False
    while lock and lock.exclusive:
        found = inspect(path)
        if found.in_use and not read_only:
            found = wait_until_named(path, found)
        unclean = not found.in_use and wal_size(path) > 0
        if wal_size(path) and (damage := _damage_in_wal(path)):
            raise corrupt(path, damage)
        if found.version < FORMAT and not read_only:
            _upgrade(path)
        if not read_only:
            create_private(path)
        try:
            if lock.share():
                break
        except LockBusy as error:
            raise in_use(path, "it is being checked or upgraded") from error
    connection = connect(path, read_only=read_only)
    try:
        _verify(path, connection, read_only=read_only)
        check_side_files(path)  # again: another user may have made one just before SQLite opened it
        cipher = cipher_of(SqliteRows(connection, PROFILE), key, str(path))
    except BaseException as error:
        if isinstance(error, (WrongKey, MissingExtra)) and not wal_size(path):
            connection.close()  # which removes the files that SQLite has just created
        else:
            _close_untouched(path, connection)
        raise
    return ProfileFile(path, connection, lock, cipher, read_only=read_only, unclean=unclean)


def wait_until_named(path: Path, found: Inspection) -> Inspection:
    """Refuse a database that is open under another name. One that is being read just now may lose its WAL meanwhile.

    Without write access, that it is in use is only assumed.
    """
    deadline = time.monotonic() + _NAME_WAIT_SECONDS
    while found.in_use and os.access(path, os.W_OK) and is_open_elsewhere(path):
        if time.monotonic() > deadline:
            raise under_another_name(path)
        time.sleep(_RETRY_SECONDS)
        found = inspect(path)
    return found


def connect_alone(path: Path, purpose: str) -> sqlite3.Connection:
    """A connection to a profile of the current format, which it is upgraded to. No other one can be opened meanwhile.

    Only for a caller that has the exclusive lock. Raises ProfileLocked, with `purpose`, if a program that does not know
    the lock has the profile open.
    """
    found = inspect(path)
    if found.in_use:
        raise in_use(path, purpose)
    if wal_size(path) and (damage := _damage_in_wal(path)):
        raise corrupt(path, damage)
    if found.version < FORMAT:
        _upgrade(path)
    connection = connect(path)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        _verify(path, connection, read_only=False)
        check_side_files(path)
    except BaseException:
        _close_untouched(path, connection)
        raise
    return connection


def _damage_in_wal(path: Path) -> str | None:
    from hatbox.store.sqlite.wal import damage_in  # after an unclean end only: not each time a program starts

    return damage_in(path)


def real_path(path: Path) -> Path:
    """The path with links resolved: SQLite's other files are beside the file, not beside a link to it."""
    try:
        real = path.resolve()
        if path.is_symlink() and not real.exists():
            # Do not create it: the link may lead to a disk that is not mounted.
            problem = f"symbolic link target does not exist: {real}"
            raise ProfileError(path, problem, "Restore that file, or name another path.")
    except (OSError, RuntimeError, ValueError) as error:
        problem = f"cannot resolve the path ({getattr(error, 'strerror', None) or error})"
        raise ProfileError(path, problem, "Choose another path.") from error
    return real


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection to an existing profile. Its commits are durable when they return.

    Closing one that is read-only never writes the WAL into the database.
    """
    mode = "rw"
    if read_only:
        mode = "ro"
        if not wal_size(path) and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            mode = "ro&immutable=1"  # SQLite cannot create a WAL here, and needs none to read a closed profile
    connection = _connect(path, mode)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: without it fsync stops at the drive's cache
        connection.execute("PRAGMA journal_size_limit = 0")  # a WAL that was started again has no older frames
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA secure_delete = ON")  # whatever the default of this build of SQLite is
    except UnicodeDecodeError as error:  # from SQLite's error message, which quotes a damaged schema
        _close_untouched(path, connection)
        raise corruption("its tables cannot be read") from error
    except BaseException:
        _close_untouched(path, connection)
        raise
    return connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=failures.BUSY_SECONDS)


def check_schema_version(path: Path, connection: sqlite3.Connection) -> int:
    """The format of an open profile; raises ProfileTooNew where a newer Hatbox has upgraded it, even just now."""
    version = version_of(connection)
    if version > FORMAT:
        raise too_new(path, version)
    return version


def begin_writing(
    path: Path, connection: sqlite3.Connection, check: Callable[[], None] = lambda: None, *, is_copied: bool = False
) -> None:
    """Start a transaction that writes; all of them start here. The caller ends it, also after an error.

    Gives the WAL its number, see wal.py, if it is empty, which calls `check` before, or if SQLite may start it again:
    it is large, or `is_copied`. Raises ProfileTooNew as `check_schema_version` does.
    """
    connection.execute("BEGIN IMMEDIATE")
    check_schema_version(path, connection)
    size = wal_size(path)
    if not size:
        check()
    if is_copied or not 0 < size < _CHECKPOINTED_BYTES:
        connection.execute(f"PRAGMA user_version = {next_log(_user_version(connection))}")


def free_pages(connection: sqlite3.Connection) -> bool:
    """Return the free pages of the database to the disk, in the transaction; False if it has none."""
    count: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    for _ in range(count):
        connection.execute("PRAGMA incremental_vacuum")  # returns one page; executescript() would commit before
    return count > 0


def _user_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _verify(path: Path, connection: sqlite3.Connection, *, read_only: bool) -> None:
    """Refuse a database that is not a profile of the current format."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        raise not_a_profile(path, "is a database of another program, not a Hatbox profile")
    version = check_schema_version(path, connection)
    if version < FORMAT:
        if read_only:
            problem = f"it has the earlier format {version}, and cannot be written to"
            raise ProfileReadOnly(path, problem, "Nothing was changed. Open it once with write access to upgrade it.")
        raise in_use(path, f"it has to be upgraded from format {version} to {FORMAT}")
    if not read_only and connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        raise corrupt(path, "is damaged: it is not in WAL mode")
    if not has_tables_of(connection, FORMAT):
        raise corrupt(path, "is damaged: its tables are not those of a profile")


def _close_untouched(path: Path, connection: sqlite3.Connection) -> None:
    """Close a connection without a checkpoint, which SQLite makes when the last one of a database is closed.

    A connection that cannot write is closed after it, and so is the last one.
    """
    try:
        guard = _connect(path, "ro")
    except sqlite3.Error:
        connection.close()
        return
    with contextlib.closing(guard):
        # Only now does it have the WAL open, also if the schema is damaged.
        with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
            guard.execute("SELECT 1 FROM sqlite_schema").fetchone()
        connection.close()


# ------------------------------------------------------------------------------------------------------------ upgrading


def _upgrade(path: Path) -> None:
    """Upgrade a profile to the current format. The caller has the lock, which earlier versions do not use."""
    with contextlib.closing(connect(path, read_only=True)) as connection:
        version = check_schema_version(path, connection)
        if version == FORMAT:  # the upgrade is still in the WAL
            return
        if not has_tables_of(connection, version):
            raise corrupt(path, f"is damaged: its tables are not those of format {version}")
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise corrupt(path, "is damaged")
        pages, page_size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    _wait_until_unused(path, version)
    needed = 4 * pages * page_size + 2**20  # the rebuilt database, once as a temporary file and twice in the WAL
    if shutil.disk_usage(path.parent).free < needed:
        raise full(path, needed)
    with contextlib.closing(connect(path)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                raise in_use(path, f"it has to be upgraded from format {version} to {FORMAT}") from error
            raise
        if connection.execute("PRAGMA auto_vacuum").fetchone() != (_INCREMENTAL,):
            # auto_vacuum takes effect with VACUUM, which also removes data that earlier versions left in free pages.
            connection.execute(f"PRAGMA auto_vacuum = {_INCREMENTAL}")
            connection.execute("VACUUM")
        connection.execute("BEGIN IMMEDIATE")
        migrate(connection)
        connection.execute("COMMIT")
        connection.executescript("PRAGMA incremental_vacuum")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _wait_until_unused(path: Path, version: int) -> None:
    deadline = time.monotonic() + _UPGRADE_WAIT_SECONDS
    while inspect(path).in_use:
        if time.monotonic() > deadline:
            raise in_use(path, f"it has to be upgraded from format {version} to {FORMAT}")
        time.sleep(_RETRY_SECONDS)


def _has_log(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM changes LIMIT 1").fetchone() is not None


def _empty_log(path: Path) -> None:
    """Empty the change log. The caller has the exclusive lock: no subscriber is left."""
    connection = connect(path)
    try:
        begin_writing(path, connection)
        check_side_files(path)
        connection.execute("DELETE FROM changes")
        free_pages(connection)
        connection.execute("COMMIT")
    except BaseException:
        _close_untouched(path, connection)
        raise
    connection.close()


# ------------------------------------------------------------------------------------------------------------- creating


def create_profile(path: Path, fill: Callable[[sqlite3.Connection], None]) -> bool:
    """Create a profile, which gets its name when it is complete.

    `fill` creates its tables. False if a file with this name exists by then: it is never replaced.
    """
    from hatbox.store.sqlite.unnamed_database import unnamed_database  # seldom: not each time a program starts

    _refuse_orphaned_journal(path)
    _make_folder(path)
    check_folder(path)
    with unnamed_database(path.parent) as (connection, draft):
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"PRAGMA auto_vacuum = {_INCREMENTAL}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("BEGIN IMMEDIATE")
        fill(connection)
        connection.execute("COMMIT")
        try:
            with new_file(path, overwrite=False, needs_links=True) as file:
                shutil.copyfileobj(draft, file)
                file.seek(_MODES)
                file.write(_WAL_MODE)
                file.flush()
                note_check(file.fileno(), time.time())  # it has no damage: the first check is due in a week
        except FileExistsError:
            return False  # another process was first: use its profile
    return True


def _refuse_orphaned_journal(path: Path) -> None:
    """SQLite would replay a journal that has lost its profile into the new one, and mix the two."""
    for journal in (beside(path, "-wal"), beside(path, "-journal")):
        # In this order: a process that has just created the profile creates its journal after it.
        if os.path.lexists(journal) and not os.path.lexists(path):
            raise ProfileCorrupt(
                path,
                f"it is missing, but its journal {journal.name} is still there",
                "Nothing was changed. Put the profile back, or move the journal away to create a new one.",
            )


def _make_folder(path: Path) -> None:
    missing = [folder for folder in path.parents if not folder.is_dir()]
    try:
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
            sync_folder(folder.parent)
    except PermissionError as error:
        raise ProfileReadOnly(
            path,
            f"its folder {path.parent} does not exist, and cannot be created in {folder.parent}",
            "Nothing was changed. Create the folder, or name another path.",
        ) from error
