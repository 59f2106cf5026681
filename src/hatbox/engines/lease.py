"""One profile has one engine at a time: who holds the lease makes its tabs so. The lease ends with its process.

A lock on a file beside the profile, so that it is free again however the process ends.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

import msgspec

from hatbox.errors import EngineBusy

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

_FAR = 2**20  # where no text is: a locked byte cannot be read by others on Windows


class Holder(msgspec.Struct, frozen=True):
    """Who holds the lease."""

    engine: str
    process: int


class Lease:
    """The right to make the tabs of a profile so."""

    def __init__(self, profile: Path) -> None:
        self._path = profile.with_name(f"{profile.name}-engine")
        self._file: IO[bytes] | None = None

    def take(self, engine: str) -> None:
        """Take the lease, or raise EngineBusy."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        file = os.fdopen(descriptor, "r+b")
        try:
            _lock(file)
        except OSError:
            file.close()
            holder = self.holder()
            raise EngineBusy(holder.engine if holder else "engine", holder.process if holder else None) from None
        file.seek(0)
        file.truncate()
        file.write(msgspec.json.encode(Holder(engine, os.getpid())))
        file.flush()
        self._file = file

    def holder(self) -> Holder | None:
        """Who holds the lease now; None if nobody does."""
        try:
            with self._path.open("r+b") as file:
                try:
                    _lock(file)
                except OSError:
                    file.seek(0)
                    return msgspec.json.decode(file.read(), type=Holder)
        except (FileNotFoundError, msgspec.DecodeError):
            pass
        return None

    def release(self) -> None:
        """Give the lease back. Twice is no error."""
        if self._file is not None:
            self._file.close()
            self._file = None
