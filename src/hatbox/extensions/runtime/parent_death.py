"""Kills an extension process when its host ends, even in an endless loop that never reads the end of the pipe.

The process inherits one end of a socket pair, with O_ASYNC: the kernel sends SIGKILL when the host's end is closed.
Unlike PR_SET_PDEATHSIG this needs no code between fork and exec, which is not safe in a host with threads, and does
not depend on the thread that started the process.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import suppress

if sys.platform == "linux":
    import fcntl

__all__ = ["ParentDeathSignal"]


class ParentDeathSignal:
    """A socket pair between the host and one process. Does nothing on other systems than Linux."""

    def __init__(self) -> None:
        self._ends = socket.socketpair() if sys.platform == "linux" else None

    @property
    def inherited(self) -> tuple[int, ...]:
        """The file descriptors that the process must inherit."""
        return (self._ends[1].fileno(),) if self._ends else ()

    def attach(self, pid: int) -> None:
        """Kill this process when the host ends. Before, it has run no script, and reads the end of the pipe."""
        if sys.platform == "linux" and self._ends:
            theirs = self._ends[1]
            with suppress(ProcessLookupError, ValueError):  # it has already ended, and the socket may be closed
                fcntl.fcntl(theirs, fcntl.F_SETSIG, signal.SIGKILL)
                fcntl.fcntl(theirs, fcntl.F_SETOWN, pid)
                fcntl.fcntl(theirs, fcntl.F_SETFL, fcntl.fcntl(theirs, fcntl.F_GETFL) | os.O_ASYNC)
            theirs.close()

    def close(self) -> None:
        """Close the socket pair, which kills the process."""
        for end in self._ends or ():
            end.close()
