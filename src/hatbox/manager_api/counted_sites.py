"""The number of sites with cookies. After a change, only the cookies of the changed identities are read again."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final

from hatbox.cookies.cookie import ChangeCause
from hatbox.cookies.cookie_rows import decode_change
from hatbox.cookies.cookie_sites import host_of
from hatbox.manager_api.cookie_domains import valid_domains
from hatbox.store.base import Store

__all__ = ["CountedSites"]

_MAX_SECONDS: Final = 60.0  # cookies also expire


class CountedSites:
    """The sites of each cookie store, as far as they are known. Used while all changes are reported to it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[int, tuple[str, ...]] | None = None  # None: all stores are to be read
        self._changed: set[int] = set()
        self._stores_of: Counter[str] = Counter()  # the number of stores in which a site has cookies
        self._read_at = 0.0
        self._reading = asyncio.Lock()

    def reset(self) -> None:
        """Changes were lost, or are not reported any more."""
        self._known = None

    def store_changed(self, user_context_id: int) -> None:
        """The cookies of a store may be others."""
        self._changed.add(user_context_id)

    def cookie_changed(self, payload: bytes) -> bool:
        """A cookie was changed, as the change log says. Returns whether the number of sites may be another one."""
        store, was_removed, cause, row = decode_change(payload)
        is_gone = was_removed and cause != ChangeCause.OVERWRITE  # the next record has the cookie in its place
        known = () if self._known is None else self._known.get(store, ())
        if not is_gone and store not in self._changed and host_of(row[0]) in known:
            return False
        self._changed.add(store)
        return True

    async def count(self) -> int:
        """The number of sites."""
        async with self._reading:
            now = asyncio.get_running_loop().time()
            if self._known is None or now - self._read_at > _MAX_SECONDS:
                self._known, self._read_at, wanted = {}, now, None
                self._stores_of.clear()
            elif self._changed:
                wanted = self._changed
            else:
                return len(self._stores_of)
            known, self._changed = self._known, set()
            for store in wanted or ():  # a change during the read is not compared with what was known
                self._replace(known, store, ())
            try:
                found = await self._read(wanted)
            except BaseException:
                self._known = None
                raise
            for store, sites in found.items():
                self._replace(known, store, sites)
            return len(self._stores_of)

    def _replace(self, known: dict[int, tuple[str, ...]], store: int, sites: tuple[str, ...]) -> None:
        for site in known.pop(store, ()):
            self._stores_of[site] -= 1
            if not self._stores_of[site]:
                del self._stores_of[site]
        if sites:
            known[store] = sites
            self._stores_of.update(sites)

    async def _read(self, stores: Collection[int] | None) -> dict[int, tuple[str, ...]]:
        domains = await valid_domains(self._store, stores)
        return await asyncio.to_thread(_sites_by_store, domains)


def _sites_by_store(domains: Iterable[tuple[int, str]]) -> dict[int, tuple[str, ...]]:
    found: dict[int, set[str]] = {}
    for store, domain in domains:
        found.setdefault(store, set()).add(sys.intern(host_of(domain)))  # one text for all stores
    return {store: tuple(sites) for store, sites in found.items()}
