"""The domains of the cookies of all identities, read in parts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

from hatbox.cookies.cookie_clock import cookie_time
from hatbox.manager_api.partial_reads import read_parts
from hatbox.store.base import Store, Transaction

__all__ = ["all_stores", "valid_domains"]


def all_stores(transaction: Transaction) -> list[int]:
    """The cookie stores of all identities, and that of no identity."""
    return [0, *transaction.identities.ids()]


async def valid_domains(store: Store, stores: Collection[int] | None = None) -> list[tuple[int, str]]:
    """All cookie stores, or these, with the domains of their cookies that have not expired, each once."""
    now = store.time()

    def prepare(transaction: Transaction) -> tuple[Sequence[int], float]:
        return all_stores(transaction) if stores is None else [*stores], cookie_time(transaction, now)

    wanted, time = await store.read(prepare)
    parts = await read_parts(store, wanted, lambda transaction, part: transaction.cookies.domains(part, time))
    return [*chain.from_iterable(parts)]
