"""A lease as a locked file beside the profile. The operating system releases the lock however the process ends.

The file is removed with the lease. A process that opened the file just before that may lock a file without a name, so
a lock counts only if the file is still the one beside the profile.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final, Literal

import msgspec

from hatbox.errors import ProfileReadOnly
from hatbox.new_files import open_regular
from hatbox.store.lease import Lease, LeaseHolder
from hatbox.store.processes import ProcessId, current_process, host_id, start_time

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        file.seek(_LOCKED_BYTE)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    _lock_shared = _lock  # msvcrt has no shared locks
else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _lock_shared(file: IO[bytes]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)


__all__ = ["FileLease"]

_LOCKED_BYTE: Final = 2**20  # beyond the text: on Windows other processes cannot read a locked byte
_ATTEMPTS: Final = 500  # reading the holder locks the file briefly, and a new holder needs time to sign
_RETRY_SECONDS: Final = 0.01
_UNSIGNED: Final = LeaseHolder("unknown", None)


class _Signature(msgspec.Struct, frozen=True):
    """The text of the file. Earlier versions read and write `engine` and `process` only, for a local process."""

    engine: str
    process: int
    host: str = ""
    started_at: str = ""

    @property
    def holder(self) -> LeaseHolder:
        if self.host:
            return LeaseHolder(self.engine, ProcessId(self.host, self.process, self.started_at))
        return LeaseHolder(self.engine, ProcessId(host_id(), self.process, start_time(self.process) or ""))


class FileLease(Lease):
    """A lock on one file. The text of the file is the holder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._holder: LeaseHolder | None = None

    async def acquire(self, purpose: str) -> LeaseHolder | None:
        if self._holder is not None:
            return self._holder
        for _ in range(_ATTEMPTS):
            if self._try_acquire(purpose):
                return None
            if holder := self.read_holder():
                return holder
            await asyncio.sleep(_RETRY_SECONDS)
        return _UNSIGNED

    async def holder(self) -> LeaseHolder | None:
        return self.read_holder()

    async def release(self) -> None:
        if self._file is not None:
            self._file.truncate(0)
            self._remove(self._file)
            self._file = self._holder = None

    def on_lost(self, callback: Callable[[str], None]) -> None:
        """Never called: the operating system releases the lock only when the process ends."""

    def read_holder(self) -> LeaseHolder | None:
        """The holder; None if no process has the lease. Removes the file of a killed process."""
        return self._read_holder("r+b", _lock, self._remove)

    def probe_holder(self) -> LeaseHolder | None:
        """The holder, as `read_holder` returns it. Changes nothing: needs no write access, and removes no file."""
        return self._read_holder("rb", _lock_shared, lambda _: None)

    def _read_holder(
        self, mode: Literal["rb", "r+b"], lock: Callable[[IO[bytes]], None], on_unused: Callable[[IO[bytes]], None]
    ) -> LeaseHolder | None:
        try:
            flags = os.O_RDWR if mode == "r+b" else os.O_RDONLY
            with os.fdopen(open_regular(self._path, flags), mode) as file:
                try:
                    lock(file)
                except OSError:
                    file.seek(0)
                    return _if_running(_decode(file.read()))
                on_unused(file)
        except (OSError, msgspec.DecodeError):
            pass
        return None

    def _try_acquire(self, purpose: str) -> bool:
        try:
            file = os.fdopen(open_regular(self._path, os.O_RDWR | os.O_CREAT), "r+b")
        except OSError as error:
            problem = f"cannot be written ({error.strerror})"
            raise ProfileReadOnly(self._path, problem, "Make its folder writable, or move the file away.") from error
        try:
            _lock(file)
        except OSError:
            file.close()
            return False
        if not self._is_in_place(file):
            file.close()
            return False
        process = current_process()
        self._holder = LeaseHolder(purpose, process)
        file.truncate(0)
        file.seek(0)
        file.write(msgspec.json.encode(_Signature(purpose, process.pid, process.host, process.started_at)))
        file.flush()
        self._file = file
        _acquired.add(self)
        return True

    def _is_in_place(self, file: IO[bytes]) -> bool:
        """Whether a file is the one beside the profile, and was not removed after it was opened."""
        try:
            return os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except OSError:
            return False

    def _remove(self, file: IO[bytes]) -> None:
        """Close the file, which this process has locked, and remove it."""
        if sys.platform == "win32":  # an open file cannot be removed
            file.close()
            with contextlib.suppress(OSError):
                self._path.unlink()
            return
        if self._is_in_place(file):
            with contextlib.suppress(OSError):
                self._path.unlink()
        file.close()

    def _close_in_child(self) -> None:
        """After a fork the parent alone has the lease. A child that outlives it must not keep the file locked."""
        if self._file is not None:
            self._file.close()
            self._file = self._holder = None


def _decode(text: bytes) -> LeaseHolder:
    return msgspec.json.decode(text, type=_Signature).holder


def _if_running(holder: LeaseHolder) -> LeaseHolder | None:
    """None for a killed process whose file another reader has locked, to remove it."""
    process = holder.process
    return None if process and process.is_local and not process.is_running else holder


_acquired: weakref.WeakSet[FileLease] = weakref.WeakSet()


def _after_fork() -> None:
    for lease in list(_acquired):
        lease._close_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
