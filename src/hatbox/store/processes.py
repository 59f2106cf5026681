"""The identity of a process: machine, process id and start time. Knows nothing of stores.

The local checks here say nothing about a process of another machine: a store answers for those, through a lease.
"""

from __future__ import annotations

import functools
import getpass
import os
import re
import socket
import sys
from pathlib import Path
from typing import Final, NamedTuple

from hatbox.child_processes import start_time

__all__ = ["ProcessId", "current_process", "current_user", "host_id", "program_name", "start_time"]

_COMMAND: Final = re.compile(r"[a-z]+(-[a-z]+)*")


class ProcessId(NamedTuple):
    """One process of one machine. Process ids are reused, so the start time is part of it."""

    host: str
    pid: int
    started_at: str

    @property
    def is_local(self) -> bool:
        """Whether it is a process of this machine, since its last start, and in the same PID namespace."""
        return self.host == host_id()

    @property
    def is_running(self) -> bool:
        """Whether a local process is running. Only for processes that are local."""
        return start_time(self.pid) == self.started_at

    @property
    def machine(self) -> str:
        """The name of its machine."""
        return self.host.partition("/")[0]

    def __str__(self) -> str:
        return f"pid {self.pid}" if self.is_local else f"pid {self.pid} on {self.machine}"


def current_process() -> ProcessId:
    """This process."""
    pid = os.getpid()
    return ProcessId(host_id(), pid, start_time(pid) or "")


def current_user() -> str:
    """The user of this process, as its machine knows it: the user id, on Windows the name. Never empty."""
    return getpass.getuser() if sys.platform == "win32" else str(os.getuid())


def program_name() -> str:
    """The name of the program that runs in this process, as its user knows it; of Hatbox with its command."""
    name = Path(sys.argv[0] if sys.argv else "").name
    if name in ("hatbox", "__main__.py") and Path(sys.argv[0]).parent.name in ("hatbox", "bin", "Scripts"):
        command = sys.argv[1] if len(sys.argv) > 1 else ""
        return f"hatbox {command}" if _COMMAND.fullmatch(command) else "hatbox"
    return name if name not in ("", "-", "-c", "-m") else "python"


@functools.cache
def host_id() -> str:
    """The name of this machine; on Linux also its boot id and the PID namespace, which containers do not share."""
    name = socket.gethostname()
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{name}/{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return name
