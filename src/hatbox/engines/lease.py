"""The lease of a profile: one engine at a time opens pages for its tabs. The lease ends with the process.

It is a lock on a file beside the profile, so the operating system releases it however the process ends. The file is
removed with the lease. A process that has opened the file just before that may lock a file that has no name any more,
so a lock counts only if the file is still the one beside the profile.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import weakref
from pathlib import Path
from typing import IO, Final

import msgspec

from hatbox.errors import EngineAlreadyRunning, EngineError

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


__all__ = ["Holder", "Lease"]

_FAR: Final = 2**20  # where no text is: a locked byte cannot be read by others on Windows
_ATTEMPTS: Final = 50  # who looks for the holder locks the file for an instant, and a new holder needs one to sign
_INSTANT: Final = 0.01


class Holder(msgspec.Struct, frozen=True):
    """Who holds the lease."""

    engine: str
    process: int


class Lease:
    """The right to make the tabs of a profile so."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._file: IO[bytes] | None = None

    def take(self, engine: str) -> None:
        """Take the lease, or raise EngineAlreadyRunning, which names the holder."""
        if self._file is not None:
            raise EngineAlreadyRunning(engine, os.getpid())
        for _ in range(_ATTEMPTS):
            if self._try_to_take(engine):
                return
            if holder := self.holder():
                raise EngineAlreadyRunning(holder.engine, holder.process)
            time.sleep(_INSTANT)
        raise EngineAlreadyRunning("unknown", None)

    def holder(self) -> Holder | None:
        """The holder of the lease; None if no process has it. Removes the file of a killed process."""
        try:
            with self._path().open("r+b") as file:
                try:
                    _lock(file)
                except OSError:
                    file.seek(0)
                    return msgspec.json.decode(file.read(), type=Holder)
                self._remove(file)
        except (OSError, msgspec.DecodeError):
            pass
        return None

    def release(self) -> None:
        """Give the lease back. Twice is no error."""
        if self._file is not None:
            self._file.truncate(0)
            self._remove(self._file)
            self._file = None

    def _try_to_take(self, engine: str) -> bool:
        try:
            file = os.fdopen(os.open(self._path(), os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        except OSError as error:
            raise EngineError(f"{self._path()}: cannot be written ({error.strerror}). An engine needs it.") from error
        try:
            _lock(file)
        except OSError:
            file.close()
            return False
        if not self._is_in_place(file):
            file.close()
            return False
        file.truncate(0)
        file.seek(0)
        file.write(msgspec.json.encode(Holder(engine, os.getpid())))
        file.flush()
        self._file = file
        _held.add(self)
        return True

    def _is_in_place(self, file: IO[bytes]) -> bool:
        """Whether a file is the one beside the profile, and was not removed after it was opened."""
        try:
            return os.path.samestat(os.fstat(file.fileno()), self._path().stat())
        except OSError:
            return False

    def _remove(self, file: IO[bytes]) -> None:
        """Close the file, which this process has locked, and remove it."""
        if sys.platform == "win32":  # only a file that no process has open can be removed
            file.close()
            with contextlib.suppress(OSError):
                self._path().unlink()
            return
        if self._is_in_place(file):
            with contextlib.suppress(OSError):
                self._path().unlink()
        file.close()

    def _path(self) -> Path:
        """Beside the profile itself, whichever links lead to it."""
        profile = self._profile.resolve()
        return profile.with_name(f"{profile.name}-engine")

    def _leave_behind(self) -> None:
        """After a fork the lease is the parent's alone: or a child that lives on would hold it for a dead parent."""
        if self._file is not None:
            self._file.close()
            self._file = None


_held: weakref.WeakSet[Lease] = weakref.WeakSet()


def _after_fork() -> None:
    for lease in list(_held):
        lease._leave_behind()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
