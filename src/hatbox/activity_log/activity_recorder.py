"""Collects entries of the activity log, and writes them in batches: within a second, and when the profile is closed.

The same action again within a minute changes its entry, so that a busy program adds few of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import Final

from hatbox.activity_log.activity_rows import ACTIVITY_SETTING_CHANGED, MAX_ENTRIES, recorded_stores, write_entries
from hatbox.activity_log.entry_budget import EntryBudget, Recorded
from hatbox.errors import ProfileClosed, ProfileError
from hatbox.identity.model import SETTINGS_CHANGED
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.store.grant_tables import ActivityRow
from hatbox.store.server_clock import uptime
from hatbox.tasks import Tasks

__all__ = ["ActivityRecorder"]

logger = logging.getLogger("hatbox.activity")

_SECONDS: Final = 0.5  # until entries are written
_MINUTE: Final = 60.0  # in which the same is one entry
_COUNT_EVERY: Final = 1000  # written entries


class ActivityRecorder:
    """The entries of this process that are not written yet. Bound to the event loop of the store.

    `pattern_of`: see EntryBudget.
    """

    def __init__(
        self,
        store: Store,
        max_entries: int = MAX_ENTRIES,
        clock: Callable[[], float] = uptime,
        pattern_of: Callable[[str, str], str] = lambda _, __: "",
    ) -> None:
        self._store = store
        self._max_entries = max_entries
        self._clock = clock
        self._pending: dict[Recorded, tuple[float, int]] = {}  # the time of the last one, and how many
        self._undecided: set[Recorded] = set()  # those whose identity may not be recorded
        self._budget = EntryBudget(pattern_of)
        self._written: dict[Recorded, ActivityRow] = {}  # in this minute
        self._minute_ends = 0.0
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
        self._start_minute()
        recorded = self._budget.admit(recorded)
        if is_decided:
            self._undecided.discard(recorded)
        elif recorded not in self._pending:
            self._undecided.add(recorded)
        _, count = self._pending.get(recorded, (0.0, 0))
        self._pending[recorded] = self._store.time(), count + 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_SECONDS, self._start)

    def _start_minute(self) -> None:
        """Start the next minute, if this one is over and its entries are written: so memory is bounded."""
        is_writing = self._writing is not None and not self._writing.done()
        if not self._pending and not is_writing and self._clock() >= self._minute_ends:
            self._minute_ends = self._clock() + _MINUTE
            self._budget.clear()
            self._written.clear()

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
            logger.warning("%d entries of the activity log are lost", self._lost + len(self._pending))
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
        rows = {each: self._row(each, at, count) for each, (at, count) in batch.items()}
        added = sum(1 for row in rows.values() if not row.id)
        limit = self._max_entries if self._uncounted >= _COUNT_EVERY else None
        written = await self._store.write(
            lambda transaction: write_entries(transaction, list(rows.values()), limit=limit)
        )
        self._written.update(zip(rows, written, strict=True))
        self._uncounted = added if limit is not None else self._uncounted + added

    def _row(self, recorded: Recorded, at: float, count: int) -> ActivityRow:
        """The new row of an entry, or the changed one of this minute."""
        known = self._written.get(recorded)
        if known is not None:
            return known._replace(at=at, times=known.times + count)
        program, machine, store, action, host, outcome = recorded[1:]
        return ActivityRow(0, at, recorded.grant, program, machine, store, action, host, outcome, count)

    def _put_back(self, batch: dict[Recorded, tuple[float, int]], undecided: Collection[Recorded]) -> None:
        for recorded, (at, count) in batch.items():
            if recorded in undecided and recorded not in self._pending:
                self._undecided.add(recorded)
            later, more = self._pending.get(recorded, (at, 0))
            self._pending[recorded] = later, more + count

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
