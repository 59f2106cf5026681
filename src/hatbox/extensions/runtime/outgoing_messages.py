"""Messages to an extension process. Messages of one turn of the event loop share a frame; their order is preserved."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.script_connection import ScriptConnection
from hatbox.extensions.runtime.wire_frames import encode_frame

__all__ = ["UNEXPECTED", "OutgoingMessages"]

logger = logging.getLogger("hatbox.extensions")

UNEXPECTED = "An unexpected error occurred"
"""The message of errors whose text is not meant for scripts. It matches Firefox."""

_NOT_ENCODABLE = (TypeError, ValueError, NotImplementedError, RecursionError)


class OutgoingMessages:
    """Queues messages to a process, and sends them as frames."""

    def __init__(self, connection: ScriptConnection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._flush_scheduled = False
        self.queued: list[list[Any]] = []
        """Messages for the next frame."""

    def send(self, message: list[Any]) -> None:
        """Send a message now, after the queued ones."""
        self.queued.append(message)
        self.flush()

    def send_soon(self, message: list[Any]) -> None:
        """Send a message with the others of this turn of the event loop."""
        self.queued.append(message)
        if not self._flush_scheduled:
            self._flush_scheduled = True
            self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """Send the queued messages as one frame."""
        self._flush_scheduled = False
        messages = self.queued
        if messages:
            self.queued = []
            try:
                frame = encode_frame(messages)
            except _NOT_ENCODABLE:
                messages = [_encodable(message) for message in messages]
                frame = encode_frame(messages)
            self._connection.send(self._limited(messages, frame))

    def _limited(self, messages: list[list[Any]], frame: bytes) -> bytes:  # noqa: ARG002 - for subclasses
        """The frame with these messages, or a smaller one in its place."""
        return frame


def _encodable(message: list[Any]) -> list[Any]:
    """The message, or its replacement if it cannot be encoded."""
    try:
        encode_frame([message])
    except _NOT_ENCODABLE as error:
        logger.error("bridge: encoding a message failed: %s", error)
        if message[0] == protocol.RESULT:
            return [protocol.RESULT, message[1], False, UNEXPECTED]
        return [protocol.NO_OP]
    return message
