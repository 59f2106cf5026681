"""The limits that the operating system holds a child to. Only Linux can set them for another process."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from hatbox.extensions.runtime.limits import Limits

if sys.platform != "win32":
    import resource

__all__ = ["limit_process"]


def limit_process(pid: int, limits: Limits) -> None:
    """Limit a child that is ready, for good; raises OSError. V8 needs more memory than that to start with.

    It writes no file: a crash must not fill the disk, nor a child that got past everything else.
    """
    if sys.platform != "linux":
        return
    most = _allocated(pid) + limits.memory
    for kind, value in (
        (resource.RLIMIT_DATA, most),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, limits.files),
    ):
        try:
            resource.prlimit(pid, kind, (value, value))
        except ValueError as error:
            raise OSError(str(error)) from error


def _allocated(pid: int) -> int:
    """What counts for RLIMIT_DATA now, in bytes."""
    found = re.search(r"VmData:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text("ascii"))
    if found is None:
        raise OSError(f"process {pid} has ended")
    return int(found[1]) << 10
