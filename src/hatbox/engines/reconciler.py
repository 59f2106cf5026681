"""Keeps an engine's pages as the profile says, and writes into the profile what the engine reports.

Follows the profile's change feed: whatever changes a tab, in whatever process, ends here. Knows no engine by name.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Coroutine, Sequence
from typing import Any, Final, TypeVar

from hatbox.engines.base import Engine, PageState
from hatbox.errors import EngineError, HatboxError, ProfileClosed, ProfileError
from hatbox.identities import model as identity
from hatbox.identities.ids import cookie_store_id_of, store_user_context_id
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction, TransactionFunction
from hatbox.tabs.first_tab import first_tab
from hatbox.tabs.first_window import leave_first_tab
from hatbox.tabs.opening import open_tab
from hatbox.tabs.pages import navigation_started, page_navigated_itself, save_page_snapshot, update_page
from hatbox.tabs.strip import close_rows, row_of
from hatbox.tabs.tab_model import HIDDEN, Hidden, Tab, record_change, tab_of
from hatbox.tabs.visibility import show_and_activate

__all__ = ["TabReconciler"]

T = TypeVar("T")

logger = logging.getLogger("hatbox.engines")

_RESTART_DELAYS: Final = (0.1, 0.5, 2, 8, 30)  # seconds before the engine is started again, each time that it was lost
_STABLE_AFTER: Final = 60  # seconds after which an engine's earlier losses are forgotten
_READ_RETRY_DELAY: Final = 1  # seconds until a profile that could not be read is read again


class _TabState:
    """One tab: what should be, what is, and the task that closes the gap between the two."""

    def __init__(self, cookie_store_id: str) -> None:
        self.cookie_store_id = cookie_store_id
        self.desired: Tab | None = None
        self.actual: Tab | None = None
        """The tab as the engine knows it; None if it has no page, or was told to close it."""
        self.hidden = False
        self.failed = False
        """The page could not be made. It is tried again with the next load."""
        self.closed = False
        """The user has closed the page, and the tab is about to go."""
        self.navigation = 0
        """The latest load that the engine has been told of, or has begun itself."""
        self.not_saved: tuple[str, ...] = ()
        """Typed text that is lost by hiding the page."""
        self.lock = asyncio.Lock()
        self.task: asyncio.Task[None] | None = None

    @property
    def is_idle(self) -> bool:
        return self.task is None or self.task.done()


class TabReconciler:
    """Keeps one engine for one profile. It is the engine's Reports."""

    def __init__(self, engine: Engine, store: Store) -> None:
        self._engine = engine
        self._store = store
        self._kept: dict[int, _TabState] = {}
        self._looking = asyncio.Lock()  # held while tabs of the profile and pages of the engine are compared
        self._wake = asyncio.Event()
        self._engine_running = asyncio.Event()
        self._stopping = False
        self._following: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        # The pages of an identity are made one by one, in the order of their tabs: a window has no other order.
        self._open_locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._identities_with_pages: set[str] = set()  # the identities that have had pages
        self._identities_changed = False
        self._crash_count = 0  # how often the engine was lost, ever; `_losses` of late
        self._recent_crashes = 0
        self._started = 0.0

    async def start(self) -> None:
        """Start the engine, and begin to open what should be open."""
        await self._store.read(lambda _: None)  # a profile that is not open says so before a browser is started
        self._stopping = False
        await self._start_engine()
        self._store.subscribe(self._on_change)
        self._wake.set()
        self._following = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop the engine. The tabs stay in the profile, for the next one. Stopping twice is no error."""
        self._stopping = True
        self._store.unsubscribe(self._on_change)
        tasks = [*self._tasks, *([self._following] if self._following else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._engine_running.clear()
        try:
            await self._engine.stop()
        finally:
            self._kept.clear()

    async def settled(self) -> None:
        """Resolves when all that anyone had asked for by now was done, or begun."""
        await self._store.deliver_pending_changes()
        await self._reconcile()
        while self._tasks:
            await asyncio.wait(self._tasks)

    # ------------------------------------------------------------------------------ from the profile to the engine

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic in (identity.REMOVED, RESYNC):
            self._identities_changed = True
            self._wake.set()
        elif change.topic.startswith("tabs."):
            self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._reconcile()
            except ProfileClosed:
                return
            except ProfileError as error:
                logger.error("the tabs cannot be read: %s", error)
                await asyncio.sleep(_READ_RETRY_DELAY)
                self._wake.set()

    async def _reconcile(self) -> None:
        """Compare what should be with what is, and begin what has to be done."""
        async with self._looking:
            changed, self._identities_changed = self._identities_changed, False
            tabs, gone = await self._store.read(lambda each: (_tabs(each), self._gone(each) if changed else []))
            for tab in tabs.values():
                if tab.id not in self._kept and self._has_page(tab):
                    self._kept[tab.id] = _TabState(tab.cookie_store_id)
            for tab_id, keeping in list(self._kept.items()):
                self._compare(tab_id, keeping, tabs.get(tab_id))
            for cookie_store_id in gone:
                self._identities_with_pages.discard(cookie_store_id)
                self._begin(self._forget(cookie_store_id))

    def _has_page(self, tab: Tab) -> bool:
        return self._engine.keeps_hidden_pages or not tab.hidden

    def _gone(self, transaction: Transaction) -> list[str]:
        numbers = {
            cookie_store_id: store_user_context_id(cookie_store_id) for cookie_store_id in self._identities_with_pages
        }
        return [each for each, number in numbers.items() if number and transaction.identities.get(number) is None]

    def _compare(self, tab_id: int, keeping: _TabState, tab: Tab | None) -> None:
        keeping.hidden = tab is not None and tab.hidden
        keeping.desired = tab if tab is not None and self._has_page(tab) and not keeping.closed else None
        if not keeping.is_idle:
            return  # its task sees what has changed
        if keeping.desired != keeping.actual:
            keeping.task = self._begin(self._converge(tab_id, keeping))
        elif keeping.desired is None and not (keeping.closed and tab is not None):
            del self._kept[tab_id]

    async def _converge(self, tab_id: int, keeping: _TabState) -> None:
        while keeping.desired != keeping.actual:
            await self._engine_running.wait()
            async with keeping.lock:
                if self._engine_running.is_set():  # it may have been lost while this waited for the lock
                    await self._converge_once(tab_id, keeping)

    async def _converge_once(self, tab_id: int, keeping: _TabState) -> None:
        made, wanted, life = keeping.actual, keeping.desired, self._crash_count
        keeping.actual = wanted
        keeping.not_saved = ()
        try:
            if wanted is None:
                await self._engine.close(tab_id, to_hide=keeping.hidden)
            else:
                await self._apply(wanted, made, keeping)
        except ProfileError as error:
            logger.error("tab %d cannot be kept: %s", tab_id, error)
        except Exception as error:
            if life != self._crash_count or keeping.closed:
                return  # no wonder: the engine was lost, or the page is gone; what should be is made in its next life
            if isinstance(error, HatboxError):
                logger.warning("tab %d: %s", tab_id, error)
            else:
                logger.exception("tab %d: the %s engine has failed", tab_id, self._engine.name)
            if (tab := keeping.actual) is not None and tab.loading:
                why = str(error) or type(error).__name__
                await self.page_updated(
                    tab_id, PageState(tab.pending_url or tab.url, error=why), navigation=tab.navigation_id
                )
        if made is not None and not made.hidden and keeping.hidden:
            hidden = Hidden(tab_id, keeping.not_saved)
            await self._write(lambda each: record_change(each, HIDDEN, hidden))

    async def _apply(self, wanted: Tab, made: Tab | None, keeping: _TabState) -> None:
        asked = wanted.navigation_id > keeping.navigation
        if made is None or (keeping.failed and asked):
            keeping.navigation, keeping.failed = wanted.navigation_id, True
            self._identities_with_pages.add(wanted.cookie_store_id)
            async with self._open_locks[wanted.cookie_store_id]:
                kept = await self._store.read(lambda transaction: transaction.tabs.page_snapshot(wanted.id))
                tab = await self._restored(wanted, keeping)
                if keeping.actual is None:
                    return  # the engine has crashed meanwhile: the page is opened after its restart
                begun = self._begun(tab)
                await self._engine.open(tab, kept)
            keeping.failed = False
            await begun
        elif asked:
            keeping.navigation = wanted.navigation_id
            begun = self._begun(wanted)
            await self._engine.navigate(wanted)
            await begun
        if wanted.active and (made is None or not made.active) and not keeping.failed:
            await self._engine.activate(wanted)

    async def _restored(self, tab: Tab, keeping: _TabState) -> Tab:
        """The tab to open the page with. If the engine loads a complete page again, the tab is set to loading."""
        if tab.loading or not self._engine.loads_again(tab):
            return tab
        loading = await self._store.write(lambda each: page_navigated_itself(each, tab.id, tab.navigation_id, tab.url))
        if loading is None:
            return tab  # it was closed, or another load was requested meanwhile: that is applied next
        keeping.navigation = loading.navigation_id
        if keeping.actual is not None:
            keeping.actual = loading
        return loading

    def _begun(self, tab: Tab) -> asyncio.Future[Any]:
        """Note that a load begins: that is on disk before all that the engine reports of it, also if nobody waits."""
        if not tab.loading:
            return self._store.read(lambda _: None)
        return self._store.write(lambda each: navigation_started(each, tab.id, tab.navigation_id))

    async def _forget(self, cookie_store_id: str) -> None:
        """Once its pages are closed."""
        while tasks := [
            keeping.task
            for keeping in self._kept.values()
            if keeping.cookie_store_id == cookie_store_id and keeping.task and not keeping.task.done()
        ]:
            await asyncio.wait(tasks)
        self._open_locks.pop(cookie_store_id, None)
        await self._engine_running.wait()
        await self._engine.remove_identity(cookie_store_id)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("the %s engine has failed", self._engine.name, exc_info=error)

    # ------------------------------------------------------------------------------ from the engine to the profile

    async def navigation_started(self, tab_id: int, url: str) -> int | None:
        """See EngineDelegate."""
        keeping = self._page_of(tab_id)
        if keeping is None:
            return None
        async with keeping.lock:
            known = keeping.navigation
            tab = await self._write(lambda each: page_navigated_itself(each, tab_id, known, url))
            if tab is None:
                return None
            keeping.navigation = tab.navigation_id
            return tab.navigation_id

    async def page_updated(
        self, tab_id: int, page: PageState, *, done: bool = True, navigation: int | None = None
    ) -> None:
        """See EngineDelegate."""
        if keeping := self._page_of(tab_id):
            number = keeping.navigation if navigation is None else navigation
            await self._write(lambda each: update_page(each, tab_id, number, page, done=done))

    async def save_snapshot(self, tab_id: int, page: bytes) -> None:
        """See EngineDelegate."""
        await self._write(lambda each: save_page_snapshot(each, tab_id, page))

    async def not_saved(self, tab_id: int, what: Sequence[str]) -> None:
        """See EngineDelegate."""
        if keeping := self._kept.get(tab_id):
            keeping.not_saved = (*what,)

    async def shown(self, tab_id: int) -> None:
        """See EngineDelegate."""

        def show_it(transaction: Transaction) -> None:
            row = transaction.tabs.get(tab_id)
            if row is not None and row.hidden:
                show_and_activate(transaction, row)

        if not self._stopping:
            await self._write(show_it)

    async def page_opened(self, cookie_store_id: str, opener_id: int | None, *, active: bool = True) -> Tab:
        """See EngineDelegate."""

        def open_it(transaction: Transaction) -> Tab:
            opener = transaction.tabs.get(opener_id) if opener_id is not None else None
            same = opener is not None and cookie_store_id_of(opener.store) == cookie_store_id
            tab = open_tab(
                transaction,
                cookie_store_id=cookie_store_id,
                window_id=opener.window if opener and same else None,
                opener_id=opener.id if opener and same else None,
                active=active,
            )
            leave_first_tab(transaction, tab.window_id)
            return tab_of(row_of(transaction, tab.id))

        if self._stopping:
            raise EngineError(f"the {self._engine.name} engine is being stopped and opens no pages any more")
        async with self._looking:  # or the new tab would be found, and a second page made for it
            tab = await self._store.write(open_it)
            keeping = self._kept[tab.id] = _TabState(cookie_store_id)
            keeping.desired = keeping.actual = tab
            keeping.navigation = tab.navigation_id
            self._identities_with_pages.add(cookie_store_id)
        return tab

    async def page_activated(self, tab_id: int) -> None:
        """See EngineDelegate."""

        def activate_it(transaction: Transaction) -> None:
            row = transaction.tabs.get(tab_id)
            if row is not None and not row.hidden:
                show_and_activate(transaction, row)

        if self._page_of(tab_id):
            await self._write(activate_it)

    async def page_closed(self, tab_id: int) -> None:
        """See EngineDelegate."""

        def close_it(transaction: Transaction) -> None:
            row = transaction.tabs.get(tab_id)
            if row is not None:
                close_rows(transaction, [row])

        if keeping := self._page_of(tab_id):
            keeping.closed, keeping.desired, keeping.actual = True, None, None
            await self._write(close_it)

    def dropped(self, tab_id: int) -> None:
        """See EngineDelegate."""
        if keeping := self._page_of(tab_id):
            keeping.actual = None
            self._wake.set()

    def _page_of(self, tab_id: int) -> _TabState | None:
        """The tab, if the engine has a page for it and nobody has told it to close that."""
        keeping = self._kept.get(tab_id)
        return keeping if keeping and keeping.actual is not None and not self._stopping else None

    async def _write(self, work: TransactionFunction[T]) -> T | None:
        try:
            return await self._store.write(work)
        except ProfileError as error:
            logger.error("what the %s engine reports is lost: %s", self._engine.name, error)
            return None

    # --------------------------------------------------------------------------------------- when the engine dies

    def engine_crashed(self, reason: str) -> None:
        """See EngineDelegate."""
        if self._stopping or not self._engine_running.is_set():
            return
        logger.warning("the %s engine was lost (%s) and is started again", self._engine.name, reason)
        self._engine_running.clear()
        self._crash_count += 1
        if time.monotonic() - self._started > _STABLE_AFTER:
            self._recent_crashes = 0
        for keeping in self._kept.values():
            keeping.actual, keeping.failed = None, False
        self._begin(self._start_again())

    async def _start_again(self) -> None:
        while not self._engine_running.is_set():
            await asyncio.sleep(_RESTART_DELAYS[min(self._recent_crashes, len(_RESTART_DELAYS) - 1)])
            self._recent_crashes += 1
            try:
                await self._start_engine()
            except Exception as error:  # noqa: BLE001 - whatever it is, the next attempt may work
                logger.error("the %s engine does not start: %s", self._engine.name, error)
        self._wake.set()

    async def _start_engine(self) -> None:
        await self._engine.start(self)
        self._started = time.monotonic()
        self._engine_running.set()


def _tabs(transaction: Transaction) -> dict[int, Tab]:
    unused = first_tab(transaction)
    return {row.id: tab_of(row) for row in transaction.tabs.find() if row.id != unused}
