"""An extension process: Deno without permissions, with frames over its stdin and stdout, until it exits.

Enforces limits and reports why the process ended. Knows no message by name.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from hatbox.errors import ExtensionTerminated
from hatbox.extensions.runtime.code_cache import CodeCache, find_cache
from hatbox.extensions.runtime.command import command, environment
from hatbox.extensions.runtime.exit_reason import Exit, StderrTail
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.sandbox import Layers, Wall
from hatbox.extensions.runtime.sandbox.required import required_layers
from hatbox.extensions.runtime.script_connection import Receiver
from hatbox.extensions.runtime.walled_process import WalledProcess
from hatbox.extensions.runtime.wire_frames import FrameDecoder, ProtocolError, WireFrame

if TYPE_CHECKING:
    from hatbox.extensions.runtime.inspector import InspectorProxy

__all__ = ["DenoProcess"]

logger = logging.getLogger("hatbox.extensions")

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_READ_BUFFER_BYTES: Final = 1 << 17
_LAST_OUTPUT_TIMEOUT: Final = 1.0  # seconds to read the last output after the process has exited

if sys.platform != "win32":
    import resource

if sys.platform == "linux":
    import fcntl


class DenoProcess(asyncio.SubprocessProtocol):
    """A running process, until `exited` is done."""

    def __init__(self, limits: RuntimeLimits) -> None:
        self._limits = limits
        self._decoder = FrameDecoder(limits.frame)
        self._exited: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self._reason: Exit | None = None
        self.running = True
        """Whether the process has not ended and is not being ended."""
        self.inspector: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """The URL for DevTools, with its token, if the process was started with `inspect`."""
        self.receiver: Receiver = _NullReceiver()
        """Receives the frames. A process sends nothing before it receives a message."""
        self._stderr = StderrTail()
        self.reading = True
        """Whether its output is read."""
        self._parent_death = _ParentDeathSignal()
        self._channel: asyncio.Transport | None = None
        """The socket that is its stdin and stdout. Windows uses pipes."""
        self._proxy: InspectorProxy | None = None
        self._close_timer: asyncio.TimerHandle | None = None
        self._stdout_open = True
        self._process_ended = False

    @classmethod
    async def start(cls, limits: RuntimeLimits, *, inspect: bool = False, unsafe_eval: bool = False) -> DenoProcess:
        """Start a process. It runs no code of the extension until it receives a script.

        Raises ExtensionTerminated if the process or the required sandbox cannot be started.
        """
        layers = required_layers(limits)
        cache = find_cache(unsafe_eval=unsafe_eval) or await _filled_cache(limits, layers, unsafe_eval=unsafe_eval)
        child = cls(limits)
        ours, theirs = _channel_ends()
        try:
            if ours:
                await asyncio.get_running_loop().create_unix_connection(lambda: _Channel(child), sock=ours)
            if inspect:
                from hatbox.extensions.runtime.inspector import InspectorProxy

                child._proxy = await InspectorProxy.listen()
            # Last, so that no cancellation leaves a process behind.
            arguments = command(limits, inspect=inspect, unsafe_eval=unsafe_eval)
            wall = cache.wall(listen=inspect)
            options = _options(cache, theirs, child._parent_death.inherited)
            await _spawn(child, arguments, wall, layers, options)
            child._parent_death.attach(child.pid)
        except BaseException:
            child._parent_death.close()
            if child._proxy:
                child._proxy.close()
            if child._channel:
                child._channel.abort()
            elif ours:
                ours.close()
            raise
        finally:
            if theirs:
                theirs.close()
        return child

    @property
    def exited(self) -> asyncio.Future[Exit]:
        """Done when the process has ended. Cancelling one waiter does not affect the others."""
        return self._exited if self._exited.done() else asyncio.shield(self._exited)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._transport.get_pid()

    def send(self, frame: bytes) -> None:
        """Send a frame, unless the process has ended."""
        if not self.running:
            return
        self._stdin.write(frame)
        if self._stdin.get_write_buffer_size() > self._limits.max_send_buffer:
            self.end(
                Exit("unresponsive", f"it does not read; the send buffer exceeds {self._limits.max_send_buffer} bytes")
            )

    def set_reading(self, wanted: bool) -> None:
        """Pause or resume reading its output."""
        if wanted != self.reading and self.running:
            self.reading = wanted
            (self._stdout.resume_reading if wanted else self._stdout.pause_reading)()

    def limit_resources(self) -> None:
        """Set the resource limits after the start. Raises ExtensionTerminated if they are required and fail."""
        try:
            _limit_process(self.pid, self._limits)
        except OSError as error:
            if self._limits.require_sandbox:
                self.end(Exit("stopped", str(error)))
                raise ExtensionTerminated(f"setting the limits of the extension process failed: {error}") from error
            logger.warning("setting the limits of an extension process failed: %s", error)

    def end(self, reason: Exit) -> None:
        """Kill the process. The first reason is the one that `exited` reports."""
        if self._reason is None:
            self._reason = reason
        self.running = False
        self._kill()
        self._read_to_end()

    async def stop(self, timeout: float = 1.0) -> Exit:
        """Close the stdin of the process, which ends it, and kill it after the timeout."""
        if self.running:
            self._reason = Exit("stopped")
            self.running = False
            self._stdin.write_eof()
        try:
            return await asyncio.wait_for(asyncio.shield(self._exited), timeout)
        except TimeoutError:
            self._kill()
            return await asyncio.shield(self._exited)

    def received(self, data: bytes) -> None:
        """Receive bytes of frames."""
        if self.running:
            try:
                self.receiver.received(self._decoder.feed(data))
            except ProtocolError as error:
                self.end(Exit("protocol", str(error)))

    # ── Callbacks of asyncio ──

    def pause_writing(self) -> None:
        """The process reads more slowly than it is written to."""
        self.receiver.writable(False)

    def resume_writing(self) -> None:
        """The process reads again."""
        self.receiver.writable(True)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process was started."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        if pipe := self._transport.get_pipe_transport(_STDIN):
            self._stdin = cast(asyncio.WriteTransport, pipe)
            self._stdout = cast(asyncio.ReadTransport, self._transport.get_pipe_transport(_STDOUT))
            self._stdout_open = False

    def channel_made(self, transport: asyncio.Transport) -> None:
        """The socket to the process is connected."""
        self._channel = self._stdin = self._stdout = transport

    def channel_lost(self) -> None:
        """All output was read."""
        self._stdout_open = False
        self._finish()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Receive bytes from stderr, or from stdout where it is a pipe."""
        if fd != _STDERR:
            self.received(data)
            return
        self._stderr.add(data)
        if self._proxy and not self.inspector.done() and self._proxy.learn_target(self._stderr.text):
            self.inspector.set_result(self._proxy.address)

    def process_exited(self) -> None:
        """The process has exited."""
        self._read_to_end()
        # Processes that it has started may still have its pipes open.
        self._close_timer = asyncio.get_running_loop().call_later(_LAST_OUTPUT_TIMEOUT, self._close_pipes)

    def connection_lost(self, _: BaseException | None) -> None:
        """The process has exited, and its stderr was read."""
        self._process_ended = True
        self._finish()

    def _read_to_end(self) -> None:
        """Resume reading: the end of a stream is not noticed while reading is paused."""
        if not self.reading:
            self.reading = True
            self._stdout.resume_reading()

    def _close_pipes(self) -> None:
        self._transport.close()
        if self._channel:
            self._channel.abort()

    def _finish(self) -> None:
        if self._stdout_open or not self._process_ended:
            return
        if self._close_timer:
            self._close_timer.cancel()
        if self._proxy:
            self._proxy.close()
        self.inspector.cancel()
        self._transport.close()
        self._parent_death.close()
        self.running = False
        if not self._exited.done():
            self._exited.set_result(self._reason or self._stderr.explain(self._transport.get_returncode()))

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            self._transport.kill()


