"""Waiting for a state that no event reports. It ends when the state is reached, however slow the machine is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

_SECONDS = 45  # a busy machine takes its time
_INTERVAL = 0.002


async def until(condition: Callable[[], object]) -> None:
    """Poll until `condition` returns a true value."""

    async def check() -> object:
        return condition()

    await until_awaited(check)


async def until_awaited(check: Callable[[], Awaitable[T]]) -> T:
    """Poll until the result of `check` is true; returns it."""
    deadline = time.monotonic() + _SECONDS
    while not (value := await check()):
        assert time.monotonic() < deadline, "timed out"
        await asyncio.sleep(_INTERVAL)
    return value


def block_until(condition: Callable[[], object], what: str = "") -> None:
    """Poll until `condition` returns a true value, in a test without an event loop."""
    deadline = time.monotonic() + _SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"timed out: {what}"
        time.sleep(_INTERVAL)
