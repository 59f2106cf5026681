"""Ends an extension process that does not respond to pings, such as one in an endless loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.script_connection import ScriptConnection
from hatbox.extensions.runtime.wire_frames import encode_frame

__all__ = ["Watchdog"]


class Watchdog:
    """Pings a process every `timeout` seconds, except while the host does not read from it.

    `is_host_behind` returns whether messages of the process, of which the response may be one, wait for the host.
    """

    def __init__(self, connection: ScriptConnection, timeout: float, is_host_behind: Callable[[], bool]) -> None:
        self._connection = connection
        self._timeout = timeout
        self._is_host_behind = is_host_behind
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
        if self._connection.reading and not self._is_host_behind():
            if self._pongs < self._pings:
                self._connection.end(Exit("unresponsive", f"no response within {self._timeout:g} s"))
                return
            self._pings += 1
            self._connection.send(encode_frame([[protocol.PING, self._pings]]))
        self._timer = asyncio.get_running_loop().call_later(self._timeout, self._ping)
