"""One child: a Deno process without permissions, frames over its stdin and stdout, and what becomes of it.

Knows how to keep a child within its limits and how to tell why it ended; not what the messages mean.
"""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, cast

from hatbox.errors import ExtensionTerminated
from hatbox.extensions.runtime.code_cache import CodeCache, find_cache
from hatbox.extensions.runtime.command import command, environment
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.parent_death import ParentDeathSignal
from hatbox.extensions.runtime.process_limits import limit_process
from hatbox.extensions.runtime.sandbox import Layers
from hatbox.extensions.runtime.sandbox.required import required_layers
from hatbox.extensions.runtime.walled_process import WalledProcess
from hatbox.extensions.runtime.wire_frames import FrameDecoder, ProtocolError, WireFrame, encode_frame

if TYPE_CHECKING:
    from hatbox.extensions.runtime.inspector import InspectorProxy

__all__ = ["DenoProcess", "Exit", "Receiver"]

logger = logging.getLogger("hatbox.extensions")

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_STDERR_TAIL_BYTES: Final = 16384
_READ_AT_ONCE: Final = 1 << 17
_OUT_OF_MEMORY: Final = re.compile(rb"out of memory|OOM|(memory|array buffer) allocation", re.IGNORECASE)
_LAST_WORDS: Final = 1.0  # seconds to read its last output after it has ended


class Exit(NamedTuple):
    """How a child ended. `reason` is `stopped`, `exited`, `unresponsive`, `protocol`, or begins with `crashed`."""

    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


class Receiver(Protocol):
    """Who is told what comes from a child."""

    def received(self, frames: Sequence[WireFrame]) -> None:
        """Frames have come; a ProtocolError that this raises ends the child."""

    def writable(self, ready: bool) -> None:
        """The child has stopped reading what it is sent, or reads again."""


