"""Waiting for a state that no event reports. It ends when the state is reached, however slow the machine is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

_SECONDS = 45  # a busy machine takes its time
_INTERVALS = (0.002, 0.03)  # the first, and the longest: the check must not take the CPU from what it waits for
_LONGER = 1.5


async def until(condition: Callable[[], object]) -> None:
    """Poll until `condition` returns a true value."""

    async def check() -> object:
        return condition()

    await until_awaited(check)


async def until_awaited(check: Callable[[], Awaitable[T]]) -> T:
    """Poll until the result of `check` is true; returns it."""
    intervals = _intervals("")
    while not (value := await check()):
        await asyncio.sleep(next(intervals))
    return value


def block_until(condition: Callable[[], object], what: str = "") -> None:
    """Poll until `condition` returns a true value, in a test without an event loop."""
    intervals = _intervals(what)
    while not condition():
        time.sleep(next(intervals))


def _intervals(what: str) -> Iterator[float]:
    """How long to wait before each of the next checks."""
    deadline = time.monotonic() + _SECONDS
    interval, longest = _INTERVALS
    while time.monotonic() < deadline:
        yield interval
        interval = min(interval * _LONGER, longest)
    raise AssertionError(f"timed out: {what}" if what else "timed out")
