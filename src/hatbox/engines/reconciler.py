"""Reconciles the pages of an engine with the tabs of the profile. Knows no engine by name."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection
from typing import Any, Final

from hatbox.engines.base import Engine, PageState
from hatbox.engines.changed_tabs import changed_tabs
from hatbox.engines.engine_reports import EngineReports
from hatbox.engines.engine_supervisor import EngineSupervisor
from hatbox.engines.identity_division import IdentityDivision
from hatbox.engines.running_engines import ENGINES_CHANGED, RunningEngine, find_records
from hatbox.engines.tab_states import TabState, TabStates
from hatbox.errors import HatboxError, ProfileClosed, ProfileError
from hatbox.identities.settings_check import (
    SETTINGS_CHECK,
    InputAtRisk,
    SettingsCheck,
    answer_settings_check,
    decode_settings_check,
)
from hatbox.identity import model as identity
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, user_context_id_of
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.tabs.first_tab import first_tab
from hatbox.tabs.pages import navigation_started, page_navigated_itself
from hatbox.tabs.tab_model import (
    BLANK,
    FRONT_REQUESTED,
    PAGE_HIDDEN,
    PageHidden,
    Tab,
    all_tabs,
    decoder,
    record_change,
    tabs_of,
)
from hatbox.tasks import Tasks

__all__ = ["TabReconciler"]

logger = logging.getLogger("hatbox.engines")

_READ_RETRY_DELAY: Final = 1  # seconds

_decode_tab_id = decoder(int)


class TabReconciler:
    """Reconciles the pages of one engine with the tabs of one profile."""

    def __init__(self, engine: Engine, store: Store, division: IdentityDivision, run: str = "") -> None:
        self._engine = engine
        self._store = store
        self._division = division
        self._states = TabStates()
        self._supervisor = EngineSupervisor(engine)
        self.reports = self._reports = EngineReports(
            engine.name,
            store,
            self._states,
            serves=division.serves,
            on_dropped=self._on_dropped,
            on_crash=self._on_crash,
            run=run,
            on_restart_needed=self._on_restart_needed,
        )
        """The delegate of the engine."""
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._tasks = Tasks(self._log_failure)
        # Pages of an identity are opened one by one, in the order of their tabs: a window has no other order.
        self._open_locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._changed: set[int] = set()  # ids of tabs to read
        self._all_changed = True  # all tabs are to be read
        self._identities_changed = False
        self._engines_changed = True
        self._handing_over: list[RunningEngine] = []

    async def start(self) -> None:
        """Start the engine, and then open the pages of the tabs."""
        self._reports.stopped = self._reports.abandoned = False
        await self._supervisor.start(self._reports)
        self._store.subscribe(self.on_change)
        self._handing_over.clear()
        self._engines_changed = True
        self._reconcile_all()
        self._loop = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop the engine. The tabs stay in the profile. Stopping twice has no effect."""
        self._cancel()
        if self._loop is not None:
            await asyncio.gather(self._loop, return_exceptions=True)
        await self._tasks.wait()
        try:
            await (self._supervisor.abandon() if self._reports.abandoned else self._supervisor.stop())
        finally:
            self._states.clear()

    def abandon(self) -> None:
        """Write nothing more to the profile: another engine may have the tabs. Then `stop` closes the pages unsaved."""
        self._reports.abandoned = True
        self._cancel()
        self._engine.stop_saving()

    def _cancel(self) -> None:
        self._reports.stopped = True
        self._store.unsubscribe(self.on_change)
        self._tasks.cancel()
        if self._loop is not None:
            self._loop.cancel()

    async def wait_until_settled(self) -> None:
        """Wait until every tab change made so far is applied: pages opened or closed, navigations started."""
        await self._store.deliver_pending_changes()
        await self.reconcile()
        await self._tasks.wait()

    def on_change(self, change: ChangeRecord) -> None:
        """Reconcile after a change of tabs or identities."""
        if change.topic == RESYNC:
            self._identities_changed = self._engines_changed = True
            self._reconcile_all()
        elif change.topic == ENGINES_CHANGED and self._division.has_rest:
            self._engines_changed = True
            self._reconcile_all()
        elif change.topic == identity.REMOVED:
            self._identities_changed = True
            self._wake.set()
        elif change.topic == SETTINGS_CHECK:
            check = decode_settings_check(change.payload)
            if self._division.serves(check.cookie_store_id):
                self._tasks.spawn(_answer_check(self._engine, self._reports, check))
        elif change.topic == FRONT_REQUESTED:
            self._tasks.spawn(self._bring_to_front(_decode_tab_id(change.payload)))
        elif change.topic.startswith("tabs."):
            tab_ids = changed_tabs(change)
            if tab_ids is None:
                self._reconcile_all()
            else:
                self._changed |= tab_ids
                self._wake.set()

    async def _bring_to_front(self, tab_id: int) -> None:
        """Bring the page of a tab that is active already to the front. A page that opens later comes by itself."""
        state = self._states.with_page(tab_id)
        if state is not None:
            async with state.lock:
                if (tab := state.actual) is not None and self._supervisor.running.is_set():
                    await self._engine.activate(tab)

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
        """Compare the desired and actual state of the tabs that have changed, and start what has to be done."""
        async with self._states.comparing:
            changed, self._changed = self._changed, set()
            everything, self._all_changed = self._all_changed, False
            identities_changed, self._identities_changed = self._identities_changed, False
            engines_changed, self._engines_changed = self._engines_changed, False
            if not (changed or everything or identities_changed):
                return
            try:
                tabs, removed, engines = await self._store.read(
                    lambda each: (
                        _tabs(each, None if everything else changed),
                        self._removed(each) if identities_changed else [],
                        find_records(each) if engines_changed else None,
                    )
                )
            except BaseException:  # the next call reads them
                self._changed |= changed
                self._all_changed |= everything
                self._identities_changed |= identities_changed
                self._engines_changed |= engines_changed
                raise
            waiting = [] if engines is None else self._division.apply(engines)
            for tab in tabs.values():
                if tab.id not in self._states and self._needs_page(tab):
                    self._states[tab.id] = TabState(tab.cookie_store_id)
            # In the order of the tabs, in which their pages are opened; then those that were closed.
            for tab_id in [*tabs, *((self._states.keys() if everything else changed) - tabs.keys())]:
                if state := self._states.get(tab_id):
                    self._compare(tab_id, state, tabs.get(tab_id))
            for cookie_store_id in removed:
                self._states.identities.discard(cookie_store_id)
                self._tasks.spawn(self._remove_identity(cookie_store_id))
            for other in waiting:
                if other not in self._handing_over:
                    self._handing_over.append(other)
                    self._tasks.spawn(self._hand_over(other))

    def _needs_page(self, tab: Tab) -> bool:
        is_shown = self._engine.keeps_hidden_pages or not tab.hidden
        return is_shown and not tab.discarded and self._division.serves(tab.cookie_store_id)

    def _removed(self, transaction: Transaction) -> list[str]:
        numbers = {cookie_store_id: user_context_id_of(cookie_store_id) for cookie_store_id in self._states.identities}
        return [each for each, number in numbers.items() if number and transaction.identities.get(number) is None]

    def _compare(self, tab_id: int, state: TabState, tab: Tab | None) -> None:
        state.hidden = tab is not None and tab.hidden
        state.removed = tab is None
        state.discarded = tab is not None and tab.discarded
        state.released = tab is not None and not self._division.serves(tab.cookie_store_id)
        state.desired = tab if tab is not None and self._needs_page(tab) and not state.closed else None
        if not state.is_idle:
            return  # its task reads the new desired state
        if state.desired != state.actual:
            state.task = self._tasks.spawn(self._converge(tab_id, state))
        else:
            self._drop_if_done(tab_id, state)

    def _drop_if_done(self, tab_id: int, state: TabState) -> None:
        """Drop the state of a tab without a page. If the user has closed the page, the tab must be removed first."""
        if state.desired is None and state.actual is None and (state.removed or not state.closed):
            self._states.pop(tab_id, None)

    async def _converge(self, tab_id: int, state: TabState) -> None:
        while state.desired != state.actual:
            await self._supervisor.running.wait()
            async with state.lock:
                if self._supervisor.running.is_set():  # it may have crashed while this waited for the lock
                    await self._converge_once(tab_id, state)
        self._drop_if_done(tab_id, state)

    async def _converge_once(self, tab_id: int, state: TabState) -> None:
        previous, desired, crash_count = state.actual, state.desired, self._supervisor.crash_count
        state.actual = desired
        state.not_saved = ()
        try:
            if desired is None:
                await self._engine.close(tab_id, hiding=state.hidden or state.released or state.discarded)
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
        await self._wait_until_closed(cookie_store_id)
        await self._engine.remove_identity(cookie_store_id)

    async def _hand_over(self, other: RunningEngine) -> None:
        """Wait until the pages of the identities of another engine are closed and saved, and confirm this to it."""
        try:
            for cookie_store_id in other.identities or ():
                await self._wait_until_closed(cookie_store_id)
                if self._division.serves(cookie_store_id):
                    return  # the other engine has ended, and the pages are opened here again
                await self._engine.release_identity(cookie_store_id)
                self._states.identities.discard(cookie_store_id)
            await self._division.confirm(other)
        finally:
            self._handing_over.remove(other)

    async def _wait_until_closed(self, cookie_store_id: str) -> None:
        while tasks := [
            state.task
            for state in self._states.values()
            if state.cookie_store_id == cookie_store_id and state.task and not state.task.done()
        ]:
            await asyncio.wait(tasks)
        self._open_locks.pop(cookie_store_id, None)
        await self._supervisor.running.wait()

    def _on_crash(self, reason: str) -> None:
        if self._supervisor.running.is_set():
            self._supervisor.crashed(reason)
            self._reopen_all()

    def _on_restart_needed(self, reason: str) -> None:
        if self._supervisor.running.is_set():
            self._supervisor.interrupted(reason)
            self._reopen_all()

    def _reopen_all(self) -> None:
        for state in self._states.values():
            state.actual, state.failed = None, False
        self._tasks.spawn(self._restart())

    async def _restart(self) -> None:
        await self._supervisor.restart(self._reports)
        self._reconcile_all()

    def _reconcile_all(self) -> None:
        self._all_changed = True
        self._wake.set()

    def _on_dropped(self, tab_id: int) -> None:
        self._changed.add(tab_id)
        self._wake.set()

    def _log_failure(self, error: BaseException) -> None:
        logger.error("%s engine failed", self._engine.name, exc_info=error)


def _tabs(transaction: Transaction, tab_ids: Collection[int] | None) -> dict[int, Tab]:
    """These tabs, or all, in the order of their windows, except the unused blank tab of the first window."""
    if tab_ids is None:
        tabs = all_tabs(transaction)
    else:
        found = tabs_of(transaction, transaction.tabs.get_many(tab_ids))
        tabs = sorted(found, key=lambda tab: (tab.window_id, tab.index))
    unused = first_tab(transaction) if any(map(_may_be_unused, tabs)) else None
    return {tab.id: tab for tab in tabs if tab.id != unused}


def _may_be_unused(tab: Tab) -> bool:
    return tab.cookie_store_id == DEFAULT_COOKIE_STORE_ID and tab.url == BLANK


async def _answer_check(engine: Engine, reports: EngineReports, check: SettingsCheck) -> None:
    """Write which typed text the engine would lose by a change of settings."""
    found = await engine.input_at_risk(check.cookie_store_id, uses_proxy=check.uses_proxy)
    at_risk = [InputAtRisk(tab_id, fields) for tab_id, fields in sorted(found.items())]
    await reports.write(lambda transaction: answer_settings_check(transaction, check, at_risk))
