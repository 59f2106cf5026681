"""The secret of a profile that the UUIDs in moz-extension:// URLs depend on: web pages must not guess them."""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

import msgspec

from hatbox.store.base import Store, Transaction
from hatbox.store.profile_settings import PROFILE, URL_SECRET

__all__ = ["url_secret"]

_BYTES: Final = 32


async def url_secret(store: Store) -> str:
    """The secret. It is created when it is first used."""
    found = await store.read(_load)
    return found if found is not None else await _create(store, secrets.token_hex(_BYTES))


def _create(store: Store, new: str) -> asyncio.Future[str]:
    def create(transaction: Transaction) -> str:
        found = _load(transaction)  # another process may have created it meanwhile
        if found is not None:
            return found
        transaction.settings.put(PROFILE, URL_SECRET, msgspec.json.encode(new))
        return new

    return store.write(create)


def _load(transaction: Transaction) -> str | None:
    """The secret; None if it does not exist or is damaged."""
    value = transaction.settings.get(PROFILE, URL_SECRET)
    if value is None:
        return None
    try:
        found = msgspec.json.decode(value, type=str)
    except msgspec.MsgspecError:
        return None
    return found if len(found) >= _BYTES else None  # a short one can be guessed
