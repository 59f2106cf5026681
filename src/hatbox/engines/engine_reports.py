"""Writes the reports of an engine into the profile."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from hatbox.engines.base import PageState
from hatbox.engines.tab_states import TabState, TabStates
from hatbox.errors import EngineError, ProfileError
from hatbox.extension_data.protocol_handlers import handled_url
from hatbox.identity.ids import cookie_store_id_of
from hatbox.store.base import Store, Transaction, TransactionFunction
from hatbox.tabs.bound_tabs import inherit_binding
from hatbox.tabs.first_window import leave_first_tab
from hatbox.tabs.opening import open_tab
from hatbox.tabs.pages import navigate, page_navigated_itself, save_page_snapshot, update_page
from hatbox.tabs.script_tabs import add_script_tab, inherit_script
from hatbox.tabs.strip import close_rows, row_of
from hatbox.tabs.tab_model import OPENED_BY_PAGE, Tab, record_change, tab_of
from hatbox.tabs.visibility import show_and_activate

__all__ = ["EngineReports"]

T = TypeVar("T")

logger = logging.getLogger("hatbox.engines")


class EngineReports:
    """The delegate of an engine."""

    def __init__(
        self,
        engine_name: str,
        store: Store,
        states: TabStates,
        *,
        serves: Callable[[str], bool],
        on_dropped: Callable[[int], None],
        on_crash: Callable[[str], None],
        on_restart_needed: Callable[[str], None],
        run: str = "",
    ) -> None:
        self.stopped = False
        """Whether reports about pages are ignored, because the engine is shutting down."""
        self.abandoned = False
        """Whether nothing is written any more, because another engine may have the tabs."""
        self.scripted: set[str] = set()
        """The cookieStoreIds in which a script opens pages itself: a page without an opener belongs to the script."""
        self._run = run
        self._engine_name = engine_name
        self._store = store
        self._states = states
        self._serves = serves
        self._on_dropped = on_dropped
        self._on_crash = on_crash
        self._on_restart_needed = on_restart_needed

    async def navigation_started(self, tab_id: int, url: str) -> int | None:
        """See EngineDelegate."""
        state = self._state(tab_id)
        if state is None:
            return None
        async with state.lock:
            known = state.navigation
            tab = await self.write(lambda each: page_navigated_itself(each, tab_id, known, url))
            if tab is None:
                return None
            state.navigation = tab.navigation_id
            return tab.navigation_id

    async def page_updated(
        self, tab_id: int, page: PageState, *, done: bool = True, navigation: int | None = None
    ) -> None:
        """See EngineDelegate."""
        if state := self._state(tab_id):
            number = state.navigation if navigation is None else navigation
            await self.write(lambda each: update_page(each, tab_id, number, page, done=done))

    async def save_snapshot(self, tab_id: int, page: bytes) -> None:
        """See EngineDelegate."""
        await self.write(lambda each: save_page_snapshot(each, tab_id, page))

    async def not_saved(self, tab_id: int, what: Sequence[str]) -> None:
        """See EngineDelegate."""
        if state := self._states.get(tab_id):
            state.not_saved = (*what,)

    async def shown(self, tab_id: int) -> None:
        """See EngineDelegate."""

        def show(transaction: Transaction) -> None:
            row = transaction.tabs.get(tab_id)
            if row is not None and row.hidden:
                show_and_activate(transaction, row)

        if not self.stopped:
            await self.write(show)

    async def page_opened(self, cookie_store_id: str, opener_id: int | None, *, active: bool = True) -> Tab:
        """See EngineDelegate."""

        def open_page(transaction: Transaction) -> Tab:
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
            if opener is not None:
                inherit_script(transaction, opener.id, tab.id)
                inherit_binding(transaction, opener.id, tab.id)
            elif cookie_store_id in self.scripted:
                add_script_tab(transaction, self._run, tab.id)
            tab = tab_of(transaction, row_of(transaction, tab.id))
            if tab.opener_id is not None:
                record_change(transaction, OPENED_BY_PAGE, tab)
            return tab

        if self.stopped:
            raise EngineError(f"the {self._engine_name} engine is shutting down and opens no pages")
        if not self._serves(cookie_store_id):
            raise EngineError(f"the {self._engine_name} engine opens no pages of {cookie_store_id}")
        async with self._states.comparing:  # otherwise a second page would be opened for the new tab
            tab = await self._store.write(open_page)
            state = self._states[tab.id] = TabState(cookie_store_id)
            state.desired = state.actual = tab
            state.navigation = tab.navigation_id
            self._states.identities.add(cookie_store_id)
        return tab

    async def link_followed(self, tab_id: int, link: str) -> None:
        """See EngineDelegate."""

        def open_handler(transaction: Transaction) -> None:
            page = handled_url(transaction, link)
            if page is not None and transaction.tabs.get(tab_id) is not None:
                navigate(transaction, tab_id, page)

        if self._state(tab_id):
            await self.write(open_handler)

    async def page_activated(self, tab_id: int) -> None:
        """See EngineDelegate."""

        def activate(transaction: Transaction) -> None:
            row = transaction.tabs.get(tab_id)
            if row is not None and not row.hidden:
                show_and_activate(transaction, row)

        if self._state(tab_id):
            await self.write(activate)

    async def page_closed(self, tab_id: int) -> None:
        """See EngineDelegate."""

        def close(transaction: Transaction) -> None:
            row = transaction.tabs.get(tab_id)
            if row is not None:
                close_rows(transaction, [row])

        if state := self._state(tab_id):
            state.closed, state.desired, state.actual = True, None, None
            await self.write(close)

    def dropped(self, tab_id: int) -> None:
        """See EngineDelegate."""
        if state := self._state(tab_id):
            state.actual = None
            self._on_dropped(tab_id)

    def engine_crashed(self, reason: str) -> None:
        """See EngineDelegate."""
        if not self.stopped:
            self._on_crash(reason)

    def restart_needed(self, reason: str) -> None:
        """See EngineDelegate."""
        if not self.stopped:
            self._on_restart_needed(reason)

    def _state(self, tab_id: int) -> TabState | None:
        return None if self.stopped else self._states.with_page(tab_id)

    async def write(self, work: TransactionFunction[T]) -> T | None:
        """Run a transaction function. A profile error is logged, and the report is lost."""
        if self.abandoned:
            return None
        try:
            return await self._store.write(work)
        except ProfileError as error:
            logger.error("%s engine: report not saved: %s", self._engine_name, error)
            return None
