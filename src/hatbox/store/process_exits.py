"""Reports that a process of this machine has ended, also if it was killed. Without polling, where the system can."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Collection

from hatbox.store.processes import ProcessId

__all__ = ["ProcessExits"]


class ProcessExits:
    """The processes whose end is reported. `on_exit` is called on the event loop, once for each."""

    def __init__(self, on_exit: Callable[[], None]) -> None:
        self._on_exit = on_exit
        self._descriptors: dict[ProcessId, int] = {}

    def watch(self, processes: Collection[ProcessId]) -> bool:
        """Watch these processes, and no others. Returns whether the end of each will be reported.

        If not, because one runs on another machine or the system has no pidfd, the caller has to poll.
        """
        for each in self._descriptors.keys() - set(processes):
            self._close(each)
        results = [each in self._descriptors or self._open(each) for each in processes]  # all are opened
        return all(results)

    def stop(self) -> None:
        """Watch none."""
        self.watch(())

    def _open(self, process: ProcessId) -> bool:
        if sys.platform != "linux" or not process.is_local:
            return False
        loop = asyncio.get_running_loop()
        try:
            descriptor = os.pidfd_open(process.pid)
        except ProcessLookupError:
            loop.call_soon(self._on_exit)
            return True
        except OSError:  # an older kernel, a sandbox, or too many open files
            return False
        self._descriptors[process] = descriptor
        if not process.is_running:  # another process has its number
            self._ended(process)
            return True
        try:
            loop.add_reader(descriptor, self._ended, process)
        except NotImplementedError:
            self._close(process)
            return False
        return True

    def _ended(self, process: ProcessId) -> None:
        self._close(process)
        asyncio.get_running_loop().call_soon(self._on_exit)

    def _close(self, process: ProcessId) -> None:
        descriptor = self._descriptors.pop(process)
        try:
            asyncio.get_running_loop().remove_reader(descriptor)
        except NotImplementedError:
            pass
        finally:
            os.close(descriptor)
