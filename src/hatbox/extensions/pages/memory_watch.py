"""Ends a document of Chromium that exceeds its memory limit. Chromium itself allows each one about 4 GB."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from hatbox.engines.chromium.hidden_target import HiddenTarget
from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.limits import RuntimeLimits

__all__ = ["MemoryWatch"]

_INTERVAL: Final = 0.5  # seconds


class MemoryWatch:
    """Reads the memory of a document in an interval. `end` is called once if it exceeds a limit.

    Performance.getMetrics responds while a script is in a loop; Runtime.getHeapUsage, which counts ArrayBuffers too,
    does not.
    """

    def __init__(self, target: HiddenTarget, limits: RuntimeLimits, end: Callable[[Exit], None]) -> None:
        self._target = target
        self._limits = limits
        self._end = end
        self._timer: asyncio.TimerHandle | None = None
        self._pending: set[str] = set()
        self._read()

    def stop(self) -> None:
        """Stop reading."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _read(self) -> None:
        self._request("Performance.getMetrics", _metrics_bytes, self._limits.heap)
        self._request("Runtime.getHeapUsage", _usage_bytes, self._limits.memory)
        self._timer = asyncio.get_running_loop().call_later(_INTERVAL, self._read)

    def _request(self, method: str, bytes_in: Callable[[Any], float], limit: int) -> None:
        if method in self._pending:
            return
        self._pending.add(method)
        self._target.send(method).add_done_callback(lambda done: self._on_reply(method, done, bytes_in, limit))

    def _on_reply(self, method: str, done: asyncio.Future[Any], bytes_in: Callable[[Any], float], limit: int) -> None:
        self._pending.discard(method)
        if done.cancelled() or done.exception() is not None or self._timer is None:
            return
        used = bytes_in(done.result())
        if used > limit:
            self.stop()
            self._end(Exit("crashed: out of memory", f"{used / (1 << 20):.0f} MiB of {limit >> 20} MiB"))


def _metrics_bytes(result: dict[str, Any]) -> float:
    return next((each["value"] for each in result["metrics"] if each["name"] == "JSHeapUsedSize"), 0.0)


def _usage_bytes(result: dict[str, Any]) -> float:
    return float(sum(result.get(name, 0) for name in ("usedSize", "embedderHeapUsedSize", "backingStorageSize")))
