"""Pauses the reading from a connection while there is a reason to."""

from __future__ import annotations

from hatbox.extensions.runtime.script_connection import ScriptConnection

__all__ = ["ReadingPauses"]


class ReadingPauses:
    """The reasons for which a connection is not read."""

    def __init__(self, connection: ScriptConnection) -> None:
        self._connection = connection
        self._reasons: set[str] = set()

    def set(self, reason: str, is_paused: bool) -> None:
        """Add or remove a reason."""
        if (reason in self._reasons) == is_paused:
            return
        if is_paused:
            self._reasons.add(reason)
        else:
            self._reasons.discard(reason)
        self._connection.set_reading(not self._reasons)
