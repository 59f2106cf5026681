"""The files beside a database: the WAL and its index, which SQLite opens by name, and the lock of the profile.

SQLite trusts them. A WAL that another user has prepared would be read, and written with the logins in it. And they hang
on the name: a database that two programs open under two names has two WALs, and each loses what the other commits.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hatbox.errors import ProfileError
from hatbox.new_files import DRAFT_PATTERN

__all__ = [
    "OpenFiles",
    "beside",
    "check_before_open",
    "check_folder",
    "check_side_files",
    "create_private",
    "is_open_elsewhere",
]

_ENDS: Final = ("-wal", "-shm", "-journal", "-lock")
_SHARED_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_NO_SHELLS: Final = ("nologin", "false", "sync", "halt", "shutdown")


def beside(path: Path, end: str) -> Path:
    """The file of this kind of a database."""
    return path.with_name(path.name + end)


def check_before_open(path: Path) -> None:
    """Raise ProfileError if the database has another name, or if others could have made what SQLite opens with it."""
    status = path.stat()
    if status.st_nlink > 1:
        _drop_drafts(path, status)
        status = path.stat()
    if status.st_nlink > 1:
        problem = f"its file has {status.st_nlink} names (hard links)"
        advice = "Opened under two names, a profile loses logins. Delete the other name, or replace it by a copy."
        raise ProfileError(path, problem, f"Nothing was changed. {advice}")
    check_folder(path, status)
    check_side_files(path)


def check_folder(path: Path, database: os.stat_result | None = None) -> None:
    """Raise ProfileError for a folder in which others can replace files, as SSH does. Before a profile is created, too.

    Root may use folders of all users and groups.
    """
    if not hasattr(os, "getuid"):
        return
    folder, user = path.parent, os.getuid()
    status = folder.stat()
    trusted = {0, user, database.st_uid if database else user}
    who = ""
    if user and status.st_uid not in trusted:
        who, advice = "another user, its owner,", "Use a folder of your own."
        advice += f"\nIn a container: run it as the user {status.st_uid}, or give the folder to the user {user}."
    elif not status.st_mode & stat.S_ISVTX:
        is_shared = database and database.st_mode & stat.S_IWGRP and database.st_gid == status.st_gid
        matters = user and status.st_mode & stat.S_IWGRP and not is_shared
        if status.st_mode & stat.S_IWOTH:
            who, advice = "all users of this machine", f"Run: chmod o-w {folder}\nOr use a folder of your own in it."
        elif matters and (group := _group_of_others(status.st_gid, trusted)):
            who, advice = f"users of the group {group}", f"Run: chmod g-w {folder}\nOr use a folder of your own in it."
    if who:
        raise ProfileError(path, f"{who} can replace files in its folder {folder}", f"Nothing was changed. {advice}")


def _group_of_others(number: int, trusted: set[int]) -> str | None:
    """The name of a group that has other users than these; None for a private or an unknown one."""
    import grp
    import pwd

    try:
        group = grp.getgrgid(number)
    except KeyError:  # as in a container
        return None
    for name in group.gr_mem:
        try:
            if pwd.getpwnam(name).pw_uid not in trusted:
                return group.gr_name
        except KeyError:
            return group.gr_name
    with contextlib.suppress(KeyError):
        namesake = pwd.getpwnam(group.gr_name)
        if namesake.pw_uid in trusted and namesake.pw_gid == number:
            return None  # a private group, as that of root: to list all users takes long with LDAP
    others = (each for each in pwd.getpwall() if each.pw_gid == number and each.pw_uid not in trusted)
    # System accounts without a login may be in a group of users.
    is_used = any(each.pw_name == group.gr_name or Path(each.pw_shell).name not in _NO_SHELLS for each in others)
    return group.gr_name if is_used else None


def check_side_files(path: Path) -> None:
    """Raise ProfileError if others could have made a file beside the database. Before SQLite writes, and after it has
    opened them."""
    status = path.stat()
    if not hasattr(os, "getuid") or status.st_mode & _SHARED_WRITE:
        return  # others may change the database itself
    for end in _ENDS:
        _check_owner(path, beside(path, end), status)


def _check_owner(path: Path, side: Path, database: os.stat_result) -> None:
    try:
        found = side.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or found.st_uid not in (database.st_uid, os.getuid(), 0):
        problem = f"{side.name} beside it is not a file of its owner"
        advice = "Another user of this machine may have made it, to read or to change the profile."
        raise ProfileError(path, problem, f"Nothing was changed. {advice} Move it away, then try again.")
    if found.st_mode & _OTHERS & ~database.st_mode and found.st_uid == os.getuid():
        side.chmod(stat.S_IMODE(database.st_mode))


def _drop_drafts(path: Path, status: os.stat_result) -> None:
    """Remove the name with which a new profile was created. Its process does so too, unless it was killed."""
    for draft in path.parent.glob(DRAFT_PATTERN):
        with contextlib.suppress(OSError):
            if os.path.samestat(draft.stat(), status):
                draft.unlink()


def is_open_elsewhere(path: Path) -> bool:
    """Whether a database that SQLite has open has none of its files here: it is open under another name.

    Such as that of a mounted file. The caller knows that no program of ours has it open by this name.
    """
    return not any(beside(path, end).exists() for end in ("-wal", "-shm"))


def create_private(path: Path) -> None:
    """Create the WAL and its index, empty, before SQLite does, if others can create files in the folder."""
    if hasattr(os, "getuid") and path.parent.stat().st_mode & _SHARED_WRITE:
        mode = stat.S_IMODE(path.stat().st_mode)
        for end in ("-wal", "-shm"):
            with contextlib.suppress(FileExistsError):
                os.close(os.open(beside(path, end), os.O_CREAT | os.O_EXCL | os.O_RDWR, mode))


class OpenFiles:
    """The files of an open profile, by device and inode: SQLite goes on with them when they have lost their names."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inodes = dict(self._found())

    def check(self) -> None:
        """Raise ProfileError if a file has no longer its name: what is written to it would be lost."""
        if lost := self.lost():
            raise self.replaced(lost)

    def check_database(self) -> None:
        """As `check`, for a database that is closed: SQLite has deleted the other files."""
        if (lost := self.lost()) == self._path:
            raise self.replaced(lost)

    def lost(self) -> Path | None:
        """The first file that has no longer its name."""
        found = dict(self._found())
        return next((each for each, inode in self._inodes.items() if found.get(each) != inode), None)

    def _found(self) -> Iterator[tuple[Path, tuple[int, int]]]:
        for each in (self._path, beside(self._path, "-wal"), beside(self._path, "-shm")):
            with contextlib.suppress(OSError):
                status = os.stat(each)  # noqa: PTH116 - called often, and three times as fast as Path.stat()
                yield each, (status.st_dev, status.st_ino)

    def replaced(self, lost: Path) -> ProfileError:
        """The error if one of the files was replaced."""
        name = "it" if lost == self._path else f"its file {lost.name}"
        problem = f"{name} was deleted, moved or replaced while it was open"
        return ProfileError(
            self._path, problem, "Nothing was changed. Put it back, or close the profile and open it again."
        )
