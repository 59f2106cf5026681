"""Opens tabs and waits for their pages. Starts a background engine if none is running.

If no engine can be started, the profile is restored to its state before the call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from hatbox.engines.background.background_engine import BackgroundEngine
from hatbox.engines.background.opened_tabs import OpenedTabs
from hatbox.engines.running_engines import already_running, engine_for
from hatbox.engines.selection import EngineSelection
from hatbox.errors import EngineAlreadyRunning
from hatbox.identities.changes import hide
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity
from hatbox.store.base import Store, Transaction
from hatbox.tabs import Tab
from hatbox.tabs.service import Tabs
from hatbox.tabs.strip import close_rows
from hatbox.tabs.visibility import show_and_activate

__all__ = ["TabOpener"]

_POLL_INTERVAL: Final = 0.03  # seconds
_MAX_STARTS: Final = 3  # if each started engine finds another one, which then exits


class TabOpener:
    """Opens tabs of one identity, or of the default store."""

    def __init__(
        self,
        tabs: Tabs,
        store: Store,
        background: BackgroundEngine,
        selection: EngineSelection,
        identity: ContextualIdentity | None,
    ) -> None:
        self._tabs = tabs
        self._store = store
        self._background = background
        self._selection = selection
        self._identity = identity
        self._cookie_store_id = identity.cookie_store_id if identity else DEFAULT_COOKIE_STORE_ID
        self._starts = 0
        self._had_engine = False

    async def open(
        self,
        urls: Sequence[str],
        max_time: float,
        on_progress: Callable[[bool], None],
        on_opened: Callable[[Sequence[Tab]], None] = lambda _: None,
    ) -> OpenedTabs:
        """Open a tab for each URL, and wait until the pages are loaded. Follows tabs that an extension replaces.

        Calls `on_opened` with the tabs, before their pages load, and then `on_progress` with whether an engine is
        ready. Raises EngineError or TimeoutError.
        """
        await self._check_engine()
        store_id = self._cookie_store_id
        active = [tab.id for tab in await self._tabs.query() if tab.active]
        opened = OpenedTabs(await asyncio.gather(*(self._tabs.open(store_id, url) for url in urls)))
        tab_ids = [tab.id for tab in opened.tabs]
        on_opened(opened.tabs)
        try:
            async with asyncio.timeout(max_time):
                await self._wait_until_loaded(opened, on_progress)
                return opened
        except BaseException as error:
            if not self._had_engine:
                await asyncio.shield(self._roll_back(tab_ids, active))
            if isinstance(error, TimeoutError):
                raise self._timeout_error(tab_ids, max_time) from None
            raise
        finally:
            self._background.detach()

    async def _wait_until_loaded(self, opened: OpenedTabs, on_progress: Callable[[bool], None]) -> None:
        while True:
            ready = await self._is_engine_ready()
            self._had_engine |= ready
            opened.update(await self._tabs.read(opened.read))
            loading = any(tab.loading and not tab.hidden for tab in opened.open)
            if ready and not loading and not opened.may_be_replaced:
                return
            on_progress(ready)
            await asyncio.sleep(_POLL_INTERVAL)

    async def _is_engine_ready(self) -> bool:
        """Whether an engine is ready for the tabs. Starts one if none is running; raises if that has failed."""
        # Do not query the holder while the background engine starts: the query locks the lease for an instant, and the
        # engine could fail to take it.
        if self._background.is_running:
            return self._background.is_ready
        if await engine_for(self._store, self._cookie_store_id) is not None:
            return True
        if self._starts:
            failure = self._background.failure()
            if failure.kind != EngineAlreadyRunning.__name__ or self._starts == _MAX_STARTS:
                raise failure
        self._starts += 1
        self._background.start()
        return False

    async def _check_engine(self) -> None:
        running = await engine_for(self._store, self._cookie_store_id)
        if running is not None and self._selection.requested not in (None, running.engine.casefold()):
            raise already_running(running.engine, running.process)
        self._had_engine = running is not None

    async def _roll_back(self, tab_ids: Sequence[int], active: Sequence[int]) -> None:
        """Close the new tabs, and restore which tabs are active and whether the identity is hidden."""
        await asyncio.to_thread(self._background.stop)

        def restore(transaction: Transaction) -> None:
            close_rows(transaction, transaction.tabs.get_many(tab_ids))
            for tab_id in active:
                row = transaction.tabs.get(tab_id)
                if row is not None and not row.hidden:
                    show_and_activate(transaction, row)
            if self._identity is not None and self._identity.hidden:
                hide(transaction, self._identity.cookie_store_id)

        await self._tabs.write(restore)

    def _timeout_error(self, tab_ids: Sequence[int], max_time: float) -> TimeoutError:
        if not self._had_engine:
            return TimeoutError(
                f"{self._selection.display_name} did not start within {max_time:g} seconds. No tab was opened."
            )
        which = f"tab {tab_ids[0]}" if len(tab_ids) == 1 else f"tabs {', '.join(map(str, tab_ids))}"
        return TimeoutError(f"{which}: still loading after {max_time:g} seconds, and left open")
