"""The process of a script: a new interpreter in its sandbox, with frames over a socket pair, until it exits.

It has the standard streams of this process, and is in its process group: terminals, pipes and Ctrl-C work as usual.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, cast

from hatbox import child_processes
from hatbox.cli.commands.run.permitted.leftover_processes import Leftovers
from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.framed_process import FramedProcess
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.parent_death import ParentDeathSignal
from hatbox.extensions.runtime.sandbox import Layers, Wall
from hatbox.extensions.runtime.sandbox.start import start_behind

__all__ = ["ScriptProcess", "StartedScript"]

_LAST_OUTPUT_SECONDS: Final = 1.0
_MAIN: Final = "from hatbox.cli.commands.run.permitted.script_main import main; main({})"


class StartedScript:
    """A process that waits for its first message, and this process's end of the socket pair."""

    def __init__(self, wall: Wall, layers: Layers, environment: Mapping[str, str]) -> None:
        """Start it. Raises OSError if a layer of the sandbox cannot be applied."""
        parent_death = ParentDeathSignal()
        self.leftovers = Leftovers()
        """The processes that the script will leave behind."""
        self.channel, theirs = socket.socketpair()
        inherited = (theirs.fileno(), *parent_death.inherited)
        # -P: files in the current folder must not replace modules of Hatbox. The folder of the script is added later.
        arguments = [
            sys.executable,
            *subprocess._args_from_interpreter_flags(),  # type: ignore[attr-defined] # as multiprocessing does
            "-P",
            "-c",
            _MAIN.format(", ".join(map(str, inherited))),
        ]
        try:
            self.process = start_behind(wall, layers, arguments, env=dict(environment), pass_fds=inherited)
        except BaseException:
            parent_death.close()
            self.channel.close()
            raise
        finally:
            theirs.close()
        child_processes.add(self.process.pid, "the script")
        parent_death.attach(self.process.pid)
        self._parent_death = parent_death

    def kill(self) -> None:
        """End the process, and wait until it has ended."""
        self.process.kill()
        self.process.wait()
        self.channel.close()
        self._parent_death.close()


class ScriptProcess(FramedProcess, asyncio.Protocol):
    """See hatbox.extensions.runtime.script_connection.ScriptConnection. Reads when `set_reading` is called."""

    def __init__(self, started: StartedScript, limits: RuntimeLimits) -> None:
        super().__init__(limits)
        self._process = started.process
        self._leftovers = started.leftovers
        self.reading = False
        """Whether its messages are read."""
        self._channel_closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting: asyncio.Task[None] | None = None

    @classmethod
    async def connect(cls, started: StartedScript, limits: RuntimeLimits) -> ScriptProcess:
        """Connect to a started process."""
        connection = cls(started, limits)
        await asyncio.get_running_loop().create_connection(lambda: connection, sock=started.channel)
        connection._waiting = asyncio.ensure_future(connection._wait())
        return connection

    @property
    def status(self) -> int | None:
        """The exit status; None while it runs. A negative number is that of the signal that ended it."""
        return self._process.returncode

    def send(self, frame: bytes) -> None:
        """Send a frame, unless the process has ended."""
        if not self.running or self._transport.is_closing():
            return
        self._transport.write(frame)
        if self._transport.get_write_buffer_size() > self._limits.max_send_buffer:
            self.end(Exit("unresponsive", "it does not read the results of its calls"))

    def set_reading(self, wanted: bool) -> None:
        """Pause or resume reading its messages."""
        if wanted != self.reading and not self._transport.is_closing():
            self.reading = wanted
            (self._transport.resume_reading if wanted else self._transport.pause_reading)()

    def end(self, reason: Exit) -> None:
        """Kill the process. The first reason is the one that `exited` reports."""
        if self._reason is None:
            self._reason = reason
        self.running = False
        with suppress(ProcessLookupError):
            self._process.kill()

    def interrupt(self, number: int = signal.SIGINT) -> None:
        """Interrupt the script, as Ctrl-C does. It may clean up, or go on."""
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def stop(self, timeout: float = 1.0) -> Exit:  # noqa: ARG002 - see ScriptConnection
        """Kill it, and wait until it has ended."""
        self.end(Exit("stopped"))
        return await self.exited

    async def _wait(self) -> None:
        await asyncio.to_thread(self._process.wait)
        await asyncio.to_thread(self._leftovers.end)  # they may have the socket open
        self.set_reading(True)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._channel_closed), _LAST_OUTPUT_SECONDS)
        self.running = False
        self._transport.abort()
        self._exited.set_result(self._reason or Exit("exited", f"status {self.status}"))

    # ── Callbacks of asyncio ──

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is connected."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        """Receive bytes of frames."""
        self.received(data)

    def connection_lost(self, _: Exception | None) -> None:
        """The process has closed its end."""
        if not self._channel_closed.done():
            self._channel_closed.set_result(None)
