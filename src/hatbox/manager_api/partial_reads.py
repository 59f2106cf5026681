"""Reads of many rows in parts: no part blocks the event loop, or the writes of others, for long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from hatbox.store.base import Store, Transaction

__all__ = ["PART", "read_parts"]

PART: Final = 100
"""The number of items that one transaction reads."""
_MAX_WAITING: Final = 16  # a store on a network answers as many in one trip

Item = TypeVar("Item")
T = TypeVar("T")


async def read_parts(
    store: Store, items: Sequence[Item], function: Callable[[Transaction, Sequence[Item]], T]
) -> list[T]:
    """The results of a transaction function for parts of `items`, in order. Other tasks run between two parts.

    The parts are no snapshot of one state. A caller that listens to events is notified of what changes meanwhile.
    """
    waiting: list[asyncio.Future[T]] = []
    results: list[T] = []
    for start in range(0, len(items), PART):
        waiting.append(_read(store, items[start : start + PART], function))
        await asyncio.sleep(0)
        if len(waiting) == _MAX_WAITING or waiting[0].done():
            results += await asyncio.gather(*waiting)
            waiting.clear()
    return results + await asyncio.gather(*waiting)


def _read(
    store: Store, part: Sequence[Item], function: Callable[[Transaction, Sequence[Item]], T]
) -> asyncio.Future[T]:
    return store.read(lambda transaction: function(transaction, part))
