"""Frames of the wire protocol: four bytes of length, then a JSON array of messages. Pure; knows no message by name."""

from __future__ import annotations

import gc
from typing import Any, Final, NamedTuple

from hatbox.javascript.wire_codec import decode, encode

__all__ = ["FrameDecoder", "ProtocolError", "WireFrame", "content_of", "decode_messages", "encode_frame"]

_HEADER_BYTES: Final = 4
_LARGE_BYTES: Final = 1 << 18


class ProtocolError(Exception):
    """The extension process sent data that violates the wire protocol."""


def encode_frame(messages: list[Any]) -> bytes:
    """Encode messages as one frame."""
    payload = encode(messages)
    return len(payload).to_bytes(_HEADER_BYTES, "little") + payload


def content_of(frame: bytes) -> bytes:
    """The JSON array of a frame, for transports that preserve the boundaries of messages."""
    return frame[_HEADER_BYTES:]


class WireFrame(NamedTuple):
    """The messages of a frame, and its size in bytes."""

    messages: list[Any]
    size: int


class FrameDecoder:
    """Decodes frames from bytes of any chunking, in linear time."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._chunks: list[bytes] = []
        self._have = 0
        self._need = 0
        """The size of the incomplete frame; 0 while its length is not known."""

    def feed(self, data: bytes) -> list[WireFrame]:
        """The frames that these bytes complete."""
        size = len(data) - _HEADER_BYTES
        if not self._chunks and int.from_bytes(data[:_HEADER_BYTES], "little") == size <= self._limit:
            return [WireFrame(decode_messages(data[_HEADER_BYTES:]), len(data))]  # one whole frame: the usual case
        self._chunks.append(data)
        self._have += len(data)
        if self._have < (self._need or _HEADER_BYTES):
            return []
        buffer = b"".join(self._chunks) if len(self._chunks) > 1 else data
        frames, start = [], 0
        while (end := self._end(buffer, start)) is not None:
            frames.append(WireFrame(decode_messages(memoryview(buffer)[start + _HEADER_BYTES : end]), end - start))
            start = end
        self._chunks = [buffer[start:]] if start < len(buffer) else []
        self._have = len(buffer) - start
        return frames

    def _end(self, buffer: bytes, start: int) -> int | None:
        """The end of the frame that starts at `start`; None if it is incomplete."""
        self._need = 0
        if len(buffer) - start < _HEADER_BYTES:
            return None
        size = int.from_bytes(buffer[start : start + _HEADER_BYTES], "little")
        if size > self._limit:
            raise ProtocolError(f"frame of {size} bytes exceeds the limit of {self._limit}")
        self._need = _HEADER_BYTES + size
        return start + self._need if len(buffer) - start >= self._need else None


def decode_messages(payload: bytes | memoryview) -> list[Any]:
    """Decode the content of a frame."""
    try:
        messages = decode(bytes(payload)) if len(payload) < _LARGE_BYTES else _decode_large(bytes(payload))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"frame is not JSON: {error}") from None
    if not isinstance(messages, list):
        raise ProtocolError("frame is not an array")
    return messages


def _decode_large(payload: bytes) -> Any:
    """Decode without garbage collection, which would take most of the time and find nothing."""
    if not gc.isenabled():
        return decode(payload)
    gc.disable()
    try:
        return decode(payload)
    finally:
        gc.enable()
