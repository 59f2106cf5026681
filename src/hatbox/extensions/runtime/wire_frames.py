"""Frames, the unit in which messages travel between host and child: four bytes of length, then an array as JSON.

Pure: bytes in, messages out. Knows neither processes nor what a message means.
"""

from __future__ import annotations

import gc
from typing import Any, Final, NamedTuple

from hatbox.javascript.wire_codec import decode, encode

__all__ = ["FrameDecoder", "ProtocolError", "WireFrame", "encode_frame"]

_HEADER: Final = 4
_LARGE: Final = 1 << 18


class ProtocolError(Exception):
    """What came out of the pipe is not what our own half of the bridge would have written."""


def encode_frame(messages: list[Any]) -> bytes:
    """A frame that holds these messages."""
    payload = encode(messages)
    return len(payload).to_bytes(_HEADER, "little") + payload


class WireFrame(NamedTuple):
    """What a frame held, and its size in bytes."""

    messages: list[Any]
    size: int


class FrameDecoder:
    """Takes bytes as they come and gives the frames that are complete. However they come, its cost is linear."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._have = 0
        self._need = 0
        """The size of the frame that has begun; 0 while even its length is not known."""

    def feed(self, data: bytes) -> list[WireFrame]:
        """The frames that these bytes complete."""
        size = len(data) - _HEADER
        if not self._pieces and int.from_bytes(data[:_HEADER], "little") == size <= self._limit:
            return [WireFrame(_messages(data[_HEADER:]), len(data))]  # one whole frame, as nearly always
        self._pieces.append(data)
        self._have += len(data)
        if self._have < (self._need or _HEADER):
            return []
        buffer = b"".join(self._pieces) if len(self._pieces) > 1 else data
        frames, start = [], 0
        while (end := self._end(buffer, start)) is not None:
            frames.append(WireFrame(_messages(memoryview(buffer)[start + _HEADER : end]), end - start))
            start = end
        self._pieces = [buffer[start:]] if start < len(buffer) else []
        self._have = len(buffer) - start
        return frames

    def _end(self, buffer: bytes, start: int) -> int | None:
        """Where the frame that begins at `start` ends; None if it is not all there."""
        self._need = 0
        if len(buffer) - start < _HEADER:
            return None
        size = int.from_bytes(buffer[start : start + _HEADER], "little")
        if size > self._limit:
            raise ProtocolError(f"a frame of {size} bytes, and {self._limit} are allowed")
        self._need = _HEADER + size
        return start + self._need if len(buffer) - start >= self._need else None


def _messages(payload: bytes | memoryview) -> list[Any]:
    try:
        messages = decode(bytes(payload)) if len(payload) < _LARGE else _decode_large(bytes(payload))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"a frame that is no JSON ({error})") from None
    if not isinstance(messages, list):
        raise ProtocolError("a frame that is no array")
    return messages


def _decode_large(payload: bytes) -> Any:
    """What is new and not yet anybody's holds no garbage: looking for some, again and again, took most of the time."""
    if not gc.isenabled():
        return decode(payload)
    gc.disable()
    try:
        return decode(payload)
    finally:
        gc.enable()
