"""The frames that a process sends, and the end of the process. Knows neither its channel nor how it was started."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.script_connection import Receiver
from hatbox.extensions.runtime.wire_frames import FrameDecoder, ProtocolError

__all__ = ["FramedProcess"]


class FramedProcess(ABC):
    """A running process, until `exited` is done. The base of protocols of asyncio."""

    receiver: Receiver
    """Receives the frames. A process sends nothing before it receives a message."""

    def __init__(self, limits: RuntimeLimits) -> None:
        self._limits = limits
        self._decoder = FrameDecoder(limits.frame)
        self._exited: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self._reason: Exit | None = None
        self.running = True
        """Whether the process has not ended and is not being ended."""

    @property
    def exited(self) -> asyncio.Future[Exit]:
        """Done when the process has ended. Cancelling one waiter does not affect the others."""
        return self._exited if self._exited.done() else asyncio.shield(self._exited)

    @abstractmethod
    def end(self, reason: Exit) -> None:
        """Kill the process. The first reason is the one that `exited` reports."""

    def received(self, data: bytes) -> None:
        """Receive bytes of frames."""
        if self.running:
            try:
                self.receiver.received(self._decoder.feed(data))
            except ProtocolError as error:
                self.end(Exit("protocol", str(error)))

    def pause_writing(self) -> None:
        """The process reads more slowly than it is written to."""
        self.receiver.writable(False)

    def resume_writing(self) -> None:
        """The process reads again."""
        self.receiver.writable(True)
