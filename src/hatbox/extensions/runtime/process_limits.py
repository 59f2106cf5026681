"""Resource limits of an extension process (prlimit). Only Linux can set them for another process."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from hatbox.extensions.runtime.limits import RuntimeLimits

if sys.platform != "win32":
    import resource

__all__ = ["limit_process"]


def limit_process(pid: int, limits: RuntimeLimits) -> None:
    """Limit a process permanently, after its start, for which V8 needs more memory. Raises OSError.

    The limit of file sizes is 0: neither a crash nor a process that has escaped the sandbox can fill the disk.
    """
    if sys.platform != "linux":
        return
    max_data = _allocated(pid) + limits.memory
    for kind, value in (
        (resource.RLIMIT_DATA, max_data),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, limits.files),
    ):
        try:
            resource.prlimit(pid, kind, (value, value))
        except ValueError as error:
            raise OSError(str(error)) from error


def _allocated(pid: int) -> int:
    """The current size of the data segment (RLIMIT_DATA), in bytes."""
    found = re.search(r"VmData:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text("ascii"))
    if found is None:
        raise OSError(f"process {pid} has ended")
    return int(found[1]) << 10
