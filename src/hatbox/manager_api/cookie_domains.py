"""The domains of the cookies of all identities, read in parts."""

from __future__ import annotations

from itertools import chain

from hatbox.cookies.cookie_clock import cookie_time
from hatbox.manager_api.partial_reads import read_parts
from hatbox.store.base import Store, Transaction

__all__ = ["all_stores", "valid_domains"]


def all_stores(transaction: Transaction) -> list[int]:
    """The cookie stores of all identities, and that of no identity."""
    return [0, *transaction.identities.ids()]


async def valid_domains(store: Store) -> list[tuple[int, str]]:
    """The cookie stores with the domains of their cookies that have not expired, each once."""
    now = store.time()
    stores, time = await store.read(lambda transaction: (all_stores(transaction), cookie_time(transaction, now)))
    parts = await read_parts(store, stores, lambda transaction, part: transaction.cookies.domains(part, time))
    return [*chain.from_iterable(parts)]
