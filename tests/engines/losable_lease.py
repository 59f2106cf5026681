"""A lease that can be lost while it is held, as that of a server is with the connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import pytest

from hatbox.store.base import Store
from hatbox.store.lease import Lease, LeaseHolder
from hatbox.store.sqlite.store import SqliteStore

_lease = SqliteStore.lease


class LosableLease(Lease):
    """A lease of SQLite, until `lose` is called."""

    acquired: ClassVar[list[LosableLease]] = []

    def __init__(self, inner: Lease) -> None:
        self._inner = inner
        self._callback: Callable[[str], None] | None = None

    async def acquire(self, purpose: str) -> LeaseHolder | None:
        found = await self._inner.acquire(purpose)
        if found is None:
            self.acquired.append(self)
        return found

    async def holder(self) -> LeaseHolder | None:
        return await self._inner.holder()

    async def release(self) -> None:
        if self in self.acquired:
            self.acquired.remove(self)
        await self._inner.release()

    def on_lost(self, callback: Callable[[str], None]) -> None:
        self._callback = callback

    async def lose(self, reason: str = "the connection was lost") -> None:
        """Lose it: another process can acquire it from now on."""
        await self.release()
        assert self._callback is not None
        self._callback(reason)


def losable(store: SqliteStore, name: str) -> Lease:
    """In place of SqliteStore.lease."""
    return LosableLease(_lease(store, name))


def lose_leases_of(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the leases of a store be lost. Those that are held are in LosableLease.acquired."""
    inner = store.lease
    monkeypatch.setattr(store, "lease", lambda name: LosableLease(inner(name)))
    monkeypatch.setattr(LosableLease, "acquired", [])
