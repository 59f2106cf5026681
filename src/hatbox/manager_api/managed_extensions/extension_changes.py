"""The event hatbox.extensions.onChanged: which extensions may look different, by any process.

The change log names them. Two things are not in it: a process that was killed, and that a button with values for one
tab looks different in another tab.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from hatbox.engines.running_engines import ENGINES_CHANGED
from hatbox.errors import ProfileClosed, ProfileError
from hatbox.extension_data import commands, run_records
from hatbox.extension_data import granted_permissions as granted
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data.action_values import SIDEBAR_ACTION, has_narrow_scope
from hatbox.extension_data.actions import ACTION, PAGE_ACTION
from hatbox.extension_data.run_records import RunChange, RunRecord
from hatbox.extension_data.ui_changes import UI_CHANGED
from hatbox.manager_api.coalesced_changes import ChangedIds, CoalescedEvent, StoreEvent
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.store.process_exits import ProcessExits
from hatbox.tabs.tab_model import ACTIVATED, NAVIGATED, UPDATED, WINDOW_FOCUSED

__all__ = ["ExtensionChanges"]

_POLL_SECONDS: Final = 1.0  # for processes whose end the system does not report
_OF_RUNS: Final = frozenset({run_records.STARTED, run_records.STOPPED, RESYNC})
_OF_TABS: Final = frozenset({ACTIVATED, NAVIGATED, UPDATED, WINDOW_FOCUSED})
_KINDS_OF_TABS: Final = (ACTION, PAGE_ACTION, SIDEBAR_ACTION)


class ExtensionChanges(StoreEvent[ChangedIds]):
    """Emitted when extensions were installed, started, changed or stopped, or their process was killed."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, "hatbox.extensions.onChanged", _DECODERS, ChangedIds.merged, ChangedIds(all=True))
        self._runs: dict[str, RunRecord | None] = {}  # by data area; None until its record was read
        self._exits = ProcessExits(self._read_runs_soon)
        self._tabs_changed: CoalescedEvent[None] = CoalescedEvent("tabs of extensions", lambda *_: None)
        self._reading: asyncio.Task[None] | None = None
        self._is_outdated = False
        self._poll: asyncio.TimerHandle | None = None

    def _update_subscription(self) -> None:
        was_subscribed = self._subscription.is_on
        super()._update_subscription()
        if self and not was_subscribed:
            self._tabs_changed.add_listener(self._on_tabs_changed)
            self._read_runs_soon()
        elif was_subscribed and not self:
            self._tabs_changed.remove_listener(self._on_tabs_changed)
            self._stop_watching()

    def _stop_watching(self) -> None:
        for each in (self._reading, self._poll):
            if each is not None:
                each.cancel()
        self._reading = self._poll = None
        self._exits.stop()
        self._runs.clear()

    def _on_change(self, change: ChangeRecord) -> None:
        super()._on_change(change)
        if change.topic == run_records.STARTED:
            self._runs.setdefault(_decode_run(change.payload).extension, None)
        elif change.topic == run_records.STOPPED:
            self._runs.pop(_decode_run(change.payload).extension, None)
        if change.topic in _OF_RUNS:
            self._read_runs_soon()
        elif change.topic == ENGINES_CHANGED:  # the process of an extension may show its pages now
            self.add(ChangedIds.of(self._runs))
        elif change.topic in _OF_TABS and self._runs:
            self._tabs_changed.add(None)

    # ── Buttons that differ from tab to tab ──

    async def _on_tabs_changed(self, _: None) -> None:
        try:
            areas = await self._store.read(_areas_of_tabs)
        except ProfileError:  # RESYNC follows, if the profile is open
            return
        of_pages = [area for area, run in self._runs.items() if run is not None and run.manifest.get("page_action")]
        if changed := ChangedIds.of(each for each in (*areas, *of_pages) if each in self._runs):
            self.add(changed)

    # ── Processes ──

    def _read_runs_soon(self) -> None:
        self._is_outdated = True
        if self._reading is None and self:
            self._reading = asyncio.ensure_future(self._read_runs())

    async def _read_runs(self) -> None:
        needs_poll = True
        try:
            while self._is_outdated:
                self._is_outdated = False
                before = set(self._runs)
                runs = {run.id: run for run in await self._store.read(run_records.get_all)}
                ended = [area for area in before if area not in runs]
                for area in ended:
                    del self._runs[area]
                self._runs.update(runs)
                if ended:
                    self.add(ChangedIds.of(ended))
                needs_poll = not self._exits.watch([run.process_id for run in runs.values()])
        except ProfileClosed:
            needs_poll = False
            self._exits.stop()
        except ProfileError:  # the server of the profile is not reachable
            pass
        self._reading = None
        if self._poll is not None:
            self._poll.cancel()
        loop = asyncio.get_running_loop()
        self._poll = loop.call_later(_POLL_SECONDS, self._read_runs_soon) if needs_poll else None


def _areas_of_tabs(transaction: Transaction) -> set[str]:
    """The extensions with values for single tabs or windows."""
    return {
        area for kind in _KINDS_OF_TABS for area, key, _ in transaction.extensions.find(kind) if has_narrow_scope(key)
    }


_decode_area = msgspec.json.Decoder(str).decode
_decode_run = msgspec.json.Decoder(RunChange).decode


class _OfExtension(msgspec.Struct):
    extension: str


def _named(payload: bytes) -> ChangedIds:
    return ChangedIds((_decode_area(payload),))


def _named_in(payload: bytes) -> ChangedIds:
    return ChangedIds((_decode_named(payload).extension,))


_decode_named = msgspec.json.Decoder(_OfExtension).decode
_DECODERS: Final[Mapping[str, Callable[[bytes], ChangedIds | None]]] = {
    UI_CHANGED: _named,
    installed.CHANGED: _named,
    granted.ADDED: _named_in,
    granted.REMOVED: _named_in,
    commands.CHANGED: _named_in,
    run_records.STARTED: _named_in,
    run_records.STOPPED: _named_in,
}
