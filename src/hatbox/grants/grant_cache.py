"""The grants of running connections in memory. A change by any process replaces an entry, and ends its connections."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from math import inf
from typing import Final, TypeAlias

import msgspec

from hatbox.errors import GrantExpired, GrantRefused, GrantRevoked, ProfileClosed, ProfileError
from hatbox.grants.grant import Grant
from hatbox.grants.grant_rows import GRANT_CHANGED, decode_grant_change, grant_of
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.store.server_clock import uptime
from hatbox.tasks import Tasks

__all__ = ["EndCallback", "GrantCache"]

logger = logging.getLogger("hatbox.grants")

EndCallback: TypeAlias = Callable[[], None]
"""Called once, when a grant ends."""

_MAX_ENTRIES: Final = 10_000
_MAX_TIMER: Final = 30.0  # seconds: the clock may be set, and machines may sleep


class GrantCache:
    """The grants that this process has verified or created. Bound to the event loop of the store.

    A grant expires by the clock of the profile, or by `clock`, which is monotonic: whichever is first.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = uptime) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[str, Grant] = {}
        self._deadlines: dict[str, float] = {}  # by `clock`, of grants that expire; they only ever become earlier
        self._watchers: dict[str, list[EndCallback]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks = Tasks()
        self._is_subscribed = False
        self.generation = 0
        """Incremented by each change of a grant. A row that was read meanwhile may be outdated."""

    def subscribe(self) -> None:
        """Observe changes. Before a grant is read that is to be added."""
        if not self._is_subscribed:
            self._store.subscribe(self._on_change)
            self._is_subscribed = True

    def add(self, grant: Grant) -> None:
        """Add or replace a grant."""
        if len(self._known) >= _MAX_ENTRIES and grant.id not in self._known:
            self._known = {key: each for key, each in self._known.items() if key in self._watchers}
            self._deadlines = {key: each for key, each in self._deadlines.items() if key in self._known}
        self._known[grant.id] = grant
        if grant.expires is not None:
            deadline = self._clock() + grant.expires - self._store.time()
            self._deadlines[grant.id] = min(deadline, self._deadlines.get(grant.id, deadline))

    def check(self, grant_id: str) -> Grant:
        """The grant, if it is valid now. Raises GrantRefused. Reads no store: for every call of a connection."""
        grant = self._known.get(grant_id)
        if grant is not None and grant.revoked is None and grant.identities:
            expires = grant.expires
            if expires is None or (self._store.time() < expires and self._clock() < self._deadlines[grant_id]):
                return grant
            self._deadlines[grant_id] = -inf  # also if the clock is set back
            raise GrantExpired(grant.id)
        raise GrantRefused if grant is None else GrantRevoked(grant.id)

    def watch(self, grant_id: str, callback: EndCallback) -> Callable[[], None]:
        """Call `callback` once when a grant ends; soon, if it is not valid. Returns a function that cancels it."""
        self._watchers.setdefault(grant_id, []).append(callback)
        try:
            grant = self.check(grant_id)
        except GrantRefused:
            asyncio.get_running_loop().call_soon(self._end, grant_id)
        else:
            self._set_timer(grant)

        def cancel() -> None:
            callbacks = self._watchers.get(grant_id, [])
            if callback in callbacks:
                callbacks.remove(callback)
            if not callbacks:
                self._forget(grant_id)

        return cancel

    def close(self) -> None:
        """End all connections, and forget all grants: the profile is being closed."""
        if self._is_subscribed:
            self._store.unsubscribe(self._on_change)
            self._is_subscribed = False
        self.generation += 1
        self._known.clear()
        for grant_id in list(self._watchers):
            self._end(grant_id)
        self._tasks.cancel()

    # ── Changes ──

    def _on_change(self, record: ChangeRecord) -> None:
        if record.topic == GRANT_CHANGED:
            self.generation += 1
            try:
                change = decode_grant_change(record.payload)
            except (msgspec.MsgspecError, UnicodeDecodeError):  # of a later version: the rows decide
                self._resync()
                return
            known = self._known.get(change.id)
            if known is not None:  # it can only lose what it had
                left = tuple(each for each in known.identities if each in change.identities)
                revoked = change.revoked if known.revoked is None else known.revoked
                self._replace(msgspec.structs.replace(known, identities=left, revoked=revoked))
        elif record.topic == RESYNC:
            self.generation += 1
            self._resync()

    def _resync(self) -> None:
        if self._known:
            self._tasks.spawn(self._read_again())

    async def _read_again(self) -> None:
        """Changes may be lost: read all grants again. Without the store nothing is known, and nothing is allowed."""
        wanted = list(self._known)

        def read(transaction: Transaction) -> list[Grant]:
            rows = (transaction.grants.get(each) for each in wanted)
            return [grant_of(row) for row in rows if row is not None]

        generation = self.generation
        try:
            found = {grant.id: grant for grant in await self._store.read(read)}
        except ProfileClosed:
            return
        except ProfileError as error:
            logger.warning("grants cannot be read, so all connections end: %s", error)
            found = {}
        if generation != self.generation:  # replaced since, by what is newer
            self._tasks.spawn(self._read_again())
            return
        for grant_id in wanted:
            if (grant := found.get(grant_id)) is not None:
                self._replace(grant)
            else:
                self._known.pop(grant_id, None)
                self._end(grant_id)

    def _replace(self, grant: Grant) -> None:
        self.add(grant)
        try:
            self.check(grant.id)
        except GrantRefused:
            self._end(grant.id)

    # ── Ends ──

    def _seconds_left(self, grant: Grant) -> float:
        if grant.expires is None:
            return inf
        return min(grant.expires - self._store.time(), self._deadlines[grant.id] - self._clock())

    def _set_timer(self, grant: Grant) -> None:
        may_end = grant.expires is not None or grant.process is not None
        if may_end and grant.id not in self._timers:
            seconds = min(max(0.0, self._seconds_left(grant)), _MAX_TIMER)
            loop = asyncio.get_running_loop()
            self._timers[grant.id] = loop.call_later(seconds, self._on_time, grant.id)

    def _on_time(self, grant_id: str) -> None:
        self._timers.pop(grant_id, None)
        try:
            grant = self.check(grant_id)
            if grant.process is not None and grant.process.is_local and not grant.process.is_running:
                grant = msgspec.structs.replace(grant, revoked=self._store.time())  # the row follows when it is read
                self._replace(grant)
                return
            self._set_timer(grant)
        except GrantRefused:
            self._end(grant_id)

    def _end(self, grant_id: str) -> None:
        callbacks = self._forget(grant_id)
        for callback in callbacks:
            try:
                callback()
            except Exception:
                logger.exception("the end of the grant %s: a callback failed", grant_id)

    def _forget(self, grant_id: str) -> list[EndCallback]:
        if (timer := self._timers.pop(grant_id, None)) is not None:
            timer.cancel()
        return self._watchers.pop(grant_id, [])
