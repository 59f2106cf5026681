"""A process in the sandbox as an asyncio transport. Only its start differs from the event loop's own transport."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Any, Final

from hatbox.extensions.runtime.sandbox.start import start_behind
from hatbox.extensions.runtime.sandbox.wall import Layers, Wall

__all__ = ["WalledProcess"]

_STDERR: Final = 2
_READ_BYTES: Final = 1 << 16


class WalledProcess(asyncio.SubprocessTransport):
    """A process in a new session. The protocol receives its stderr and its exit. Only for Linux."""

    def __init__(
        self, protocol: asyncio.SubprocessProtocol, wall: Wall, layers: Layers, arguments: list[str], **options: Any
    ) -> None:
        super().__init__()
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._returncode: int | None = None
        self._stderr, theirs = os.pipe()
        try:
            process = start_behind(wall, layers, arguments, stderr=theirs, start_new_session=True, **options)
        except BaseException:
            os.close(self._stderr)
            raise
        finally:
            os.close(theirs)
        self._pid = process.pid
        process.returncode = 0  # this class reaps the process, not Popen
        os.set_blocking(self._stderr, False)
        self._reading = True
        self._loop.add_reader(self._stderr, self._read)
        self._watch_exit()
        protocol.connection_made(self)

    def get_pid(self) -> int:
        """The process id."""
        return self._pid

    def get_returncode(self) -> int | None:
        """The exit status; None while it runs."""
        return self._returncode

    def get_pipe_transport(self, _: int) -> None:
        """None: stdin and stdout are not part of the transport."""

    def kill(self) -> None:
        """Kill the process group: the process may have started Deno again, in the same sandbox."""
        if self._returncode is not None:
            raise ProcessLookupError
        os.killpg(self._pid, signal.SIGKILL)

    def close(self) -> None:
        """Stop reading."""
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._stderr)
            os.close(self._stderr)
            self._finish()

    def is_closing(self) -> bool:
        """Whether reading has stopped."""
        return not self._reading

    def _read(self) -> None:
        try:
            data = os.read(self._stderr, _READ_BYTES)
        except BlockingIOError:
            return
        if data:
            self._protocol.pipe_data_received(_STDERR, data)
        else:
            self.close()

    def _watch_exit(self) -> None:
        if sys.platform != "linux":
            raise NotImplementedError
        try:
            descriptor = os.pidfd_open(self._pid)
        except OSError:  # an old kernel, or the filter of a container
            threading.Thread(target=self._wait, name="hatbox-wait", daemon=True).start()
            return

        def on_exit() -> None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)
            self._on_exit()

        self._loop.add_reader(descriptor, on_exit)

    def _wait(self) -> None:
        os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._on_exit)

    def _on_exit(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)  # before it is reaped, because then its id may be reused
        try:
            _, status = os.waitpid(self._pid, 0)
            self._returncode = os.waitstatus_to_exitcode(status)
        except ChildProcessError:  # the host ignores SIGCHLD
            self._returncode = 0
        self._protocol.process_exited()
        self._finish()

    def _finish(self) -> None:
        if self._returncode is not None and not self._reading:
            self._protocol.connection_lost(None)