class DenoProcess(asyncio.SubprocessProtocol):
    """A child that runs, until `exited` is done."""

    def __init__(self, limits: RuntimeLimits) -> None:
        self._exited: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self.inspector: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """The URL for DevTools, with its token, of a child that was started with `inspect`."""
        self.receiver: Receiver = _NullReceiver()
        """Who is told what comes. Until it is told to do something, the child says nothing."""
        self._limits = limits
        self._decoder = FrameDecoder(limits.frame)
        self._stderr = bytearray()
        self._reason: Exit | None = None
        self.running = True
        """Whether it has not ended, and nobody has decided to end it."""
        self._watchdog: asyncio.TimerHandle | None = None
        self._pings = 0
        self._pongs = 0
        self._reading = True
        self._lifeline = ParentDeathSignal()
        self._channel: asyncio.Transport | None = None
        """The socket that is its stdin and stdout, where it has one."""
        self._proxy: InspectorProxy | None = None
        self._abandoning: asyncio.TimerHandle | None = None
        self._open = True
        self._ended = False

    @classmethod
    async def start(cls, limits: RuntimeLimits, *, inspect: bool = False, unsafe_eval: bool = False) -> DenoProcess:
        """Start a child. It runs no code of the extension until it receives a script.

        Raises ExtensionTerminated if it cannot be started, or not in the sandbox that is required.
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
            # Last: a cancellation while something else is awaited must not leave the process behind.
            await child._spawn(command(limits, inspect=inspect, unsafe_eval=unsafe_eval), cache, layers, theirs)
            child._lifeline.attach(child.pid)
        except BaseException:
            child._lifeline.close()
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

    async def _spawn(
        self, arguments: list[str], cache: CodeCache, layers: Layers, channel: socket.socket | None
    ) -> None:
        options: dict[str, Any] = {
            "stdin": channel.fileno() if channel else subprocess.PIPE,
            "stdout": channel.fileno() if channel else subprocess.PIPE,
            "env": environment(cache.folder),
            "cwd": "/" if sys.platform != "win32" else None,
            "pass_fds": self._lifeline.inherited,
            "restore_signals": False,  # SIGXFSZ stays ignored: a write beyond RLIMIT_FSIZE fails instead of killing it
        }
        # A session of its own: Ctrl-C in a terminal is for the host, which then ends its children.
        if sys.platform != "linux":
            await asyncio.get_running_loop().subprocess_exec(
                lambda: self, *arguments, start_new_session=True, **options
            )
            return
        try:
            WalledProcess(self, cache.wall(listen=self._proxy is not None), layers, arguments, **options)
        except OSError as error:
            raise ExtensionTerminated(f"the extension's process cannot be started in its sandbox: {error}") from error

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._transport.get_pid()

    @property
    def exited(self) -> asyncio.Future[Exit]:
        """Done when it has ended. Whoever waits for it can be cancelled without harm to others who wait."""
        return self._exited if self._exited.done() else asyncio.shield(self._exited)

    def send(self, frame: bytes) -> None:
        """Send a frame. To a child that has ended it goes nowhere."""
        if not self.running:
            return
        self._stdin.write(frame)
        if self._stdin.get_write_buffer_size() > self._limits.max_send_buffer:
            self.end(
                Exit("unresponsive", f"it does not read what it is sent, and {self._limits.max_send_buffer} bytes wait")
            )

    def set_reading(self, wanted: bool) -> None:
        """Stop reading, or go on."""
        if wanted != self._reading and self.running:
            self._reading = wanted
            (self._stdout.resume_reading if wanted else self._stdout.pause_reading)()

    def ready(self) -> None:
        """Set the resource limits of a child that has started. Raises ExtensionTerminated if they are required and fail."""
        try:
            limit_process(self.pid, self._limits)
        except OSError as error:
            if self._limits.require_sandbox:
                self.end(Exit("stopped", str(error)))
                raise ExtensionTerminated(f"the limits of the extension's process cannot be set: {error}") from error
            logger.warning("the limits of an extension's process cannot be set: %s", error)

    def watch(self) -> None:
        """Begin to ask, again and again, whether the child still answers."""
        self._ping()

    def ponged(self, number: int) -> None:
        """The child has answered a ping."""
        self._pongs = max(self._pongs, min(number, self._pings))

    def end(self, reason: Exit) -> None:
        """Kill the child, for this reason; the first reason counts."""
        if self._reason is None:
            self._reason = reason
        self.running = False
        self._kill()
        self._read_on()

    async def stop(self, grace: float = 1.0) -> Exit:
        """Ask the child to end, by closing its stdin, and kill it if it does not."""
        if self.running:
            self._reason = Exit("stopped")
            self.running = False
            self._stdin.write_eof()
        try:
            return await asyncio.wait_for(asyncio.shield(self._exited), grace)
        except TimeoutError:
            self._kill()
            return await asyncio.shield(self._exited)

    # ── What asyncio tells ──

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The child has been started."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        if pipe := self._transport.get_pipe_transport(_STDIN):
            self._stdin = cast(asyncio.WriteTransport, pipe)
            self._stdout = cast(asyncio.ReadTransport, self._transport.get_pipe_transport(_STDOUT))
            self._open = False

    def channel_made(self, transport: asyncio.Transport) -> None:
        """The child can be talked to."""
        self._channel = self._stdin = self._stdout = transport

    def channel_lost(self) -> None:
        """All that it wrote has been read."""
        self._open = False
        self._finish()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Bytes have come."""
        if fd == _STDERR:
            self._on_stderr(data)
        else:
            self.received(data)

    def received(self, data: bytes) -> None:
        """Bytes of frames have come."""
        if self.running:
            try:
                self.receiver.received(self._decoder.feed(data))
            except ProtocolError as error:
                self.end(Exit("protocol", str(error)))

    def pause_writing(self) -> None:
        """The child reads more slowly than it is written to."""
        self.receiver.writable(False)

    def resume_writing(self) -> None:
        """The child has caught up."""
        self.receiver.writable(True)

    def process_exited(self) -> None:
        """It has ended, whoever wanted that."""
        self._read_on()
        # Processes that it has started may still have its pipes open.
        self._abandoning = asyncio.get_running_loop().call_later(_LAST_WORDS, self._abandon)

    def connection_lost(self, _: BaseException | None) -> None:
        """The child has ended, and what Deno itself had to say has been read."""
        self._ended = True
        self._finish()

    def _read_on(self) -> None:
        """Read to the end, which is not seen otherwise."""
        if not self._reading:
            self._reading = True
            self._stdout.resume_reading()

    def _abandon(self) -> None:
        self._transport.close()
        if self._channel:
            self._channel.abort()

    def _finish(self) -> None:
        if self._open or not self._ended:
            return
        for timer in (self._watchdog, self._abandoning):
            if timer:
                timer.cancel()
        if self._proxy:
            self._proxy.close()
        self.inspector.cancel()
        self._transport.close()
        self._lifeline.close()
        self.running = False
        if not self._exited.done():
            self._exited.set_result(self._reason or self._cause(self._transport.get_returncode()))

    # ── Limits ──

    def _ping(self) -> None:
        if not self.running:
            return
        if self._reading:
            if self._pongs < self._pings:
                self.end(Exit("unresponsive", f"no answer within {self._limits.ping_timeout:g} s"))
                return
            self._pings += 1
            self.send(encode_frame([["ping", self._pings]]))
        self._watchdog = asyncio.get_running_loop().call_later(self._limits.ping_timeout, self._ping)

    def _on_stderr(self, data: bytes) -> None:
        """Keep what Deno itself says: of a crash it is the only trace."""
        self._stderr += data
        del self._stderr[:-_STDERR_TAIL_BYTES]
        if (
            self._proxy
            and not self.inspector.done()
            and self._proxy.learn_target(self._stderr.decode("utf-8", "replace"))
        ):
            self.inspector.set_result(self._proxy.address)

    def _cause(self, code: int | None) -> Exit:
        said = self._stderr.decode("utf-8", "replace").strip()[-2000:]
        if _OUT_OF_MEMORY.search(self._stderr):
            return Exit("crashed: out of memory", said)
        if code is not None and code < 0:
            return Exit(f"crashed: {_signal_name(-code)}", said)
        return Exit("exited", said or f"status {code}")

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            self._transport.kill()


class _NullReceiver:
    """The receiver of a child that nobody has asked anything."""

    def received(self, _: Sequence[WireFrame]) -> None:
        raise ProtocolError("it speaks before it is asked")

    def writable(self, _: bool) -> None:
        pass


class _Channel(asyncio.BufferedProtocol):
    """The socket that is the child's stdin and stdout. asyncio's own pipes to a child cost a turn of the loop more.

    It is read into one buffer: without it asyncio allocates a quarter of a megabyte for each frame, however small, and
    that takes longer than to answer most of them.
    """

    def __init__(self, child: DenoProcess) -> None:
        self._child = child
        self._buffer = memoryview(bytearray(_READ_AT_ONCE))
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
    """The host's end and the child's. Windows gives no socket to a child as its stdin: there it is pipes."""
    return socket.socketpair() if sys.platform != "win32" else (None, None)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
