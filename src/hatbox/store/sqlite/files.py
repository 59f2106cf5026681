"""The profile's file: found, made, looked at before it is opened, and opened. Also what SQLite's complaints mean.

Nothing here changes a file that is not a healthy profile of a version that we know.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import sqlite3
import stat
import time
from pathlib import Path
from typing import Final

from hatbox.errors import (
    NotAProfile,
    ProfileBusy,
    ProfileCorrupt,
    ProfileError,
    ProfileFull,
    ProfileReadOnly,
    ProfileTooNew,
)
from hatbox.store.sqlite.migrations import APPLICATION_ID, LATEST, migrate, version_of

__all__ = [
    "BUSY_SECONDS",
    "connect",
    "explained",
    "inode_of",
    "open_profile",
    "real_path",
    "refuse_newer",
    "refuse_replaced",
]

BUSY_SECONDS: Final = 30.0
_MAGIC: Final = b"SQLite format 3\x00"
_HEADER_SIZE: Final = 100
_LEAST_FREE_BYTES: Final = 128 * 1024  # with less, SQLite cannot even make its index of the journal
_DRAFTS: Final = ".hatbox-*.new*"
_HOUR: Final = 3600


def open_profile(path: Path) -> sqlite3.Connection:
    """A connection that may write, to the profile at `path`, which is made if nothing is there."""
    try:
        if not os.path.lexists(path):
            _create(path)
        _inspect(path)
        connection = connect(path)
        try:
            if refuse_newer(path, connection) < LATEST:
                connection.execute("BEGIN IMMEDIATE")
                migrate(connection)
                connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
    except (OSError, sqlite3.Error) as error:
        raise explained(path, error) from error
    return connection


def real_path(path: Path) -> Path:
    """Where the profile really is: SQLite's other files stand beside the file, not beside a link to it."""
    try:
        real = path.resolve()
        if path.is_symlink() and not real.exists():
            # Not made anew: what it points to may be on a disk that is not there just now.
            problem = f"it is a link to {real}, which is not there"
            raise ProfileError(path, problem, "Restore that file, or name another path.")
    except (OSError, RuntimeError, ValueError) as error:
        problem = f"its path cannot be followed ({getattr(error, 'strerror', None) or error})"
        raise ProfileError(path, problem, "Choose another path.") from error
    return real


