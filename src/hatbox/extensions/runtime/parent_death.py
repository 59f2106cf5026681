"""What ends a child when its host has gone, however that happened: a loop would never see its pipe end.

The child holds one end of a socket, and the kernel is told to kill it when anything happens there. Nothing does, until
the host's end is closed. Unlike PR_SET_PDEATHSIG this needs no code between fork and exec, which is not safe in a host
with threads, and does not end the child when only the thread that started it ends.
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
    """A line between the host and one child; only Linux has what it takes, and elsewhere it does nothing."""

    def __init__(self) -> None:
        self._ends = socket.socketpair() if sys.platform == "linux" else None

    @property
    def inherited(self) -> tuple[int, ...]:
        """What the child must be given when it is started."""
        return (self._ends[1].fileno(),) if self._ends else ()

    def attach(self, pid: int) -> None:
        """Kill this child when the line breaks. Until then it has not run anything, and would see the pipe end."""
        if sys.platform == "linux" and self._ends:
            theirs = self._ends[1]
            with suppress(ProcessLookupError, ValueError):  # it has already ended, and the line may be closed
                fcntl.fcntl(theirs, fcntl.F_SETSIG, signal.SIGKILL)
                fcntl.fcntl(theirs, fcntl.F_SETOWN, pid)
                fcntl.fcntl(theirs, fcntl.F_SETFL, fcntl.fcntl(theirs, fcntl.F_GETFL) | os.O_ASYNC)
            theirs.close()

    def close(self) -> None:
        """Break it."""
        for end in self._ends or ():
            end.close()
