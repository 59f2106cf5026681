"""Async tests without a plugin: a decorator that runs one in an event loop of its own, and never for ever."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec

P = ParamSpec("P")

LIMIT_SECONDS = 120  # far more than any test needs: one that takes so long waits for something that never comes


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """The test as a plain function."""

    @functools.wraps(test)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*arguments, **named), LIMIT_SECONDS))

    return run
