"""Frames, the unit in which messages travel between host and child: four bytes of length, then an array as JSON.

Pure: bytes in, messages out. Knows neither processes nor what a message means.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple, NoReturn

import msgspec

from hatbox.extensions.runtime.values import encode_special, revive

__all__ = ["Frame", "FrameDecoder", "ProtocolError", "encode_frame"]

_HEADER: Final = 4
_MARKED: Final = re.compile(
    rb'"\\u0000'
)  # how the key of a special value begins (see values.py); nothing else costs a second look

_WORTH_NO_COPY: Final = 1 << 16
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")

_encode = msgspec.json.Encoder(enc_hook=encode_special).encode
_decode = msgspec.json.Decoder().decode


class ProtocolError(Exception):
    """What came out of the pipe is not what our own half of the bridge would have written."""


def encode_frame(messages: list[Any]) -> bytes:
    """A frame that holds these messages."""
    try:
        payload = _encode(messages)
    except UnicodeEncodeError:  # half a pair of surrogates, which a string of JavaScript may be
        text = json.dumps(messages, default=encode_special, allow_nan=False, separators=(",", ":"))
        payload = text.encode("ascii")
    return len(payload).to_bytes(_HEADER, "little") + payload


class Frame(NamedTuple):
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

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that these bytes complete."""
        size = len(data) - _HEADER
        if not self._pieces and int.from_bytes(data[:_HEADER], "little") == size <= self._limit:
            return [Frame(_messages(data[_HEADER:]), len(data))]  # one whole frame, as nearly always
        self._pieces.append(data)
        self._have += len(data)
        if self._have < (self._need or _HEADER):
            return []
        buffer = b"".join(self._pieces) if len(self._pieces) > 1 else data
        frames, start = [], 0
        while (end := self._end(buffer, start)) is not None:
            frames.append(Frame(_messages(memoryview(buffer)[start + _HEADER : end]), end - start))
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
    if len(payload) < _WORTH_NO_COPY:
        payload = bytes(payload)
    try:
        messages = _parse(payload)
        if _MARKED.search(payload):
            messages = revive(messages)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"a frame that is no JSON ({error})") from None
    if not isinstance(messages, list):
        raise ProtocolError("a frame that is no array")
    return messages


def _parse(payload: bytes | memoryview) -> Any:
    try:
        return _decode(payload)
    except msgspec.DecodeError:
        if _SURROGATE.search(payload):  # half a pair is no text to msgspec, but it is to JavaScript
            return json.loads(bytes(payload), parse_constant=_refuse)
        raise


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
