"""The process of a native application: messages on its standard input and output, each after its length.

Knows neither ports nor extensions.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import struct
from collections.abc import Awaitable
from pathlib import Path
from typing import Final, cast

from hatbox import child_processes
from hatbox.errors import ApiError

__all__ = ["MAX_MESSAGE_BYTES", "NativeProcess"]

logger = logging.getLogger("hatbox.messaging")

MAX_MESSAGE_BYTES: Final = 1 << 20
"""The longest message that an application may send, as in Firefox."""

_LENGTH: Final = struct.Struct("=I")
_GRACE_SECONDS: Final = 3.0  # between the end of its input and SIGTERM, and again before SIGKILL
_MAX_LOGGED: Final = 1000
_STDERR_BYTES: Final = 1 << 16


class NativeProcess:
    """A running native application, in a process group of its own."""

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        self._process = process
        self._input = cast(asyncio.StreamWriter, process.stdin)
        self._output = cast(asyncio.StreamReader, process.stdout)
        self._name = name
        self._draining: asyncio.Future[None] | None = None
        self._stderr = asyncio.ensure_future(self._log_stderr(cast(asyncio.StreamReader, process.stderr)))

    @classmethod
    async def start(cls, name: str, program: str, *arguments: str) -> NativeProcess:
        """Start a program. Raises OSError."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=Path(program).parent,
            env=child_processes.foreign_environment(),
            start_new_session=True,
        )
        child_processes.add(process.pid, f"the native application {name}")
        return cls(process, name)

    def write(self, message: bytes) -> Awaitable[None] | None:
        """Send a message. Returns what to wait for before the next one, if the application reads slowly."""
        transport = self._input.transport
        if transport.is_closing():
            return None
        self._input.write(_LENGTH.pack(len(message)) + message)
        _, high = transport.get_write_buffer_limits()
        if transport.get_write_buffer_size() <= high:
            return None
        # A task, as not every sender waits: an application may answer before it has read everything.
        if self._draining is None or self._draining.done():
            self._draining = asyncio.ensure_future(self._drain())
        return asyncio.shield(self._draining)

    async def read(self) -> bytes | None:
        """The next message; None after the last one. Raises ApiError if a message is too long."""
        try:
            (length,) = _LENGTH.unpack(await self._output.readexactly(_LENGTH.size))
            if length > MAX_MESSAGE_BYTES:
                raise ApiError(
                    f"Native application tried to send a message of {length} bytes, which exceeds the limit of "
                    f"{MAX_MESSAGE_BYTES} bytes."
                )
            return await self._output.readexactly(length)
        except (asyncio.IncompleteReadError, OSError):
            return None

    async def stop(self) -> None:
        """Close its input, and wait until the process has ended. It is killed if it does not end in time."""
        self._input.close()
        for kill in (signal.SIGTERM, signal.SIGKILL):
            drained = asyncio.ensure_future(self._discard_output())
            try:
                await asyncio.wait_for(self._process.wait(), _GRACE_SECONDS)
                break
            except TimeoutError:
                self._signal(kill)
            finally:
                drained.cancel()
        await self._process.wait()
        self._signal(signal.SIGKILL)  # what it started, if that is still in its process group
        self._stderr.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError):
            await self._stderr

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _drain(self) -> None:
        with contextlib.suppress(OSError):
            await self._input.drain()

    async def _discard_output(self) -> None:
        """Read on: a process that cannot write does not end."""
        with contextlib.suppress(OSError):
            while await self._output.read(_STDERR_BYTES):
                pass

    async def _log_stderr(self, stderr: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):
            while contents := await stderr.read(_STDERR_BYTES):
                text = contents.decode("utf-8", "replace").strip()
                logger.info("stderr output from native app %s: %.*s", self._name, _MAX_LOGGED, text)
