"""The interface between a runtime and the place where its scripts run. Contains only declarations.

An extension process (deno.py) is one implementation, a document in Chromium (pages/cdp_connection.py) is another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.wire_frames import WireFrame

__all__ = ["Receiver", "ScriptConnection"]


class Receiver(Protocol):
    """Receives the frames of scripts."""

    @property
    def is_behind(self) -> bool:
        """Whether received frames wait to be handled."""

    def received(self, frames: Sequence[WireFrame]) -> None:
        """Handle frames. Raises ProtocolError to end the connection."""

    def writable(self, ready: bool) -> None:
        """The scripts have stopped reading what they are sent, or resumed."""


class ScriptConnection(Protocol):
    """Sends frames to scripts and receives theirs, until `exited` is done."""

    receiver: Receiver
    """Receives the frames."""

    @property
    def running(self) -> bool:
        """Whether it has not ended and is not being stopped."""

    @property
    def reading(self) -> bool:
        """Whether the frames of the scripts are read."""

    @property
    def exited(self) -> asyncio.Future[Exit]:
        """Done when it has ended. Cancelling one waiter does not affect the others."""

    def send(self, frame: bytes) -> None:
        """Send a frame (wire_frames.encode_frame), unless it has ended."""

    def set_reading(self, wanted: bool) -> None:
        """Pause or resume reading the frames of the scripts."""

    def end(self, reason: Exit) -> None:
        """End it. The first reason is the one that `exited` reports."""

    async def stop(self, timeout: float = 1.0) -> Exit:
        """End it in good order, and by force after the timeout."""