def connect(path: Path, *, query_only: bool = False) -> sqlite3.Connection:
    """A connection to a profile that exists. A commit on it has reached the disk when it returns."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: without it fsync stops at the drive's cache
        connection.execute("PRAGMA cell_size_check = ON")
        if query_only:
            connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def inode_of(path: Path) -> tuple[int, int]:
    """What tells this file from every other, whatever their names."""
    status = os.stat(path)  # noqa: PTH116 - asked at every commit, and three times as fast as Path.stat()
    return status.st_dev, status.st_ino


def refuse_replaced(path: Path, inode: tuple[int, int]) -> None:
    """Raise if the open profile is no longer the file of this name: what is written to it would be lost."""
    try:
        if inode_of(path) == inode:
            return
    except OSError:
        pass
    raise ProfileError(
        path,
        "it has been deleted, moved or replaced while it was open",
        "Nothing was changed. Put it back, or close the profile and open it again.",
    )


def refuse_newer(path: Path, connection: sqlite3.Connection) -> int:
    """The version of an open profile; raises ProfileTooNew where a newer Hatbox has been at work, even just now."""
    version = version_of(connection)
    if version > LATEST:
        raise _too_new(path, version)
    return version


def explained(path: Path, error: OSError | sqlite3.Error) -> ProfileError:
    """The same failure in words for a person: which file, what is wrong, what to do."""
    if isinstance(error, OSError):
        return _explained_os(path, error)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_CORRUPT:
        return _corrupt(path, "is damaged")
    if code == sqlite3.SQLITE_NOTADB:
        return _corrupt(path, "is damaged: its header cannot be read")
    if code == sqlite3.SQLITE_FULL:
        return _full(path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return ProfileBusy(
            path,
            f"another program has kept it locked for {BUSY_SECONDS:.0f} seconds",
            "Nothing was changed. End that program, or wait for it, then try again.",
        )
    if code == sqlite3.SQLITE_IOERR and shutil.disk_usage(path.parent).free < _LEAST_FREE_BYTES:
        return _full(path)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return _read_only(path)
    return ProfileError(path, f"it cannot be used ({error})", "Nothing was changed. Check the disk, then try again.")


def _explained_os(path: Path, error: OSError) -> ProfileError:
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return _read_only(path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _full(path)
    return ProfileError(path, f"it cannot be used ({error.strerror})", "Nothing was changed. Choose another path.")


def _create(path: Path) -> None:
    """Make a whole profile beside `path`, then give it its name in one step: half a profile is never seen there."""
    _refuse_orphaned_journal(path)
    _make_folder(path.parent)
    _drop_old_drafts(path.parent)
    draft = path.with_name(f".hatbox-{os.getpid()}-{secrets.token_hex(4)}.new")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection = connect(draft)
        with contextlib.closing(connection):
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("BEGIN IMMEDIATE")
            migrate(connection)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
        _give_name(draft, path)
        _sync_folder(path.parent)
    finally:
        for leftover in (draft, *(_beside(draft, end) for end in ("-journal", "-wal", "-shm"))):
            leftover.unlink(missing_ok=True)


def _refuse_orphaned_journal(path: Path) -> None:
    """SQLite would replay a journal that has lost its profile into the new one, and mix the two."""
    for journal in (_beside(path, "-wal"), _beside(path, "-journal")):
        if os.path.lexists(journal):
            raise ProfileCorrupt(
                path,
                f"it is missing, but its journal {journal.name} is still there",
                "Nothing was changed. Put the profile back, or move the journal away to begin a new one.",
            )


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    _sync_folder(folder.parent)


def _drop_old_drafts(folder: Path) -> None:
    """What a process has left that was killed while it made a profile."""
    for draft in folder.glob(_DRAFTS):
        with contextlib.suppress(OSError):
            if time.time() - draft.stat().st_mtime > _HOUR:
                draft.unlink()


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _give_name(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)  # unlike a rename it never replaces anything
    except FileExistsError:
        pass  # another process was faster: its profile is as good as ours
    except OSError as error:
        raise ProfileError(
            path,
            f"this file system cannot hold a profile ({error.strerror} when linking)",
            "Choose a path on another disk.",
        ) from error


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _inspect(path: Path) -> None:
    """Refuse what is not a profile that we may use, from the file's bytes alone, before SQLite gets to touch it."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise _not_a_profile(path, "is not a file")
    header = _header(path)
    if not header:
        raise _not_a_profile(path, "is an empty file, not a Hatbox profile")
    if not header.startswith(_MAGIC):
        raise _not_a_profile(path, "is not a Hatbox profile")
    if len(header) == _HEADER_SIZE and _number(header, 68) != APPLICATION_ID:
        raise _not_a_profile(path, "is a database of another program, not a Hatbox profile")
    if len(header) < _HEADER_SIZE or _is_cut_short(path):
        raise _corrupt(path, "is damaged: it has been cut short")
    if _number(header, 60) > LATEST:
        raise _too_new(path, _number(header, 60))
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        raise _read_only(path)
    if _has_journal(path):  # the version may stand there only; a connection that cannot write leaves both files alone
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            refuse_newer(path, connection)


def _header(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEADER_SIZE)


def _has_journal(path: Path) -> bool:
    try:
        return _beside(path, "-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _is_cut_short(path: Path) -> bool:
    """Whether pages that the header counts are missing, with no journal that could hold them.

    Another process that is just folding its journal into the file can look like that for a moment.
    """
    for _ in range(3):
        if _has_journal(path):
            return False
        header = _header(path)
        if path.stat().st_size >= _page_size(header) * _number(header, 28):
            return False
        time.sleep(0.05)
    return True


def _number(header: bytes, offset: int) -> int:
    return int.from_bytes(header[offset : offset + 4], "big")


def _page_size(header: bytes) -> int:
    size = int.from_bytes(header[16:18], "big")
    return 65536 if size == 1 else size


def _not_a_profile(path: Path, problem: str) -> NotAProfile:
    return NotAProfile(path, f"it {problem}", "It was left as it is. Move it away, or name another path.")


def _too_new(path: Path, version: int) -> ProfileTooNew:
    return ProfileTooNew(
        path,
        f"a newer version of Hatbox has written it (format {version}; this one knows up to {LATEST})",
        "It was left as it is. Update Hatbox to use it.",
    )


def _corrupt(path: Path, problem: str) -> ProfileCorrupt:
    return ProfileCorrupt(
        path,
        f"it {problem}",
        f"It was left as it is. Restore it from a backup, or save what can be read with: sqlite3 '{path}' .recover",
    )


def _full(path: Path) -> ProfileFull:
    return ProfileFull(
        path, "there is no room left on the disk", "Nothing was changed. Free some space, then try again."
    )


def _read_only(path: Path) -> ProfileReadOnly:
    return ProfileReadOnly(
        path,
        "it cannot be written to",
        f"Nothing was changed. Make the file and the folder {path.parent} writable for you, or name another path.",
    )
