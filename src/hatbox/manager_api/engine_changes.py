"""The event of changes of the engines: their records, starts by this process, and processes that have ended."""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from hatbox.engines.running_engines import ENGINES_CHANGED
from hatbox.errors import ProfileClosed, ProfileError
from hatbox.manager_api.coalesced_changes import StoreEvent
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.store.base import Store
from hatbox.store.process_exits import ProcessExits

__all__ = ["EnginesChange", "EnginesEvent"]

_POLL_SECONDS: Final = 1.0  # a process that was killed leaves its record; the system may not report its end


class EnginesChange(msgspec.Struct, frozen=True):
    """Engines may have started or ended."""

    all: bool = True


class EnginesEvent(StoreEvent[EnginesChange]):
    """Emitted when an engine starts, has started, could not be started, or ends. Polls only while it has listeners."""

    def __init__(self, store: Store, profile: ManagedProfile) -> None:
        decoders = {ENGINES_CHANGED: lambda _: EnginesChange()}
        super().__init__(store, "hatbox.engines.onChanged", decoders, lambda one, _: one, EnginesChange())
        self._profile = profile
        self._poll: asyncio.Task[None] | None = None
        self._exits = ProcessExits(lambda: self.add(EnginesChange()))

    def _update_subscription(self) -> None:
        super()._update_subscription()
        starts = self._profile.engine_starts
        if self and self._poll is None:
            starts.on_changed.add_listener(self._on_start_changed)
            self._poll = asyncio.create_task(self._watch_processes())
        elif not self and self._poll is not None:
            starts.on_changed.remove_listener(self._on_start_changed)
            self._poll.cancel()
            self._poll = None
            self._exits.stop()

    def _on_start_changed(self, _: None) -> None:
        self.add(EnginesChange())

    async def _watch_processes(self) -> None:
        known = None
        while True:
            try:
                running = await self._profile.running_engines()
            except ProfileClosed:
                self._exits.stop()
                return
            except ProfileError:  # the server of the profile is not reachable
                await asyncio.sleep(_POLL_SECONDS)
                continue
            if known is not None and known != running:
                self.add(EnginesChange())
            known = running
            self._exits.watch({each.process for each in running if each.process is not None})
            await asyncio.sleep(_POLL_SECONDS)
