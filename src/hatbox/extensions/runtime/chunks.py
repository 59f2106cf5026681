"""Assembles changes of localStorage from chunks, because a change can be larger than a frame. Pure."""

from __future__ import annotations

import json
from typing import Final

from hatbox.extensions.runtime.wire_frames import ProtocolError

__all__ = ["ChunkAssembler"]

_MAX_CHARACTERS: Final = 64 << 20  # the quota of five million code units, each escaped as \uXXXX, and a reserve


class ChunkAssembler:
    """Joins the chunks of a change. They are not trusted."""

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self._size = 0

    def add(self, chunk: str, *, last: bool) -> tuple[str | None, str | None] | None:
        """The complete change: a key and its value, or None if it is removed; no key if all are removed."""
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size > _MAX_CHARACTERS:
            raise ProtocolError("localStorage change is too large")
        if not last:
            return None
        text, self._chunks, self._size = "".join(self._chunks), [], 0
        try:
            change = json.loads(text)
        except (ValueError, RecursionError):
            change = None
        match change:
            case [str() as key, str() | None as value]:
                return key, value
            case [None, None]:
                return None, None
        raise ProtocolError("invalid localStorage change")
