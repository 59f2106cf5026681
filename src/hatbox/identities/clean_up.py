"""Removes what is left in a profile: tabs and temporary identities of ended programs, and expired trash.

It also deletes grants that ended 30 days ago, and entries of the activity log that are older, and scrubs the change log
for identities that a program deleted for ever before it was killed.

Runs when a profile is opened, when an engine starts, and each hour while a profile is open. What is needed only if
something is left is imported then.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from hatbox.errors import ProfileClosed, ProfileError
from hatbox.identities.expiry import ExpiryMark, trusted_time
from hatbox.identities.trash_state import is_due
from hatbox.store.base import Store, Transaction
from hatbox.store.grant_tables import RECORD_SECONDS
from hatbox.tabs.program_records import ProgramRecord, abandoned_records

__all__ = ["CleanUp", "clean_up"]

logger = logging.getLogger("hatbox.identities")

_INTERVAL: Final = 3600.0  # seconds
_RECORD_EXPIRY: Final = ExpiryMark("record_expiry")  # of grants that have ended, and of the activity log


class CleanUp:
    """Cleans up a profile when it is opened, and then at intervals."""

    def __init__(self, store: Store, interval: float = _INTERVAL) -> None:
        self._store = store
        self._interval = interval
        self._timer: asyncio.TimerHandle | None = None
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Clean up once, and start the timer."""
        await clean_up(self._store)
        self._timer = asyncio.get_running_loop().call_later(self._interval, self._on_time)

    async def stop(self) -> None:
        """Stop the timer, and wait until nothing is cleaned up."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            if self._running is not None:
                await self._running

    def _on_time(self) -> None:
        self._running = asyncio.create_task(self._run())

    async def _run(self) -> None:
        await clean_up(self._store)
        if self._timer is not None:
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._on_time)


async def clean_up(store: Store, *, at_once: bool = False) -> None:
    """Clean up, if anything is left. A failure is logged: the next call tries again.

    With `at_once`, the user has changed a limit of the trash: what has expired by it is not delayed.
    """
    # Read once: a store on a network runs the function several times, and caches its queries by their values.
    now = store.time()
    expired = now - RECORD_SECONDS
    try:
        left, has_old_entry, has_old_grant, seen = await asyncio.gather(
            # Several reads, because a store on a network sends their queries together.
            store.read(lambda each: bool(_left(each)) or is_due(each, at_once=at_once)),
            store.read(lambda each: each.activity.has_older(expired), single_statement=True),
            store.read(lambda each: bool(each.grants.ended_before(expired)), single_statement=True),
            store.read(_RECORD_EXPIRY.get, single_statement=True),
        )
        has_old = has_old_entry or has_old_grant
        if has_old and seen is not None and seen <= now:
            is_record_due = await store.read(lambda each: trusted_time(each, now, seen) is not None)
        else:
            is_record_due = has_old or seen is not None
        if left or is_record_due:
            await store.write(lambda each: _remove_left(each, now, at_once=at_once))
    except ProfileClosed:
        return
    except ProfileError as error:
        logger.warning("%s: cleaning up failed: %s", store.label, error)


def _left(transaction: Transaction) -> list[tuple[str, ProgramRecord]]:
    found = abandoned_records(transaction)
    if not found:
        return []
    from hatbox.identities.temporary import is_unused

    return [(key, record) for key, record in found if not record.identity or is_unused(transaction, key, record)]


def _remove_left(transaction: Transaction, now: float, *, at_once: bool) -> None:
    from hatbox.identities.log_scrubs import is_scrub, scrub_log
    from hatbox.identities.temporary import remove_temporary
    from hatbox.identities.trash_rows import expire
    from hatbox.tabs.script_tabs import close_script_tabs

    left = _left(transaction)
    scrub_log(transaction, [key for key, _ in left if is_scrub(key)])
    for key, record in left:
        if is_scrub(key):
            continue
        if record.identity:
            remove_temporary(transaction, key)
        else:
            close_script_tabs(transaction, key)
    _delete_records(transaction, now)
    if is_due(transaction, at_once=at_once):
        expire(transaction, at_once=at_once)


def _delete_records(transaction: Transaction, now: float) -> None:
    time = trusted_time(transaction, now, _RECORD_EXPIRY.get(transaction))
    if time is not None:
        transaction.activity.delete_older(time - RECORD_SECONDS)
        transaction.grants.delete(transaction.grants.ended_before(time - RECORD_SECONDS))
    expired = now - RECORD_SECONDS
    is_waiting = transaction.activity.has_older(expired) or bool(transaction.grants.ended_before(expired))
    _RECORD_EXPIRY.note(transaction, now, is_waiting=is_waiting)
