"""Maps errors of SQLite and of the system to ProfileError: which file, what is wrong, what to do next."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from hatbox.errors import (
    DiskFull,
    NotAProfile,
    ProfileCorrupt,
    ProfileError,
    ProfileLocked,
    ProfileReadOnly,
    ProfileTooNew,
)
from hatbox.store.sqlite.schema import FORMAT

__all__ = [
    "BUSY_SECONDS",
    "busy",
    "corrupt",
    "forked",
    "full",
    "in_use",
    "may_be_read_error",
    "not_a_profile",
    "read_again",
    "read_only",
    "to_opening_error",
    "to_profile_error",
    "too_new",
    "under_another_name",
    "unreadable",
]

T = TypeVar("T")

BUSY_SECONDS: Final = 30.0
_MIN_FREE_BYTES: Final = 128 * 1024  # with less, SQLite cannot even create the index of its WAL
_NO_TEXT: Final = "Could not decode to UTF-8"  # sqlite3 gives this error no code


def to_profile_error(path: Path, error: OSError | sqlite3.Error) -> ProfileError:
    """Map an error to a ProfileError."""
    if isinstance(error, OSError):
        return _os_error(path, error)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_CORRUPT:
        detail = str(error)
        return corrupt(path, "is damaged" if "malformed" in detail else f"is damaged: {detail}")
    if code == sqlite3.SQLITE_NOTADB:
        return corrupt(path, "is damaged: its header cannot be read")
    if str(error).startswith(_NO_TEXT):
        return corrupt(path, "is damaged: a text in it is not valid UTF-8")
    if code == sqlite3.SQLITE_FULL:
        return full(path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return busy(path)
    if code == sqlite3.SQLITE_IOERR and _is_full(path.parent):
        return full(path)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return read_only(path)
    return ProfileError(path, f"it cannot be used ({error})", "Nothing was changed. Check the disk, then try again.")


def may_be_read_error(error: BaseException) -> bool:
    """Whether the disk may have failed to read a page: SQLite reports that as damage. A second try can succeed."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CORRUPT and "malformed" in str(error)


def read_again(read: Callable[[], T]) -> T:
    """The result of a function, which is called once more after an error that may be a read error of the disk."""
    try:
        return read()
    except sqlite3.Error as error:
        if not may_be_read_error(error):
            raise
    return read()


def to_opening_error(path: Path, error: OSError | sqlite3.Error) -> ProfileError:
    """Map an error of opening a file. One without the header of SQLite is no damaged profile, but no profile."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_NOTADB:
        return not_a_profile(path, "is not a Hatbox profile")
    return to_profile_error(path, error)


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _MIN_FREE_BYTES
    except OSError:  # it was deleted, or its disk is gone
        return False


def _os_error(path: Path, error: OSError) -> ProfileError:
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return read_only(path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full(path)
    if error.errno == errno.ENOLCK:
        advice = "Nothing was changed. Choose a path on a disk of this machine."
        return ProfileError(path, "its file system has no locks, as network file systems can be set up", advice)
    return ProfileError(path, f"it cannot be used ({error.strerror})", "Nothing was changed. Choose another path.")


def not_a_profile(path: Path, problem: str) -> NotAProfile:
    """The file is not a profile."""
    return NotAProfile(path, f"it {problem}", "It was left as it is. Name another path.")


def too_new(path: Path, version: int) -> ProfileTooNew:
    """A newer version of Hatbox has written the file."""
    return ProfileTooNew(
        path,
        f"a newer version of Hatbox has written it (format {version}; this one knows up to {FORMAT})",
        "It was left as it is. Update Hatbox to use it.",
    )


def corrupt(path: Path, problem: str) -> ProfileCorrupt:
    """The file is damaged."""
    return ProfileCorrupt(
        path,
        f"it {problem}",
        "It was left as it is. `hatbox check` lists the damage; restore the file from a backup, or save the undamaged "
        "rows with `hatbox check --repair NEW-FILE`.",
    )


def full(path: Path, needed: int = 0) -> DiskFull:
    """The disk is full, or has less room than an upgrade needs."""
    room = f" ({needed / 1_000_000:.0f} MB are needed)" if needed else ""
    return DiskFull(path, f"the disk is full{room}", "Nothing was changed. Free some space, then try again.")


def busy(path: Path) -> ProfileLocked:
    """Another process has an open write transaction for longer than the busy timeout."""
    from hatbox.store.sqlite import lock_holders  # for this message only: not each time a program starts

    writer = lock_holders.writer_of(path)
    process = f"another process, {lock_holders.describe(writer)}" if writer else "another process"
    return ProfileLocked(
        path,
        f"database is locked by {process} (waited {BUSY_SECONDS:.0f} s)",
        "Nothing was changed. Stop that process, or try again later.",
    )


def in_use(path: Path, purpose: str) -> ProfileLocked:
    """Other processes have the file open, and it is needed exclusively."""
    from hatbox.store.sqlite import lock_holders

    found = lock_holders.processes_with_open(path)
    others = ", ".join(lock_holders.describe(each) for each in found if each != os.getpid())
    programs = others or ("this program" if found else "another program")
    return ProfileLocked(
        path,
        f"{purpose}, and {programs} has it open",
        "Nothing was changed. End that program, then try again.",
    )


def under_another_name(path: Path) -> ProfileLocked:
    """The file is open under another name, such as that of a mounted file."""
    return in_use(path, "it can be open under one name at a time, by which it has its files")


def forked(path: Path) -> ProfileError:
    """SQLite cannot open in a child of a fork what its parent had open: the child relies on locks it does not have."""
    return ProfileError(
        path,
        "this process was forked from one that had it open",
        'Close it before the fork, or start the process without one (multiprocessing: the start method "spawn").',
    )


def read_only(path: Path) -> ProfileReadOnly:
    """The file, or its folder, cannot be written."""
    return ProfileReadOnly(
        path,
        "it cannot be written to",
        f"Nothing was changed. Make the file and the folder {path.parent} writable for you, or name another path.",
    )


def unreadable(path: Path) -> ProfileError:
    """The file cannot be read by this user."""
    return ProfileError(
        path, "it cannot be read (permission denied)", "Make the file readable for you, or name another path."
    )
