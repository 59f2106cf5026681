"""Keeps an engine's pages as the profile says, and writes into the profile what the engine reports.

Follows the profile's change feed: whatever changes a tab, in whatever process, ends here. Knows no engine by name.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final

from hatbox import identity
from hatbox.cookie_store_ids import cookie_store_id_of
from hatbox.engines.base import Engine, Page
from hatbox.errors import HatboxError, ProfileError
from hatbox.store.base import MISSED, Change, Store, Transaction
from hatbox.tabs.model import Tab, tab_of
from hatbox.tabs.opening import open_tab
from hatbox.tabs.pages import keep_page, page_began, page_changed
from hatbox.tabs.strip import close_rows
from hatbox.tabs.visibility import show_and_activate

__all__ = ["Keeper"]

logger = logging.getLogger("hatbox.engines")

_PATIENCE: Final = (0.1, 0.5, 2, 8)  # seconds before the engine is started again, each time that it was lost


class _Keeping:
    """One tab: what should be, what is, and the task that closes the gap between the two."""

    def __init__(self) -> None:
        self.wanted: Tab | None = None
        self.made: Tab | None = None
        self.hidden = False
        self.navigation = 0
        """The latest load that the engine has been told of, or has begun itself."""
        self.lock = asyncio.Lock()
        self.task: asyncio.Task[None] | None = None


class Keeper:
    """Keeps one engine for one profile. It is the engine's Reports."""

    def __init__(self, engine: Engine, store: Store) -> None:
        self._engine = engine
        self._store = store
        self._kept: dict[int, _Keeping] = {}
        self._removed: list[str] = []
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._losses = 0
        self._following: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the engine, and begin to open what should be open."""
        await self._engine.start(self)
        self._store.follow(self._hear)
        self._wake.set()
        self._following = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """Stop the engine. The tabs stay in the profile, for the next one."""
        self._store.unfollow(self._hear)
        for task in [self._following, *self._tasks]:
            if task is not None:
                task.cancel()
        await asyncio.gather(*(task for task in [self._following, *self._tasks] if task), return_exceptions=True)
        await self._engine.stop()

    async def settled(self) -> None:
        """Resolves when all that anyone had asked for by now was done, or begun."""
        await self._reconcile()
        while tasks := [kept.task for kept in self._kept.values() if kept.task is not None and not kept.task.done()]:
            await asyncio.wait(tasks)

    # ------------------------------------------------------------------------------ from the profile to the engine

    def _hear(self, change: Change) -> None:
        if change.topic == identity.REMOVED:
            self._removed.append(identity.decoded(change.payload).cookie_store_id)
        if change.topic.startswith("tabs.") or change.topic in (identity.REMOVED, MISSED):
            self._wake.set()

    async def _follow(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._reconcile()
            except ProfileError as error:
                logger.error("the tabs cannot be read any more: %s", error)
                return

    async def _reconcile(self) -> None:
        tabs = await self._store.read(lambda transaction: [tab_of(row) for row in transaction.tabs.find()])
        wanted = {tab.id: tab for tab in tabs if self._engine.keeps_hidden or not tab.hidden}
        for tab_id in wanted:
            self._kept.setdefault(tab_id, _Keeping())
        hidden = {tab.id for tab in tabs if tab.hidden}
        for tab_id, keeping in list(self._kept.items()):
            keeping.wanted, keeping.hidden = wanted.get(tab_id), tab_id in hidden
            if keeping.wanted != keeping.made and (keeping.task is None or keeping.task.done()):
                keeping.task = self._begin(self._close_the_gap(tab_id, keeping))
        for cookie_store_id in self._removed:
            self._begin(self._forget(cookie_store_id))
        self._removed.clear()

    async def _close_the_gap(self, tab_id: int, keeping: _Keeping) -> None:
        while keeping.wanted != keeping.made:
            async with keeping.lock:
                await self._step(tab_id, keeping, keeping.wanted)
        if keeping.wanted is None and self._kept.get(tab_id) is keeping:
            del self._kept[tab_id]

    async def _step(self, tab_id: int, keeping: _Keeping, wanted: Tab | None) -> None:
        made, keeping.made = keeping.made, wanted
        try:
            if wanted is None:
                await self._engine.close(tab_id, to_hide=keeping.hidden)
            elif made is None:
                keeping.navigation = wanted.navigation
                await self._engine.open(wanted, await self._store.read(lambda each: each.tabs.page(tab_id)))
            elif wanted.navigation > keeping.navigation:
                keeping.navigation = wanted.navigation
                if wanted.loading or wanted.url != made.url:
                    await self._engine.navigate(wanted)
            if wanted is not None and wanted.active and (made is None or not made.active):
                await self._engine.activate(wanted)
        except HatboxError as error:
            logger.warning("the page of tab %d cannot be made: %s", tab_id, error)
            if wanted is not None and wanted.loading:
                await self.loaded(tab_id, Page(wanted.target or wanted.url, error=str(error)))

    async def _forget(self, cookie_store_id: str) -> None:
        await self._wait_for_pages_of(cookie_store_id)
        await self._engine.forget(cookie_store_id)

    async def _wait_for_pages_of(self, cookie_store_id: str) -> None:
        closing = [
            kept.task
            for kept in self._kept.values()
            if kept.task and kept.made is not None and kept.made.cookie_store_id == cookie_store_id
        ]
        if closing:
            await asyncio.wait(closing)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("an engine failed", exc_info=error)

    # ------------------------------------------------------------------------------ from the engine to the profile

    async def began(self, tab_id: int, url: str) -> None:
        """See Reports."""
        if keeping := self._kept.get(tab_id):
            async with keeping.lock:
                known = keeping.navigation
                tab = await self._store.write(lambda each: page_began(each, tab_id, known, url))
                if tab is not None:
                    keeping.navigation = tab.navigation

    async def loaded(self, tab_id: int, page: Page, *, done: bool = True) -> None:
        """See Reports."""
        if keeping := self._kept.get(tab_id):
            known = keeping.navigation
            await self._store.write(lambda each: page_changed(each, tab_id, known, page, done=done))

    async def keep(self, tab_id: int, page: bytes) -> None:
        """See Reports."""
        await self._store.write(lambda each: keep_page(each, tab_id, page))

    async def opened(self, cookie_store_id: str, opener_id: int | None) -> Tab:
        """See Reports."""

        def open_it(transaction: Transaction) -> Tab:
            opener = transaction.tabs.get(opener_id) if opener_id is not None else None
            same = opener is not None and cookie_store_id_of(opener.store) == cookie_store_id
            return open_tab(
                transaction,
                cookie_store_id=cookie_store_id,
                window_id=opener.window if opener and same else None,
                opener_id=opener.id if opener and same else None,
            )

        tab = await self._store.write(open_it)
        keeping = self._kept.setdefault(tab.id, _Keeping())
        keeping.wanted = keeping.made = tab
        keeping.navigation = tab.navigation
        return tab

    async def activated(self, tab_id: int) -> None:
        """See Reports."""

        def activate_it(transaction: Transaction) -> None:
            row = transaction.tabs.get(tab_id)
            if row is not None and not row.hidden:
                show_and_activate(transaction, row)

        await self._store.write(activate_it)

    async def closed(self, tab_id: int) -> None:
        """See Reports."""
        self._kept.pop(tab_id, None)

        def close_it(transaction: Transaction) -> None:
            row = transaction.tabs.get(tab_id)
            if row is not None:
                close_rows(transaction, [row])

        await self._store.write(close_it)

    def lost(self, reason: str) -> None:
        """See Reports."""
        logger.warning("the %s engine was lost (%s) and is started again", self._engine.name, reason)
        for keeping in self._kept.values():
            keeping.made = None
        self._begin(self._start_again())

    async def _start_again(self) -> None:
        patience = _PATIENCE[min(self._losses, len(_PATIENCE) - 1)]
        self._losses += 1
        await asyncio.sleep(patience)
        await self._engine.start(self)
        self._wake.set()
