"""Removes what ended programs have left in a profile: the tabs of scripts that were killed."""

from __future__ import annotations

import logging

from hatbox.errors import ProfileError
from hatbox.store.base import Store, Transaction
from hatbox.tabs.script_tabs import close_abandoned_script_tabs, has_abandoned_script_tabs

__all__ = ["clean_up"]

logger = logging.getLogger("hatbox.identities")


async def clean_up(store: Store) -> None:
    """Clean up, if anything is left. A failure is logged: the next call tries again."""
    try:
        if await store.read(_is_needed):
            await store.write(_clean_up)
    except ProfileError as error:
        logger.warning("cleaning up after ended programs failed: %s", error)


def _is_needed(transaction: Transaction) -> bool:
    return has_abandoned_script_tabs(transaction)


def _clean_up(transaction: Transaction) -> None:
    close_abandoned_script_tabs(transaction)
