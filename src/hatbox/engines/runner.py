"""Runs an engine on a profile, with `async with`."""

from __future__ import annotations

import asyncio
import logging
from types import TracebackType
from typing import TypeVar

from hatbox.engines.base import Engine
from hatbox.engines.lease import acquire, engine_lease
from hatbox.engines.reconciler import TabReconciler
from hatbox.errors import EngineLeaseLost
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.tabs.strip import row_of
from hatbox.tabs.tab_model import REMOVED, UPDATED, Tab, tab_of
from hatbox.tasks import Tasks

__all__ = ["EngineRunner"]

logger = logging.getLogger("hatbox.engines")

Self = TypeVar("Self", bound="EngineRunner")


class EngineRunner:
    """Runs an engine on a profile inside `async with`: it opens and closes the pages of the tabs.

    A profile has one engine at a time.
    """

    def __init__(self, engine: Engine, store: Store) -> None:
        self.engine = engine
        """The engine itself."""
        self._store = store
        self._reconciler = TabReconciler(engine, store)
        self._lease = engine_lease(store)
        self._lease.on_lost(self._on_lease_lost)
        self._stopping = asyncio.Lock()
        self._is_running = False
        self._stopped = asyncio.Event()
        self._lost: EngineLeaseLost | None = None
        self._waiting: set[asyncio.Event] = set()
        self._tasks = Tasks()

    async def __aenter__(self: Self) -> Self:
        await acquire(self._lease, self.engine.name)
        self._is_running, self._lost = True, None
        self._stopped.clear()
        try:
            await self._reconciler.start()
            self._raise_if_lost()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Stop the engine; the tabs stay in the profile. Stopping twice is no error, nor is closing the profile first:
        that stops its engine too."""
        async with self._stopping:
            if self._is_running:
                try:
                    await self._reconciler.stop()
                finally:
                    self._is_running = False
                    await self._lease.release()
                    self._stopped.set()

    async def wait_until_stopped(self) -> None:
        """Wait until the engine is stopped. Raises EngineLeaseLost if it stopped because its lease was lost.

        The lease of a profile on a server is lost with the connection. Then the engine closes its pages at once, and
        saves nothing, because another engine may open the tabs.
        """
        await self._stopped.wait()
        self._raise_if_lost()

    async def wait_until_settled(self) -> None:
        """Wait until every tab change made so far is applied: pages opened or closed, navigations started."""
        self._raise_if_lost()
        await self._reconciler.wait_until_settled()
        self._raise_if_lost()

    async def wait_until_loaded(self, tab_id: int) -> Tab:
        """Wait until nothing is loading in a tab any more; resolves to the tab. Raises InvalidTab if it is closed.

        A hidden tab whose engine does not keep hidden pages goes on loading when it is shown.
        """
        changed = asyncio.Event()

        def on_change(change: ChangeRecord) -> None:
            if change.topic in (UPDATED, REMOVED, RESYNC):
                changed.set()

        self._store.subscribe(on_change)
        self._waiting.add(changed)
        try:
            while True:
                tab = await self._store.read(lambda transaction: tab_of(row_of(transaction, tab_id)))
                if not tab.loading:
                    return tab
                self._raise_if_lost()
                await changed.wait()
                changed.clear()
        finally:
            self._waiting.discard(changed)
            self._store.unsubscribe(on_change)

    def _on_lease_lost(self, reason: str) -> None:
        if not self._is_running or self._lost is not None:
            return
        name, label = self.engine.name, self._store.label
        self._lost = EngineLeaseLost(label, name, reason)
        logger.error("%s: lease of the %s engine lost (%s): closing its pages without saving", label, name, reason)
        self._reconciler.abandon()
        for changed in self._waiting:
            changed.set()
        self._tasks.spawn(EngineRunner.stop(self))  # not that of a subclass, which may wait for pages

    def _raise_if_lost(self) -> None:
        if self._lost is not None:
            raise self._lost
