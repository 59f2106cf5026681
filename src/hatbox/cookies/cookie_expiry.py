"""Notices that cookies have expired, which is no change of the profile. Reads no cookie, only times.

The next expiry of each store is in memory: it is read once, and then follows the change log. Without listeners, nothing
is read and no timer runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Final, NamedTuple

from hatbox.clock import Clock, Timer
from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_rows import COOKIE_CHANGED, EXPIRES, decode_change
from hatbox.errors import ProfileClosed, ProfileError
from hatbox.events import Event
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.store.change_events import ChangeSubscription
from hatbox.tasks import Tasks

__all__ = ["CookieExpiry", "ExpiredCookies"]

logger = logging.getLogger("hatbox.cookies")

_DELAY: Final = 0.5  # seconds after an expiry: the clock of a reader may be corrected, and must not be before it again
_INTERVAL: Final = 1.0  # between two reads, however many cookies expire
_MAX_WAIT: Final = 60.0  # the clock may be set, and machines may sleep
_PART: Final = 1000  # stores that one transaction reads: some milliseconds


class ExpiredCookies(NamedTuple):
    """Cookie stores with cookies that have expired."""

    stores: frozenset[int] = frozenset()
    """userContextIds."""
    all: bool = False
    """The clock was set back: any cookie may be valid again."""


class CookieExpiry:
    """Watches the time while its event has listeners. Bound to the event loop of the store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._subscription = ChangeSubscription(store, self._on_change)
        self._next: dict[int, float] = {}  # of each store: no later than its next expiry after `_time`
        self._time = -inf  # the listeners know what has expired until then; -inf: nothing was read yet
        self._ahead = 0.0  # seconds by which the time that cookies expire by is ahead of the store's clock
        self._started = 0.0  # when the first listener was added
        self._is_outdated = True  # changes were lost, or nothing was read yet
        self._read_at = -inf  # by the clock
        self._planned = inf  # the expiry that the timer waits for
        self._timer: Timer | None = None
        self._longest: asyncio.TimerHandle | None = None
        self._checking: asyncio.Task[None] | None = None
        self._tasks = Tasks()
        self.is_watching = False
        """Whether the time is watched."""
        self.on_expired: Event[ExpiredCookies] = Event(
            "cookies.on_expired", on_listeners_changed=self._update_listeners
        )
        """Emitted within two seconds after cookies have expired."""

    # ── Starting and stopping ──

    def _update_listeners(self) -> None:
        self._subscription.set(bool(self.on_expired))
        if self.is_watching and not self.on_expired:
            self._stop()
        elif self.on_expired and not self.is_watching:
            self._start()

    def _start(self) -> None:
        """Before the profile is opened, nothing expires for its listeners: the first change starts it then."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        self.is_watching = self._is_outdated = True
        self._time, self._started = -inf, self._store.time()
        self._check_soon()

    def _stop(self) -> None:
        self.is_watching = False
        self._cancel_timers()
        self._planned = inf
        self._tasks.cancel()
        self._checking = None
        self._next.clear()

    # ── Changes ──

    def _on_change(self, change: ChangeRecord) -> None:
        if not self.is_watching:
            self._start()
        if change.topic == RESYNC:
            self._is_outdated = True
            self._plan_again()
        elif change.topic == COOKIE_CHANGED:
            store, was_removed, _, row = decode_change(change.payload)
            if not was_removed and row[EXPIRES] is not None:
                self._note(store, row[EXPIRES])

    def _note(self, store: int, expires: float) -> None:
        if self._time < expires < self._next.get(store, inf):
            self._next[store] = expires
            if expires < self._planned:
                self._plan_again()

    # ── Time ──

    def _plan(self) -> None:
        """Check again at the next expiry, or after a while."""
        self._cancel_timers()
        self._planned = -inf if self._is_outdated else min(self._next.values(), default=inf)
        if self._planned < inf:
            now = self._clock.time()
            seconds = self._planned + _DELAY - self._ahead - self._store.time()
            self._timer = self._clock.call_at(max(now + seconds, min(self._read_at, now) + _INTERVAL), self._on_time)
        self._longest = asyncio.get_running_loop().call_later(_MAX_WAIT, self._check_soon)

    def _plan_again(self) -> None:
        if self._checking is None:  # else it does when it has ended
            self._plan()

    def _cancel_timers(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._longest is not None:
            self._longest.cancel()
        self._timer = self._longest = None

    async def _on_time(self) -> None:
        await asyncio.wait([self._check_soon()])

    def _check_soon(self) -> asyncio.Task[None]:
        if self._checking is None:
            self._checking = self._tasks.spawn(self._check())
        return self._checking

    async def _check(self) -> None:
        expired = None
        try:
            expired = await self._read()
        except ProfileClosed:
            self._stop()  # until it is opened again, and something changes
        except ProfileError as error:
            self._is_outdated = True
            logger.debug("the next expiry of cookies cannot be read: %s", error)
        finally:
            if self._checking is asyncio.current_task():
                self._checking = None
        if expired is not None:
            self.on_expired.emit(expired)
        if self.is_watching:
            self._plan_again()

    async def _read(self) -> ExpiredCookies | None:
        """Find what has expired since the last check. `_time` follows the clock with a delay."""
        self._read_at = self._clock.time()
        now = self._started if self._time == -inf else self._store.time()
        reached = await self._store.read(lambda transaction: cookie_time(transaction, now), single_statement=True)
        self._ahead, time = reached - now, reached - _DELAY
        was_set_back = time < self._time
        if was_set_back or self._time == -inf:
            self._time = time
        if was_set_back or self._is_outdated:
            await self._read_all()
        expired = await self._read_due(time)
        self._time = time
        if was_set_back:
            return ExpiredCookies(all=True)
        return ExpiredCookies(frozenset(expired)) if expired else None

    async def _read_all(self) -> None:
        self._is_outdated = False
        self._next.clear()
        after = self._time
        for part in _parts([0, *await self._store.read(_identities, single_statement=True)]):
            self._merge(await self._store.read(partial(_next_expiries, stores=part, after=after)))
            await asyncio.sleep(0)  # a part must not delay what waits

    async def _read_due(self, time: float) -> set[int]:
        """The stores with cookies that have expired until a time. They may have been renewed or removed before."""
        due = [store for store, expires in self._next.items() if expires <= time]
        for store in due:
            del self._next[store]
        expired: set[int] = set()
        for part in _parts(due):
            now_expired, coming = await self._store.read(partial(_split, stores=part, after=self._time, time=time))
            expired |= now_expired
            self._merge(coming)
            await asyncio.sleep(0)
        return expired

    def _merge(self, found: Mapping[int, float]) -> None:
        for store, expires in found.items():
            self._next[store] = min(expires, self._next.get(store, inf))


def _parts(stores: Sequence[int]) -> Iterator[Sequence[int]]:
    return (stores[start : start + _PART] for start in range(0, len(stores), _PART))


def _identities(transaction: Transaction) -> list[int]:
    return transaction.identities.ids()


def _next_expiries(transaction: Transaction, stores: Collection[int], after: float) -> dict[int, float]:
    return transaction.cookies.next_expiries(stores, after)


def _split(
    transaction: Transaction, stores: Collection[int], after: float, time: float
) -> tuple[set[int], dict[int, float]]:
    """The stores with cookies that have expired between two times; the next expiry of each store that has one."""
    found = transaction.cookies.next_expiries(stores, after)
    expired = {store for store, expires in found.items() if expires <= time}
    coming = {store: expires for store, expires in found.items() if store not in expired}
    return expired, coming | (transaction.cookies.next_expiries(expired, time) if expired else {})