def _options(cache: CodeCache, channel: socket.socket | None, inherited: Sequence[int]) -> dict[str, Any]:
    return {
        "stdin": channel.fileno() if channel else subprocess.PIPE,
        "stdout": channel.fileno() if channel else subprocess.PIPE,
        "env": environment(cache.folder),
        "cwd": "/" if sys.platform != "win32" else None,
        "pass_fds": inherited,
        "restore_signals": False,  # SIGXFSZ stays ignored: a write beyond RLIMIT_FSIZE fails instead of killing it
    }


async def _spawn(child: DenoProcess, arguments: list[str], wall: Wall, layers: Layers, options: dict[str, Any]) -> None:
    # In a new session: Ctrl-C in a terminal is for the host, which then ends its processes.
    if sys.platform != "linux":
        await asyncio.get_running_loop().subprocess_exec(lambda: child, *arguments, start_new_session=True, **options)
        return
    try:
        WalledProcess(child, wall, layers, arguments, **options)
    except OSError as error:
        raise ExtensionTerminated(f"starting the extension process in its sandbox failed: {error}") from error


class _NullReceiver:
    """Receives nothing: used before the first message is sent."""

    is_behind = False

    def received(self, _: Sequence[WireFrame]) -> None:
        raise ProtocolError("a message before the first one of the host")

    def writable(self, _: bool) -> None:
        pass


class _Channel(asyncio.BufferedProtocol):
    """The socket that is stdin and stdout of a process. asyncio's own pipes cost one more turn of the event loop.

    A BufferedProtocol, because asyncio otherwise allocates 256 KiB for each read, which takes longer than most calls.
    """

    def __init__(self, child: DenoProcess) -> None:
        self._child = child
        self._buffer = memoryview(bytearray(_READ_BUFFER_BYTES))
        self.pause_writing = child.pause_writing  # type: ignore[method-assign]
        self.resume_writing = child.resume_writing  # type: ignore[method-assign]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._child.channel_made(cast(asyncio.Transport, transport))

    def get_buffer(self, _: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, size: int) -> None:
        self._child.received(bytes(self._buffer[:size]))

    def connection_lost(self, _: BaseException | None) -> None:
        self._child.channel_lost()


async def _filled_cache(limits: RuntimeLimits, layers: Layers, *, unsafe_eval: bool) -> CodeCache:
    from hatbox.extensions.runtime.cache_filling import fill_cache  # only for the first start

    return await asyncio.to_thread(fill_cache, limits, layers, unsafe_eval=unsafe_eval)


def _channel_ends() -> tuple[socket.socket, socket.socket] | tuple[None, None]:
    """The ends of the host and of the process. On Windows a socket cannot be stdin, so pipes are used."""
    return socket.socketpair() if sys.platform != "win32" else (None, None)


def _limit_process(pid: int, limits: RuntimeLimits) -> None:
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


class _ParentDeathSignal:
    """A socket pair between the host and one process. Does nothing on other systems than Linux.

    Kills the process when the host ends, even in an endless loop that never reads the end of the pipe. The process
    inherits one end, with O_ASYNC: the kernel sends SIGKILL when the host's end is closed. Unlike PR_SET_PDEATHSIG
    this needs no code between fork and exec, which is not safe in a host with threads, and does not depend on the
    thread that started the process.
    """

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
