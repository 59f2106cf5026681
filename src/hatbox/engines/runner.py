"""Runs an engine on a profile, with `async with`."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Sequence
from types import TracebackType
from typing import TypeVar

from hatbox.engines.base import Engine
from hatbox.engines.identity_division import IdentityDivision
from hatbox.engines.reconciler import TabReconciler
from hatbox.engines.running_engines import ENGINES_CHANGED, engine_for
from hatbox.errors import EngineError, EngineLeaseLost
from hatbox.identities.clean_up import clean_up
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity, IdentityLike, expect_identity, find, resolve
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.tabs.strip import row_of
from hatbox.tabs.tab_model import REMOVED, UPDATED, Tab, tab_of
from hatbox.tasks import AsyncOnly, Tasks

__all__ = ["EngineRunner"]

logger = logging.getLogger("hatbox.engines")

Self = TypeVar("Self", bound="EngineRunner")


class EngineRunner(AsyncOnly):
    """Runs an engine on a profile inside `async with`: it opens and closes the pages of the tabs.

    One engine at a time opens the tabs of an identity. With `identities`, given by name, cookieStoreId or object, this
    engine opens the tabs of these only; without, those of all identities that no other engine has.
    """

    def __init__(
        self, engine: Engine, store: Store, identities: IdentityLike | Sequence[IdentityLike] | None = None
    ) -> None:
        self.engine = engine
        """The engine itself."""
        self._store = store
        self._identities_given = _expect_identities(identities)
        self._division = IdentityDivision(
            store,
            engine.name,
            self._on_lease_lost,
            has_windows=engine.has_windows,
            options=lambda: engine.options,
        )
        self._run = uuid.uuid4().hex
        self._reconciler = TabReconciler(engine, store, self._division, self._run)
        self._stopping = asyncio.Lock()
        self._is_running = False
        self._stopped = asyncio.Event()
        self._lost: EngineError | None = None  # why it was stopped
        self._waiting: set[asyncio.Event] = set()
        self._tasks = Tasks()

    async def __aenter__(self: Self) -> Self:
        found = await self._requested_names()
        self._is_running, self._lost = True, None
        self._stopped.clear()
        try:
            await self._division.join(found)
            await clean_up(self._store)
            await self._reconciler.start()
            self._raise_if_lost()
        except BaseException:
            await self.stop()
            raise
        return self

    async def _requested_names(self) -> dict[str, str] | None:
        """The cookieStoreIds of the given identities, with their names; None for all.

        Raises for a closed profile, before a lease is acquired and a browser is started.
        """
        given = self._identities_given
        return await self._store.read(lambda each: None if given is None else _names_by_id(each, given))

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
                    await self._division.leave(lost=self._lost is not None)
                    self._stopped.set()

    @property
    def identities(self) -> tuple[str, ...] | None:
        """The cookieStoreIds of the identities that the running engine is limited to; None without a limit."""
        return self._division.identities

    def serves(self, cookie_store_id: str) -> bool:
        """Whether this engine opens the tabs of an identity: no other engine does, and it is not limited to others."""
        return self._division.serves(cookie_store_id)

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

        A hidden tab whose engine does not keep hidden pages goes on loading when it is shown. A tab of an identity that
        another engine serves is loaded there. Raises EngineError if no running engine serves it.
        """
        changed, engines_changed = asyncio.Event(), True

        def on_change(change: ChangeRecord) -> None:
            nonlocal engines_changed
            engines_changed |= change.topic in (ENGINES_CHANGED, RESYNC)
            if change.topic in (UPDATED, REMOVED, ENGINES_CHANGED, RESYNC):
                changed.set()

        self._store.subscribe(on_change)
        self._waiting.add(changed)
        try:
            while True:
                tab = await self._store.read(lambda transaction: tab_of(transaction, row_of(transaction, tab_id)))
                if not tab.loading:
                    return tab
                self._raise_if_lost()
                if engines_changed and not self.serves(tab.cookie_store_id):
                    await self._require_engine(tab)
                engines_changed = False
                await changed.wait()
                changed.clear()
        finally:
            self._waiting.discard(changed)
            self._store.unsubscribe(on_change)

    async def _require_engine(self, tab: Tab) -> None:
        if await engine_for(self._store, tab.cookie_store_id) is None:
            raise EngineError(
                f"tab {tab.id} is not loaded: no running engine serves {tab.cookie_store_id}. "
                "Start one for this identity, or for all."
            )

    def _on_lease_lost(self, reason: str) -> None:
        if not self._is_running or self._lost is not None:
            return
        name, label = self.engine.name, self._store.label
        self._lost = EngineLeaseLost(label, name, reason)
        logger.error("%s: lease of the %s engine lost (%s): closing its pages without saving", label, name, reason)
        self._reconciler.abandon()
        self._wake_waiting()
        self._tasks.spawn(EngineRunner.stop(self))  # not that of a subclass, which may wait for pages

    def _wake_waiting(self) -> None:
        for changed in self._waiting:
            changed.set()

    def _raise_if_lost(self) -> None:
        if self._lost is not None:
            raise self._lost


def _expect_identities(identities: IdentityLike | Sequence[IdentityLike] | None) -> Sequence[IdentityLike] | None:
    if identities is None:
        return None
    several = [identities] if isinstance(identities, (str, ContextualIdentity)) else list(identities)
    for each in several:
        expect_identity(each)
    if not several:
        raise ValueError("identities must not be empty. Omit it to serve all identities")
    return several


def _names_by_id(transaction: Transaction, identities: Sequence[IdentityLike]) -> dict[str, str]:
    """The cookieStoreIds of these identities, with their names."""
    found: dict[str, str] = {}
    for each in identities:
        if each == DEFAULT_COOKIE_STORE_ID:
            found[DEFAULT_COOKIE_STORE_ID] = ""
        else:
            identity = resolve(transaction, each) if isinstance(each, ContextualIdentity) else find(transaction, each)
            found[identity.cookie_store_id] = identity.name
    return found
