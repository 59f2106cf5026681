"""Ends the processes that a script has started and left behind. Only on Linux.

While this process adopts orphans (PR_SET_CHILD_SUBREAPER), they become its children when the script has ended. So do
orphans of others: of the background jobs of a shell that has executed this command in place of itself.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from hatbox.child_processes import children, descendants

__all__ = ["Leftovers", "adopt_orphans"]

_SET_CHILD_SUBREAPER: Final = 36
_ROUNDS: Final = 300
_ROUND_SECONDS: Final = 0.01
_START_TIME_FIELD: Final = 19  # of /proc/PID/stat, counted after the name of the program
_NO_NEW_PRIVILEGES: Final = re.compile(r"^NoNewPrivs:\s*1$", re.MULTILINE)


def adopt_orphans(wanted: bool) -> None:
    """Become the parent of processes whose parent, below this process, has ended."""
    if sys.platform == "linux":
        from hatbox.extensions.runtime.sandbox.kernel import prctl

        with suppress(OSError):
            prctl(_SET_CHILD_SUBREAPER, int(wanted))


class Leftovers:
    """What a script leaves behind. Created before it starts: processes that run then are not of the script."""

    def __init__(self) -> None:
        self._earlier = {pid: _start_time(pid) for pid in descendants("self")}
        self._is_marked = sys.platform == "linux" and not _has_no_new_privileges("self")
        """Whether the sandbox marks the processes of the script, for good. Not if this process has the mark itself."""

    def end(self) -> None:
        """Kill the processes that the script has left behind, and those that these have started."""
        for _ in range(_ROUNDS):
            found = [pid for pid in children("self") if self._is_of_script(pid)]
            if not found:
                return
            for pid in found:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                with suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(_ROUND_SECONDS)

    def _is_of_script(self, pid: int) -> bool:
        """Whether a child of this process is in the sandbox of the script, or without a mark, in its process group.

        Processes that Hatbox itself starts have a group of their own, and no sandbox unless this process has one.
        """
        if pid in self._earlier and self._earlier[pid] == _start_time(pid):
            return False
        try:
            return _has_no_new_privileges(pid) if self._is_marked else os.getpgid(pid) == os.getpgrp()
        except OSError:
            return False


def _start_time(pid: int) -> str | None:
    """When a process was started, because process ids are reused. None if there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[_START_TIME_FIELD]


def _has_no_new_privileges(pid: int | str) -> bool:
    return bool(_NO_NEW_PRIVILEGES.search(Path(f"/proc/{pid}/status").read_text("utf-8", "replace")))
