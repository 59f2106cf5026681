"""How an extension process ended, and why: derived from its exit status and the end of its stderr."""

from __future__ import annotations

import re
import signal
from typing import Final, NamedTuple

__all__ = ["Exit", "StderrTail"]

_TAIL_BYTES: Final = 16384
_DETAIL_CHARACTERS: Final = 2000
_OUT_OF_MEMORY: Final = re.compile(rb"out of memory|OOM|(memory|array buffer) allocation", re.IGNORECASE)


class Exit(NamedTuple):
    """How a process ended. `reason` is `stopped`, `exited`, `unresponsive`, `protocol`, or starts with `crashed`."""

    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


class StderrTail:
    """The end of the stderr of Deno, which explains a crash."""

    def __init__(self) -> None:
        self._data = bytearray()

    @property
    def text(self) -> str:
        """The stored output."""
        return self._data.decode("utf-8", "replace")

    def add(self, data: bytes) -> None:
        """Append output, and discard the oldest."""
        self._data += data
        del self._data[:-_TAIL_BYTES]

    def explain(self, status: int | None) -> Exit:
        """Why a process ended that was not stopped."""
        detail = self.text.strip()[-_DETAIL_CHARACTERS:]
        if _OUT_OF_MEMORY.search(self._data):
            return Exit("crashed: out of memory", detail)
        if status is not None and status < 0:
            return Exit(f"crashed: {_signal_name(-status)}", detail)
        return Exit("exited", detail or f"status {status}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
