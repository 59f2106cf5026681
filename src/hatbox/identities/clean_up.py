"""Removes what ended programs have left in a profile: tabs of scripts and temporary identities."""

from __future__ import annotations

import logging

from hatbox.errors import ProfileError
from hatbox.identities.temporary import is_unused, remove_temporary
from hatbox.store.base import Store, Transaction
from hatbox.tabs.program_records import ProgramRecord, abandoned_records
from hatbox.tabs.script_tabs import close_script_tabs

__all__ = ["clean_up"]

logger = logging.getLogger("hatbox.identities")


async def clean_up(store: Store) -> None:
    """Clean up, if anything is left. A failure is logged: the next call tries again."""
    try:
        if await store.read(_left):
            await store.write(_remove_left)
    except ProfileError as error:
        logger.warning("cleaning up after ended programs failed: %s", error)


def _left(transaction: Transaction) -> list[tuple[str, ProgramRecord]]:
    found = abandoned_records(transaction)
    return [(key, record) for key, record in found if not record.identity or is_unused(transaction, key, record)]


def _remove_left(transaction: Transaction) -> None:
    for key, record in _left(transaction):
        if record.identity:
            remove_temporary(transaction, key)
        else:
            close_script_tabs(transaction, key)
