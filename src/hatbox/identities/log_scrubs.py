"""Deletes what the change log says about identities that were deleted for ever, some seconds after their removal.

The removal is in the log too, with names and cookies, because listeners in other processes receive it from there. The
transaction of the removal stores a record: if the process is killed, the next clean-up of the profile scrubs the log.
Many removals are scrubbed together, because that reads the whole log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

from hatbox.errors import ProfileClosed, ProfileError
from hatbox.store.base import Store, Transaction
from hatbox.tabs.program_records import ProgramRecord, delete_record, find_records, put_record

__all__ = ["LogScrubs", "is_scrub", "note_deletion", "scrub_log"]

logger = logging.getLogger("hatbox.identities")

_PREFIX: Final = "scrub:"
_DELAY: Final = 10.0  # seconds between two scrubs
_DELIVERY: Final = 0.1  # seconds in which other processes receive a removal


def note_deletion(transaction: Transaction, user_context_id: int) -> None:
    """Store that an identity is deleted for ever by this process."""
    put_record(transaction, f"{_PREFIX}{user_context_id}", ProgramRecord(transaction.processes.current))


def is_scrub(key: str) -> bool:
    """Whether a program record is one of a deletion."""
    return key.startswith(_PREFIX)


def scrub_log(transaction: Transaction, keys: Sequence[str]) -> None:
    """Scrub the log for these records, and delete them."""
    if not keys:
        return
    from hatbox.tabs.log_scrubbing import scrub_identities

    scrub_identities(transaction, [int(key.removeprefix(_PREFIX)) for key in keys])
    for key in keys:
        delete_record(transaction, key)


class LogScrubs:
    """Scrubs the log for the removals of one process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._timer: asyncio.TimerHandle | None = None
        self._running: asyncio.Task[None] | None = None

    def after(self, removal: asyncio.Future[Any]) -> asyncio.Future[Any]:
        """Scrub the log some time after a removal, if it deletes an identity for ever. Returns the removal."""
        removal.add_done_callback(self._start)
        return removal

    async def finish(self) -> None:
        """Scrub the log now, if that is due. Called before the store is closed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._running = asyncio.create_task(self._run(_DELIVERY))
        if self._running is not None:
            await self._running

    def _start(self, removal: asyncio.Future[Any]) -> None:
        if self._timer is None and not removal.cancelled() and removal.exception() is None:
            self._timer = asyncio.get_running_loop().call_later(_DELAY, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self._running = asyncio.create_task(self._run(0))

    async def _run(self, delay: float) -> None:
        try:
            if await self._store.read(_own_records):
                await asyncio.sleep(delay)
                await self._store.write(lambda transaction: scrub_log(transaction, _own_records(transaction)))
        except ProfileClosed:
            return
        except ProfileError as error:  # the next clean-up tries again
            logger.warning("%s: scrubbing the change log failed: %s", self._store.label, error)


def _own_records(transaction: Transaction) -> list[str]:
    current = transaction.processes.current
    return [key for key, record in find_records(transaction) if is_scrub(key) and record.process == current]
