"""Which processes have a database locked, for messages that name them. Linux only; elsewhere the answer is empty.

Reads /proc/locks. Never opens the database or its -shm: closing a descriptor would drop this process's own locks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["describe", "hatbox_command", "processes_with_open", "writer_of"]

_LOCKS: Final = Path("/proc/locks")
_SHARED_FIRST: Final = 0x40000002  # every connection in WAL mode holds a read lock in this range of the database
_COMMAND: Final = re.compile(r"[a-z]+(-[a-z]+)*")
_WRITE_LOCK: Final = 120  # the byte of -shm that the connection with the write transaction has locked


def processes_with_open(path: Path) -> list[int]:
    """The processes that have a SQLite connection to this database, in the order of their ids."""
    return sorted({process for process, _, end in _locks_on(path) if end >= _SHARED_FIRST})


def writer_of(path: Path) -> int | None:
    """The process that is in a write transaction on this database in WAL mode."""
    shared_memory = path.with_name(f"{path.name}-shm")
    found = (process for process, start, end in _locks_on(shared_memory) if start <= _WRITE_LOCK <= end)
    return next(found, None)


def describe(process: int) -> str:
    """A process for a message: its name, its id, and whether it is stopped."""
    try:
        name, _, rest = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")
    except OSError:
        return f"process {process}"
    state = rest.split()[0]
    label = f"{hatbox_command(process) or name.partition('(')[2]} (pid {process})"
    return f"{label}, which is stopped" if state in "Tt" else label


def hatbox_command(process: int) -> str:
    """`hatbox` and the command that such a process runs, without arguments, which may be secret; empty for others."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return ""
    for place, word in enumerate(words[:4]):  # an interpreter with options, then the program
        is_program = Path(word).name == "hatbox" and (place < 2 or words[place - 1] == "-m")
        if is_program:
            command = words[place + 1] if place + 1 < len(words) else ""
            return f"hatbox {command}" if _COMMAND.fullmatch(command) else "hatbox"
    return ""


def _locks_on(path: Path) -> Iterator[tuple[int, int, int]]:
    """The POSIX locks on a file: process, first byte, last byte."""
    try:
        status = path.stat()
        lines = _LOCKS.read_text("ascii").splitlines()
    except OSError:
        return
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    for line in lines:
        fields = line.split()
        # 1: POSIX  ADVISORY  WRITE 4242 08:01:131 120 120; a line with "->" is a process that waits
        if len(fields) >= 8 and fields[1] == "POSIX" and fields[5] == device and fields[4].isdigit():
            end = 2**63 - 1 if fields[7] == "EOF" else int(fields[7])
            yield int(fields[4]), int(fields[6]), end
