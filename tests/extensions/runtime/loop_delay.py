"""How long a hostile script keeps the event loop of the host from other tasks, on machines of any speed."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["LoopDelay"]

_LIMIT: Final = 0.05  # seconds, on a machine that does the reference work in its seconds
_INTERVAL: Final = 0.005
_REFERENCE: Final = "[" + ",".join(["[]"] * 20_000) + "]"
_REFERENCE_SECONDS: Final = 0.0015
_ATTEMPTS: Final = 4


class LoopDelay:
    """For how long, at most, the host's loop did not get to a task that wants to run every few milliseconds.

    Only time in which the loop's thread was at work: on a busy machine it may have to wait for others.
    """

    def __init__(self, times: float = 1) -> None:
        self._times = times
        self._worst = 0.0

    def attempts(self, folder: Path) -> Iterator[Path]:
        """Yield folders, one per attempt, until the loop was not delayed for longer than `times` the limit.

        A virtual machine that is not given its processors counts this as work of its threads. So one attempt of several
        is enough: what a script causes, it causes each time.
        """
        delays = []
        for number in range(_ATTEMPTS):
            self._worst = 0.0
            own = folder / str(number)
            own.mkdir()
            yield own
            limit = self._times * _LIMIT * max(1.0, _reference() / _REFERENCE_SECONDS)
            delays.append(f"{self._worst * 1000:.0f} of {limit * 1000:.0f} ms")
            if self._worst < limit:
                return
        raise AssertionError(f"the loop was delayed in each attempt: {', '.join(delays)}")

    async def __aenter__(self) -> None:
        gc.collect()
        gc.freeze()  # what other tests have left behind is not what is measured; it stays frozen, as in conftest.py
        self._task = asyncio.ensure_future(self._sample())

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()

    async def _sample(self) -> None:
        while True:
            start, worked = time.perf_counter(), time.thread_time()
            await asyncio.sleep(_INTERVAL)
            late = time.perf_counter() - start - _INTERVAL
            self._worst = max(self._worst, min(late, time.thread_time() - worked))


def _reference() -> float:
    """How long this machine takes for a known piece of work, in seconds."""
    found = []
    for _ in range(5):
        started = time.thread_time()
        json.loads(_REFERENCE)
        found.append(time.thread_time() - started)
    return min(found)
