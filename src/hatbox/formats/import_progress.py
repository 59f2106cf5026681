"""The progress of an import, reported outside its transaction: a transaction function may run more than once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

__all__ = ["ImportProgress"]

T = TypeVar("T")

_INTERVAL_SECONDS: Final = 0.1


class ImportProgress:
    """Counts merged cookies. Each is reported once, however often the transaction runs."""

    def __init__(self, report: Callable[[int], None]) -> None:
        self.merged = 0
        """How many cookies the current run of the transaction function has merged. Set in the store's thread."""
        self._report = report
        self._reported = 0

    async def follow(self, importing: asyncio.Future[T]) -> T:
        """Wait for an import, and report its progress on the event loop."""
        try:
            while not importing.done():
                await asyncio.wait([importing], timeout=_INTERVAL_SECONDS)
                if (new := self.merged - self._reported) > 0:
                    self._reported = self.merged
                    self._report(new)
            return importing.result()
        finally:
            importing.cancel()
