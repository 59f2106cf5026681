"""Inspects the header of a profile before SQLite opens it. Knows the file format of SQLite, and no table.

Only for a caller that holds the profile's lock exclusively: closing the descriptor that is used here would drop the
locks of every SQLite connection that this process has to the file.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import Final, NamedTuple

from hatbox.store.sqlite.failures import corrupt, not_a_profile, too_new, unreadable
from hatbox.store.sqlite.schema import APPLICATION_ID, FORMAT, FORMAT_MASK

if sys.platform != "win32":
    import fcntl

__all__ = ["Inspection", "inspect", "is_locked", "require_file", "wal_size"]

_MAGIC: Final = b"SQLite format 3\x00"
_SIZE: Final = 100
_SHARED_FIRST, _SHARED_SIZE = 0x40000002, 510  # the bytes on which SQLite connections hold read locks


class Inspection(NamedTuple):
    """The result of the inspection of a profile."""

    version: int
    """The format in the header. The WAL may contain a newer one."""
    in_use: bool
    """Whether a program that does not know the profile's lock, such as an earlier Hatbox, has it open."""


def inspect(path: Path) -> Inspection:
    """Refuse a file that is not a usable profile. Raises ProfileError or OSError, changes nothing."""
    require_file(path)
    descriptor = os.open(path, (os.O_RDWR if os.access(path, os.W_OK) else os.O_RDONLY) | getattr(os, "O_BINARY", 0))
    try:
        in_use = is_locked(descriptor)
        header, size = os.read(descriptor, _SIZE), os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
    _verify(path, header)
    version = _number(header, 60) & FORMAT_MASK
    if version > FORMAT:
        raise too_new(path, version)
    if not in_use:
        _verify_constants(path, header, version)
        if size < _page_size(header) * _number(header, 28) and not wal_size(path):
            raise corrupt(path, "is damaged: it has been cut short")
    return Inspection(version, in_use)


def require_file(path: Path) -> None:
    """Refuse a folder, a device, and what cannot be read. Opens nothing, so that it needs no lock."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise not_a_profile(path, "is not a file")
    if not os.access(path, os.R_OK):
        raise unreadable(path)


def wal_size(path: Path) -> int:
    """The size of the WAL in bytes; 0 if it does not exist, as after a clean shutdown."""
    try:
        return os.stat(f"{path}-wal").st_size  # noqa: PTH116 - before each commit
    except FileNotFoundError:
        return 0


def _verify(path: Path, header: bytes) -> None:
    if not header:
        raise not_a_profile(path, "is an empty file, not a Hatbox profile")
    if not header.startswith(_MAGIC):
        raise not_a_profile(path, "is not a Hatbox profile")
    if len(header) < _SIZE:
        raise corrupt(path, "is damaged: it has been cut short")
    if _number(header, 68) != APPLICATION_ID:
        raise not_a_profile(path, "is a database of another program, not a Hatbox profile")


def _verify_constants(path: Path, header: bytes, version: int) -> None:
    """The fields that are the same in every profile: WAL mode, payload fractions, UTF-8, and incremental vacuum."""
    sound = header[18:24] == bytes((2, 2, 0, 64, 32, 32)) and _number(header, 44) == 4 and _number(header, 56) == 1
    if version == FORMAT and _number(header, 64) != 1:
        sound = False
    if not sound:
        raise corrupt(path, "is damaged: its header has values that no profile has")


def is_locked(descriptor: int) -> bool:
    """Whether a SQLite connection of another process is open. Without write access it has to be assumed."""
    if sys.platform == "win32":
        return False  # SQLite's locks are mandatory there: an upgrade that needs the file alone fails by itself
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EBADF):
            raise  # it has no locks
        return True
    return False


def _number(header: bytes, offset: int) -> int:
    return int.from_bytes(header[offset : offset + 4], "big")


def _page_size(header: bytes) -> int:
    size = int.from_bytes(header[16:18], "big")
    return 65536 if size == 1 else size
