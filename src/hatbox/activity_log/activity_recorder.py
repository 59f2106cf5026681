"""Collects entries of the activity log, and writes them in batches: within a second, and when the profile is closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from typing import Final, NamedTuple

from hatbox.activity_log.activity_rows import ACTIVITY_SETTING_CHANGED, MAX_ENTRIES, recorded_stores, write_entries
from hatbox.errors import ProfileClosed, ProfileError
from hatbox.identities.model import SETTINGS_CHANGED
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.store.grant_tables import ActivityRow
from hatbox.tasks import Tasks

__all__ = ["ActivityRecorder", "Recorded"]

logger = logging.getLogger("hatbox.activity")

_SECONDS: Final = 0.5  # until entries are written
_MAX_PENDING: Final = 1000  # entries in memory
_COUNT_EVERY: Final = 1000  # written entries


class Recorded(NamedTuple):
    """What was done, without its time. The same within a batch is one entry."""

    grant: str
    program: str
    machine: str
    store: int | None
    action: str
    host: str
    outcome: str


class ActivityRecorder:
    """The entries of this process that are not written yet. Bound to the event loop of the store."""

    def __init__(self, store: Store, max_entries: int = MAX_ENTRIES) -> None:
        self._store = store
        self._max_entries = max_entries
        self._pending: dict[Recorded, tuple[float, int]] = {}
        self._undecided: set[Recorded] = set()  # those whose identity may not be recorded
        self._stores: frozenset[int] | None = None  # whose setting is on; None if it must be read
        self._generation = 0  # of the settings
        self._uncounted = _COUNT_EVERY  # entries since all were counted; the first batch counts
        self._lost = 0
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._tasks = Tasks()
        self._is_subscribed = False

    def add(self, recorded: Recorded, *, is_wanted: bool = False) -> None:
        """Add an entry, unless it is of no grant and its identity is not recorded.

        With `is_wanted`, the caller has read the setting of the identity; a change of it counts for later entries.
        """
        is_decided = is_wanted or bool(recorded.grant) or self._stores is not None
        if is_decided and not is_wanted and not recorded.grant and recorded.store not in (self._stores or ()):
            return
        if is_decided:
            self._undecided.discard(recorded)
        elif recorded not in self._pending:
            self._undecided.add(recorded)
        known = self._pending.get(recorded)
        if known is not None:
            self._pending[recorded] = known[0], known[1] + 1
            return
        if len(self._pending) >= _MAX_PENDING:
            self._undecided.discard(recorded)
            self._lost += 1
            return
        self._pending[recorded] = self._store.time(), 1
        if len(self._pending) >= _MAX_PENDING:
            self._start()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_SECONDS, self._start)

    async def flush(self) -> None:
        """Write all entries. A failure is logged, and they are written later."""
        self._start()
        if self._writing is not None:
            await asyncio.shield(self._writing)

    async def close(self) -> None:
        """Write all entries, and stop observing settings."""
        await self.flush()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_subscribed:
            self._store.unsubscribe(self._on_change)
            self._is_subscribed = False
        self._stores = None
        if self._pending or self._lost:
            logger.warning("%d entries of the activity log are lost", len(self._pending) + self._lost)
            self._pending.clear()
            self._undecided.clear()
            self._lost = 0

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pending and (self._writing is None or self._writing.done()):
            self._writing = self._tasks.spawn(self._write_all())

    async def _write_all(self) -> None:
        while self._pending:
            batch, self._pending = self._pending, {}
            undecided, self._undecided = self._undecided, set()
            try:
                await self._write(batch, undecided)
            except ProfileClosed:
                self._lost += len(batch)
                return
            except ProfileError as error:
                self._put_back(batch, undecided)
                logger.warning("the activity log cannot be written: %s", error)
                if self._timer is None:
                    self._timer = asyncio.get_running_loop().call_later(_SECONDS, self._start)
                return

    async def _write(self, batch: dict[Recorded, tuple[float, int]], undecided: Collection[Recorded]) -> None:
        if undecided:
            stores = await self._recorded_stores()
            batch = {each: count for each, count in batch.items() if each not in undecided or each.store in stores}
        if not batch:
            return
        rows = [
            ActivityRow(
                0, at, each.grant, each.program, each.machine, each.store, each.action, each.host, each.outcome, n
            )
            for each, (at, n) in batch.items()
        ]
        limit = self._max_entries if self._uncounted >= _COUNT_EVERY else None
        await self._store.write(lambda transaction: write_entries(transaction, rows, limit=limit))
        self._uncounted = len(rows) if limit is not None else self._uncounted + len(rows)
        if self._lost:
            logger.warning("%d entries of the activity log are lost: too many at once", self._lost)
            self._lost = 0

    def _put_back(self, batch: dict[Recorded, tuple[float, int]], undecided: Collection[Recorded]) -> None:
        for recorded, (at, count) in batch.items():
            if recorded in undecided and recorded not in self._pending:
                self._undecided.add(recorded)
            known = self._pending.get(recorded)
            if known is not None:
                self._pending[recorded] = at, known[1] + count
            elif len(self._pending) < _MAX_PENDING:
                self._pending[recorded] = at, count
            else:
                self._lost += 1

    async def _recorded_stores(self) -> frozenset[int]:
        if not self._is_subscribed:
            self._store.subscribe(self._on_change)
            self._is_subscribed = True
        if self._stores is not None:
            return self._stores
        generation = self._generation
        stores = await self._store.read(recorded_stores, single_statement=True)
        if generation == self._generation:  # otherwise a change was delivered during the read
            self._stores = stores
        return stores

    def _on_change(self, record: ChangeRecord) -> None:
        if record.topic in (ACTIVITY_SETTING_CHANGED, SETTINGS_CHANGED, RESYNC):  # a restore changes all settings
            self._generation += 1
            self._stores = None
