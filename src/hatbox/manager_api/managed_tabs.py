"""The namespace hatbox.tabs: the tabs of all identities, with undo."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.engines.registry import registration_of
from hatbox.engines.running_engines import engine_for
from hatbox.engines.selection import EngineSelection
from hatbox.errors import ApiError, EngineAlreadyRunning, HatboxError, InvalidIdentity
from hatbox.identity.ids import user_context_id_of
from hatbox.manager_api.address_argument import parse_address
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.manager_api.tab_listing import ListedTab, TabsChange, list_tabs, listed_tab, tabs_changed_event
from hatbox.manager_api.tab_undo import UndoableClose, close_tab, move_tab, reopen_closed
from hatbox.manager_api.undo_records import UndoExpired, UndoRecords
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.recorded_calls import unrecorded
from hatbox.tabs.strip import row_of
from hatbox.tabs.tab_model import BLANK, FRONT_REQUESTED, is_blank, record_change
from hatbox.tabs.visibility import show_and_activate
from hatbox.tabs.windows import focus_window

__all__ = ["implement"]

Details: TypeAlias = Mapping[str, Any]
EngineState: TypeAlias = Literal["running", "starting"]

_UNDO_SECONDS: Final = 3600.0


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:
    """Implement the namespace."""
    return _ManagedTabs(schema, services, profile)


class _OpenedTab(msgspec.Struct, frozen=True):
    tab: ListedTab
    engine: EngineState


class _ClosedTab(msgspec.Struct, frozen=True):
    undo: str | None


class _MovedTab(msgspec.Struct, frozen=True):
    tab: ListedTab
    engine: EngineState | None
    undo: str | None


class _ManagedTabs(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> None:
        changed = tabs_changed_event(services.store)
        super().__init__(schema, services.store, {"onChanged": EventBinding(changed, _change_args)})
        self._profile = profile
        self._undo = UndoRecords[UndoableClose](_UNDO_SECONDS)

    def list(self, filter_: Details | None) -> asyncio.Future[Any]:
        given = filter_ or {}
        convert = self._result_converters["list"]
        return asyncio.ensure_future(list_tabs(self._store, convert, given.get("cookieStoreId"), given.get("ids")))

    def open(self, cookie_store_id: str, address: str | None, options: Details | None) -> asyncio.Future[Any]:
        return self._run("open", self._open(cookie_store_id, address or "", _selection(options)))

    def activate(self, tab_id: int, options: Details | None) -> asyncio.Future[Any]:
        return self._run("activate", self._activate(tab_id, _selection(options)))

    def close(self, tab_id: int) -> asyncio.Future[Any]:
        return self._run("close", self._close(tab_id))

    def reopen(self, undo: str) -> asyncio.Future[Any]:
        return self._run("reopen", self._reopen(undo))

    def move_to(self, tab_id: int, cookie_store_id: str) -> asyncio.Future[Any]:
        return self._run("moveTo", self._move_to(tab_id, cookie_store_id))

    async def _open(self, cookie_store_id: str, address: str, selection: EngineSelection) -> _OpenedTab:
        is_start_page = not address.strip() or is_blank(address.strip())
        url = BLANK if is_start_page else parse_address(address)
        await self._store.read(lambda each: _require_identity(each, cookie_store_id))
        try:
            tab, is_running = await self._profile.engine_starts.open_tab(cookie_store_id, url, selection)
        except EngineAlreadyRunning:
            raise ApiError("Another program has just started an engine for these tabs. Try again.") from None
        return _OpenedTab(await self._listed(tab.id), _state(is_running))

    async def _activate(self, tab_id: int, selection: EngineSelection) -> _OpenedTab:
        with unrecorded():  # the engine is not started yet
            activated = self._store.write(lambda each: _bring_to_front(each, tab_id))
        tab = await activated
        is_running = await self._profile.engine_starts.ensure(tab.cookie_store_id, selection)
        return _OpenedTab(tab, _state(is_running))

    async def _close(self, tab_id: int) -> _ClosedTab:
        closed = await self._store.write(lambda each: close_tab(each, tab_id))
        return _ClosedTab(None if closed is None else self._undo.add(closed))

    async def _reopen(self, undo: str) -> ListedTab:
        closed = self._undo.take(undo)  # before the write: a second call at the same time opens no second tab
        if closed is None:
            raise UndoExpired("This can no longer be undone. Open the address again.")
        try:
            tab_id = await asyncio.shield(self._store.write(lambda each: reopen_closed(each, closed)))
        except HatboxError:
            self._undo.put_back(undo, closed)
            raise
        return await self._listed(tab_id)

    async def _move_to(self, tab_id: int, cookie_store_id: str) -> _MovedTab:
        def move(transaction: Transaction) -> Any:
            _require_identity(transaction, cookie_store_id)
            return move_tab(transaction, tab_id, cookie_store_id)

        new_id, closed = await self._store.write(move)
        is_running = await engine_for(self._store, cookie_store_id) is not None
        undo = None if closed is None else self._undo.add(closed)
        return _MovedTab(await self._listed(new_id), "running" if is_running else None, undo)

    async def _listed(self, tab_id: int) -> ListedTab:
        return await self._store.read(lambda each: listed_tab(each, row_of(each, tab_id)))


def _selection(options: Details | None) -> EngineSelection:
    given = options or {}
    selection = EngineSelection(given.get("engine"), headless=bool(given.get("headless")))
    registration_of(selection.name)  # raises for an unknown engine, before a tab is opened
    return selection


def _state(is_running: bool) -> EngineState:
    return "running" if is_running else "starting"


def _require_identity(transaction: Transaction, cookie_store_id: str) -> None:
    number = user_context_id_of(cookie_store_id)
    if number is None or (number and transaction.identities.get(number) is None):
        raise InvalidIdentity(cookie_store_id)


def _bring_to_front(transaction: Transaction, tab_id: int) -> ListedTab:
    row = row_of(transaction, tab_id)
    if row.active and not row.hidden:
        record_change(transaction, FRONT_REQUESTED, tab_id)  # an activation would change nothing
    show_and_activate(transaction, row)
    focus_window(transaction, row.window)
    return listed_tab(transaction, row_of(transaction, tab_id))


def _change_args(_: Caller, change: TabsChange) -> tuple[TabsChange]:
    return (change,)
