"""Ends an extension process that does not respond to pings, such as one in an endless loop."""

from __future__ import annotations

import asyncio
from typing import Protocol

from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.script_connection import ScriptConnection
from hatbox.extensions.runtime.wire_frames import encode_frame

__all__ = ["ReceivedMessages", "Watchdog"]


class ReceivedMessages(Protocol):
    """What the process has sent."""

    @property
    def received_frames(self) -> int:
        """The number of frames so far."""

    @property
    def is_host_behind(self) -> bool:
        """Whether frames wait for the host."""


class Watchdog:
    """Pings a process every `timeout` seconds, except while the host does not read from it.

    A process that sends messages is alive, and its response may wait behind them.
    """

    def __init__(self, connection: ScriptConnection, timeout: float, incoming: ReceivedMessages) -> None:
        self._connection = connection
        self._timeout = timeout
        self._incoming = incoming
        self._received = 0
        self._timer: asyncio.TimerHandle | None = None
        self._pings = 0
        self._pongs = 0

    def start(self) -> None:
        """Send the first ping."""
        self._ping()

    def on_pong(self, number: int) -> None:
        """The process responded to a ping."""
        self._pongs = max(self._pongs, min(number, self._pings))

    def stop(self) -> None:
        """Send no more pings."""
        if self._timer:
            self._timer.cancel()

    def _ping(self) -> None:
        if not self._connection.running:
            return
        before, self._received = self._received, self._incoming.received_frames
        if self._connection.reading and not self._incoming.is_host_behind:
            if self._pongs < self._pings and self._received == before:
                self._connection.end(Exit("unresponsive", f"no response within {self._timeout:g} s"))
                return
            self._pings += 1
            self._connection.send(encode_frame([[protocol.PING, self._pings]]))
        self._timer = asyncio.get_running_loop().call_later(self._timeout, self._ping)
