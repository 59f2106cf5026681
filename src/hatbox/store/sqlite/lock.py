"""The lock file beside a profile: open handles lock it shared, so an exclusive lock means that no handle is open.

SQLite's own locks cannot answer that question without opening the database, and on POSIX systems closing any
descriptor of the database drops every lock that the process holds on it. `flock` locks belong to the open file, not to
the process, so two handles in one process count as two. The file is removed by the last handle.

A fork copies SQLite's own list of open files, and its child would rely on locks that only the parent holds: the next
program that closes the profile would delete the WAL under the child. So a child cannot open what its parent had open.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Final

from hatbox.new_files import open_regular
from hatbox.store.sqlite.failures import forked, under_another_name

if sys.platform != "win32":
    import fcntl

__all__ = ["LockBusy", "ProfileLock"]

_SUPPORTED: Final = sys.platform != "win32"
_RETRY_SECONDS: Final = 0.01


class LockBusy(Exception):
    """Another process has locked it exclusively for longer than the timeout."""


class ProfileLock:
    """A lock on `<profile>-lock`. Shared while a handle is open, exclusive while a file is inspected or upgraded."""

    def __init__(self, profile: Path, timeout: float) -> None:
        """Acquire the lock: exclusively if no other handle is open, else shared. Raises LockBusy or OSError,
        and ProfileError if the profile is open here under another name, or was open in a parent at the fork."""
        self._inode = _inode_of(profile)
        if self._inode in _inherited:
            raise forked(profile)
        self._profile = profile
        self.path = profile.with_name(f"{profile.name}-lock")
        self.exclusive = not _SUPPORTED
        self._timeout = timeout
        self._descriptor = -1
        if _SUPPORTED:
            self._acquire()

    def share(self) -> bool:
        """Turn an exclusive lock into a shared one.

        False if the lock file was removed in between: the lock is a new one, which may be exclusive again.
        """
        if not self.exclusive:
            return True
        self.exclusive = False
        if not _SUPPORTED:
            return True
        self._wait_for_shared()
        if self._is_current():
            return True
        self._close()
        self._acquire()
        return False

    def become_exclusive(self) -> bool:
        """Try to lock exclusively. Only for a handle that has closed the database: on failure the lock is lost."""
        if self._descriptor < 0:
            return False
        self.exclusive = self._try(exclusive=True) and self._is_current()
        return self.exclusive

    def release(self) -> None:
        """Release the lock, and remove the file if no other handle is open. May be called twice."""
        if self._descriptor >= 0:
            if self.exclusive or self.become_exclusive():
                with contextlib.suppress(OSError):
                    self.path.unlink(missing_ok=True)
            self._close()
            self.exclusive = False

    def _acquire(self) -> None:
        deadline = time.monotonic() + self._timeout
        while not self._try_to_acquire():
            if time.monotonic() > deadline:
                raise LockBusy
            time.sleep(_RETRY_SECONDS)

    def _try_to_acquire(self) -> bool:
        with _acquiring:
            for lock in list(_open_locks):  # locks of SQLite do not show it within one process
                is_same = lock._descriptor >= 0 and _inode_of(lock._profile) == self._inode
                if is_same and lock._is_of_another_name(self.path):
                    raise under_another_name(self._profile)
            self._descriptor = self._open()
            self.exclusive = self._try(exclusive=True)
            if (self.exclusive or self._try(exclusive=False)) and self._is_current():
                _open_locks.add(self)
                return True
            self._close()
            return False

    def _open(self) -> int:
        try:
            return open_regular(self.path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            return open_regular(self.path, os.O_RDONLY)  # an existing file can be locked without write access

    def _wait_for_shared(self) -> None:
        deadline = time.monotonic() + self._timeout
        while not self._try(exclusive=False):
            if time.monotonic() > deadline:
                raise LockBusy
            time.sleep(_RETRY_SECONDS)

    def _try(self, *, exclusive: bool) -> bool:
        try:
            fcntl.flock(self._descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _is_of_another_name(self, path: Path) -> bool:
        return path != self.path and _inode_of(path) != _inode_of(self.path)

    def _is_current(self) -> bool:
        """Whether the locked file is still the one of this name: the last handle removes it."""
        try:
            found = self.path.stat()
        except OSError:
            return False
        locked = os.fstat(self._descriptor)
        return (found.st_dev, found.st_ino) == (locked.st_dev, locked.st_ino)

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _forget(self) -> None:
        """After a fork, close the descriptor in the child: the handle, and its lock, belong to the parent."""
        if self._descriptor >= 0:
            if inode := _inode_of(self._profile):
                _inherited.add(inode)
            self._close()


_acquiring: Final = threading.Lock()
_open_locks: weakref.WeakSet[ProfileLock] = weakref.WeakSet()
_inherited: set[tuple[int, int] | None] = set()  # the profiles that a parent of this process had open at the fork


def _inode_of(profile: Path) -> tuple[int, int] | None:
    try:
        status = profile.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _after_fork() -> None:
    _acquiring.release()
    for lock in list(_open_locks):
        lock._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_acquiring.acquire, after_in_parent=_acquiring.release, after_in_child=_after_fork)
