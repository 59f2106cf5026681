"""Reconciles the pages of an engine with the tabs of the profile. Knows no engine by name."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from typing import Any, Final

from hatbox.engines.base import Engine, PageState
from hatbox.engines.engine_reports import EngineReports
from hatbox.engines.engine_supervisor import EngineSupervisor
from hatbox.engines.tab_states import TabState, TabStates
from hatbox.errors import HatboxError, ProfileClosed, ProfileError
from hatbox.identities import model as identity
from hatbox.identities.ids import user_context_id_of
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.tabs.first_tab import first_tab
from hatbox.tabs.pages import navigation_started, page_navigated_itself
from hatbox.tabs.tab_model import PAGE_HIDDEN, PageHidden, Tab, all_tabs, record_change
from hatbox.tasks import Tasks

__all__ = ["TabReconciler"]

logger = logging.getLogger("hatbox.engines")

_READ_RETRY_DELAY: Final = 1  # seconds


class TabReconciler:
    """Reconciles the pages of one engine with the tabs of one profile."""

    def __init__(self, engine: Engine, store: Store) -> None:
        self._engine = engine
        self._store = store
        self._states = TabStates()
        self._supervisor = EngineSupervisor(engine)
        self._reports = EngineReports(
            engine.name, store, self._states, on_dropped=self._wake_up, on_crash=self._on_crash
        )
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._tasks = Tasks(self._log_failure)
        # Pages of an identity are opened one by one, in the order of their tabs: a window has no other order.
        self._open_locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._identities_changed = False

    async def start(self) -> None:
        """Start the engine, and then open the pages of the tabs."""
        await self._store.read(lambda _: None)  # raises for a closed profile, before a browser is started
        self._reports.stopped = False
        await self._supervisor.start(self._reports)
        self._store.subscribe(self.on_change)
        self._wake.set()
        self._loop = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop the engine. The tabs stay in the profile. Stopping twice has no effect."""
        self._reports.stopped = True
        self._store.unsubscribe(self.on_change)
        self._tasks.cancel()
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        await self._tasks.wait()
        try:
            await self._supervisor.stop()
        finally:
            self._states.clear()

    async def wait_until_settled(self) -> None:
        """Wait until every tab change made so far is applied: pages opened or closed, navigations started."""
        await self._store.deliver_pending_changes()
        await self.reconcile()
        await self._tasks.wait()

    def on_change(self, change: ChangeRecord) -> None:
        """Reconcile after a change of tabs or identities."""
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
                await self.reconcile()
            except ProfileClosed:
                return
            except ProfileError as error:
                logger.error("reconcile: reading tabs failed: %s", error)
                await asyncio.sleep(_READ_RETRY_DELAY)
                self._wake.set()

    async def reconcile(self) -> None:
        """Compare desired and actual state, and start what has to be done."""
        async with self._states.comparing:
            changed, self._identities_changed = self._identities_changed, False
            tabs, removed = await self._store.read(lambda each: (_tabs(each), self._removed(each) if changed else []))
            for tab in tabs.values():
                if tab.id not in self._states and self._needs_page(tab):
                    self._states[tab.id] = TabState(tab.cookie_store_id)
            for tab_id, state in list(self._states.items()):
                self._compare(tab_id, state, tabs.get(tab_id))
            for cookie_store_id in removed:
                self._states.identities.discard(cookie_store_id)
                self._tasks.spawn(self._remove_identity(cookie_store_id))

    def _needs_page(self, tab: Tab) -> bool:
        return self._engine.keeps_hidden_pages or not tab.hidden

    def _removed(self, transaction: Transaction) -> list[str]:
        numbers = {cookie_store_id: user_context_id_of(cookie_store_id) for cookie_store_id in self._states.identities}
        return [each for each, number in numbers.items() if number and transaction.identities.get(number) is None]

    def _compare(self, tab_id: int, state: TabState, tab: Tab | None) -> None:
        state.hidden = tab is not None and tab.hidden
        state.desired = tab if tab is not None and self._needs_page(tab) and not state.closed else None
        if not state.is_idle:
            return  # its task reads the new desired state
        if state.desired != state.actual:
            state.task = self._tasks.spawn(self._converge(tab_id, state))
        elif state.desired is None and not (state.closed and tab is not None):
            del self._states[tab_id]

    async def _converge(self, tab_id: int, state: TabState) -> None:
        while state.desired != state.actual:
            await self._supervisor.running.wait()
            async with state.lock:
                if self._supervisor.running.is_set():  # it may have crashed while this waited for the lock
                    await self._converge_once(tab_id, state)

    async def _converge_once(self, tab_id: int, state: TabState) -> None:
        previous, desired, crash_count = state.actual, state.desired, self._supervisor.crash_count
        state.actual = desired
        state.not_saved = ()
        try:
            if desired is None:
                await self._engine.close(tab_id, hiding=state.hidden)
            else:
                await self._apply(desired, previous, state)
        except ProfileError as error:
            logger.error("reconcile: tab %d: profile error: %s", tab_id, error)
        except Exception as error:
            if crash_count != self._supervisor.crash_count or state.closed:
                return  # caused by a crash or a closed page; the page is opened after the restart
            if isinstance(error, HatboxError):
                logger.warning("tab %d: %s", tab_id, error)
            else:
                logger.exception("tab %d: %s engine failed", tab_id, self._engine.name)
            if (tab := state.actual) is not None and tab.loading:
                message = str(error) or type(error).__name__
                await self._reports.page_updated(
                    tab_id, PageState(tab.pending_url or tab.url, error=message), navigation=tab.navigation_id
                )
        if previous is not None and not previous.hidden and state.hidden:
            hidden = PageHidden(tab_id, state.not_saved)
            await self._reports.write(lambda each: record_change(each, PAGE_HIDDEN, hidden))

    async def _apply(self, desired: Tab, previous: Tab | None, state: TabState) -> None:
        is_requested = desired.navigation_id > state.navigation
        if previous is None or (state.failed and is_requested):
            state.navigation, state.failed = desired.navigation_id, True
            self._states.identities.add(desired.cookie_store_id)
            async with self._open_locks[desired.cookie_store_id]:
                snapshot = await self._store.read(lambda transaction: transaction.tabs.page_snapshot(desired.id))
                tab = await self._restored(desired, state)
                if state.actual is None:
                    return  # the engine has crashed meanwhile: the page is opened after its restart
                started = self._record_start(tab)
                await self._engine.open(tab, snapshot)
            state.failed = False
            await started
        elif is_requested:
            state.navigation = desired.navigation_id
            started = self._record_start(desired)
            await self._engine.navigate(desired)
            await started
        if desired.active and (previous is None or not previous.active) and not state.failed:
            await self._engine.activate(desired)

    async def _restored(self, tab: Tab, state: TabState) -> Tab:
        """The tab to open the page with. If the engine loads a complete page again, the tab is set to loading."""
        if tab.loading or not self._engine.loads_again(tab):
            return tab
        loading = await self._store.write(lambda each: page_navigated_itself(each, tab.id, tab.navigation_id, tab.url))
        if loading is None:
            return tab  # closed, or another navigation was requested, which is applied next
        state.navigation = loading.navigation_id
        if state.actual is not None:
            state.actual = loading
        return loading

    def _record_start(self, tab: Tab) -> asyncio.Future[Any]:
        """Record the start of a navigation, ahead of the reports about it."""
        if not tab.loading:
            return self._store.read(lambda _: None)
        return self._store.write(lambda each: navigation_started(each, tab.id, tab.navigation_id))

    async def _remove_identity(self, cookie_store_id: str) -> None:
        """Wait until the pages of a removed identity are closed, then remove its data from the engine."""
        while tasks := [
            state.task
            for state in self._states.values()
            if state.cookie_store_id == cookie_store_id and state.task and not state.task.done()
        ]:
            await asyncio.wait(tasks)
        self._open_locks.pop(cookie_store_id, None)
        await self._supervisor.running.wait()
        await self._engine.remove_identity(cookie_store_id)

    def _on_crash(self, reason: str) -> None:
        if self._supervisor.running.is_set():
            self._supervisor.crashed(reason)
            for state in self._states.values():
                state.actual, state.failed = None, False
            self._tasks.spawn(self._restart())

    async def _restart(self) -> None:
        await self._supervisor.restart(self._reports)
        self._wake.set()

    def _wake_up(self) -> None:
        self._wake.set()

    def _log_failure(self, error: BaseException) -> None:
        logger.error("%s engine failed", self._engine.name, exc_info=error)


def _tabs(transaction: Transaction) -> dict[int, Tab]:
    unused = first_tab(transaction)
    return {tab.id: tab for tab in all_tabs(transaction) if tab.id != unused}
