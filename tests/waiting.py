"""Waiting for a state that no event reports. It ends when the state is reached, however slow the machine is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

_SECONDS = 120  # a busy machine takes its time
_FIRST_INTERVAL = 0.002
_LONGEST_INTERVAL = 0.03  # checks must not take the CPU from what they wait for


async def until(condition: Callable[[], object]) -> None:
    """Poll until `condition` returns a true value."""

    async def check() -> object:
        return condition()

    await until_awaited(check)


async def in_time(work: Awaitable[T], what: str) -> T:
    """Await something. `what` says what has not happened if it takes too long."""
    limit = asyncio.timeout(_SECONDS)
    try:
        async with limit:
            return await work
    except TimeoutError:
        if not limit.expired():
            raise
        raise AssertionError(f"timed out: {what}") from None


async def until_awaited(check: Callable[[], Awaitable[T]]) -> T:
    """Poll until the result of `check` is true; returns it."""
    for interval in _intervals():
        if value := await check():
            return value
        await asyncio.sleep(interval)
    raise AssertionError("timed out")


def block_until(condition: Callable[[], object], what: str = "") -> None:
    """Poll until `condition` returns a true value, in a test without an event loop."""
    for interval in _intervals():
        if condition():
            return
        time.sleep(interval)
    raise AssertionError(f"timed out: {what}")


def _intervals() -> Iterator[float]:
    """The times between the checks, until it has been too long."""
    deadline = time.monotonic() + _SECONDS
    interval = _FIRST_INTERVAL
    while time.monotonic() < deadline:
        yield interval
        interval = min(interval * 1.5, _LONGEST_INTERVAL)
