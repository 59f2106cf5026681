"""Ends the processes that a script has started and left behind. Only on Linux.

While this process adopts orphans (PR_SET_CHILD_SUBREAPER), they become its children when the script has ended.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["adopt_orphans", "end_leftovers"]

_SET_CHILD_SUBREAPER: Final = 36
_ROUNDS: Final = 300
_ROUND_SECONDS: Final = 0.01
_NO_NEW_PRIVILEGES: Final = re.compile(r"^NoNewPrivs:\s*1$", re.MULTILINE)


def adopt_orphans(wanted: bool) -> None:
    """Become the parent of processes whose parent, below this process, has ended."""
    if sys.platform == "linux":
        from hatbox.extensions.runtime.sandbox.kernel import prctl

        with suppress(OSError):
            prctl(_SET_CHILD_SUBREAPER, int(wanted))


def end_leftovers() -> None:
    """Kill the processes that the script has left behind, and those that these have started."""
    for _ in range(_ROUNDS):
        found = list(_leftovers())
        if not found:
            return
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(_ROUND_SECONDS)


def _leftovers() -> Iterator[int]:
    """Children of this process that run in the sandbox of a script, or in the process group of this process.

    Processes that Hatbox itself starts have a group of their own, and no sandbox unless this process has one.
    """
    is_marked = not _has_no_new_privileges("self")
    for children in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for pid in map(int, children.read_text("ascii").split()):
                with suppress(OSError):
                    if os.getpgid(pid) == os.getpgrp() or (is_marked and _has_no_new_privileges(pid)):
                        yield pid


def _has_no_new_privileges(pid: int | str) -> bool:
    return bool(_NO_NEW_PRIVILEGES.search(Path(f"/proc/{pid}/status").read_text("utf-8", "replace")))
