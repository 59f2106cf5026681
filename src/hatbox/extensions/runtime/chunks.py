"""Changes of localStorage, which can be larger than a frame and so come in pieces. Pure: the child is not trusted."""

from __future__ import annotations

import json
from typing import Final

from hatbox.extensions.runtime.wire_frames import ProtocolError

__all__ = ["ChunkAssembler"]

_MOST: Final = 64 << 20  # characters: five million code units, each as \uXXXX, and room


class ChunkAssembler:
    """Puts pieces together."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0

    def add(self, piece: str, *, last: bool) -> tuple[str | None, str | None] | None:
        """The change that is whole now: a key and its value, None for one that is removed; no key means all."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > _MOST:
            raise ProtocolError("a change of localStorage that is too large")
        if not last:
            return None
        text, self._pieces, self._size = "".join(self._pieces), [], 0
        try:
            change = json.loads(text)
        except (ValueError, RecursionError):
            change = None
        match change:
            case [str() as key, str() | None as value]:
                return key, value
            case [None, None]:
                return None, None
        raise ProtocolError("a change of localStorage that is none")
