"""Runs an engine on a profile, with `async with`."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TypeVar

from hatbox.engines.base import Engine
from hatbox.engines.lease import acquire, engine_lease
from hatbox.engines.reconciler import TabReconciler
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.tabs.strip import row_of
from hatbox.tabs.tab_model import REMOVED, UPDATED, Tab, tab_of

__all__ = ["EngineRunner"]

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
        self._stopping = asyncio.Lock()
        self._is_running = False

    async def __aenter__(self: Self) -> Self:
        await acquire(self._lease, self.engine.name)
        self._is_running = True
        try:
            await self._reconciler.start()
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
                self._is_running = False
                try:
                    await self._reconciler.stop()
                finally:
                    await self._lease.release()

    async def wait_until_settled(self) -> None:
        """Wait until every tab change made so far is applied: pages opened or closed, navigations started."""
        await self._reconciler.wait_until_settled()

    async def wait_until_loaded(self, tab_id: int) -> Tab:
        """Wait until nothing is loading in a tab any more; resolves to the tab. Raises InvalidTab if it is closed.

        A hidden tab whose engine does not keep hidden pages goes on loading when it is shown.
        """
        changed = asyncio.Event()

        def on_change(change: ChangeRecord) -> None:
            if change.topic in (UPDATED, REMOVED, RESYNC):
                changed.set()

        self._store.subscribe(on_change)
        try:
            while True:
                tab = await self._store.read(lambda transaction: tab_of(transaction, row_of(transaction, tab_id)))
                if not tab.loading:
                    return tab
                await changed.wait()
                changed.clear()
        finally:
            self._store.unsubscribe(on_change)
