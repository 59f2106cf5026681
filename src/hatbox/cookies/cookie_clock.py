"""The clock that cookies expire by. It never goes back, in any process of a profile. See `HighWater` for the rules.

The high-water time is stored at intervals, not with every request. A crash loses at most one interval.
"""

from __future__ import annotations

import asyncio
import logging
from math import inf
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.store.base import Store, Transaction
from hatbox.store.recorded_calls import unrecorded

__all__ = ["DAY_SECONDS", "HIGH_WATER_ADVANCED", "CookieClock", "HighWater", "cookie_time"]

logger = logging.getLogger("hatbox.cookies")

HIGH_WATER_ADVANCED: Final = "cookies.time"
_INTERVAL_SECONDS: Final = 60.0
_AT_CLOSE_SECONDS: Final = 1.0
DAY_SECONDS: Final = 86400.0


def cookie_time(transaction: Transaction, now: float) -> float:
    """The time that cookies expire by, where the clock shows `now`."""
    return _stored(transaction).observed(now).reached


class CookieClock:
    """Reads the clock of the store, and never shows a time before the high-water time that is stored in the profile."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._high_water = HighWater()
        self._saved = HighWater()
        self._reached = inf  # so that the first call reads the clock
        self._due = -inf  # the time at which the high-water time is stored again
        self.is_loaded = False
        """Whether the stored high-water time is known."""

    @property
    def purge_before(self) -> float:
        """Cookies that expired at this time, or earlier, may be purged."""
        return self._high_water.purge_before

    @property
    def lag(self) -> float:
        """Seconds by which the clock is behind the time that cookies expire by; a second or less counts as none."""
        behind = self.now() - self._store.time()
        return behind if behind > 1 else 0.0

    def now(self) -> float:
        """The time that cookies expire by."""
        now = self._store.time()
        if self._reached <= now < self._due:  # nearly always: this is called with every request
            self._reached = now
            return now
        return self.observe(now)

    def observe(self, now: float) -> float:
        """Update the high-water time with a clock reading; returns the time that cookies expire by."""
        if self._reached < inf:
            self._high_water = self._high_water.observed(self._reached)
        self._high_water = self._high_water.observed(now)
        self._reached = self._high_water.reached
        is_behind = self._reached >= self._saved.reached + _INTERVAL_SECONDS
        if is_behind or self._high_water[1:] != self._saved[1:] or self._reached < self._saved.reached:
            self._save_soon(now)
        self._due = self._saved.reached + _INTERVAL_SECONDS
        return self._reached

    async def load(self) -> None:
        """Read the stored high-water time."""
        self._take_in(await self._store.read(_stored))
        self.is_loaded = True

    def load_soon(self) -> None:
        """Read the stored high-water time without waiting for it, where that cannot be done at once."""
        self.is_loaded = True

        def loaded(done: asyncio.Future[HighWater]) -> None:
            if _report(done):
                self._take_in(done.result())

        reading = asyncio.ensure_future(self._store.read(_stored))
        if reading.done():
            loaded(reading)
        else:
            reading.add_done_callback(loaded)

    def on_advanced(self, payload: bytes) -> None:
        """Apply a high-water time that another process has stored."""
        self._take_in(HighWater(*_decode(payload)))

    def forget(self) -> None:
        """Load it again before its next use: other processes may advance it while the profile is closed here."""
        self.is_loaded = False

    def _take_in(self, stored: HighWater) -> None:
        self._saved = stored
        self._high_water = stored if self._reached == inf else stored.observed(self._reached)
        self._reached = self._high_water.reached or inf
        self._due = stored.reached + _INTERVAL_SECONDS

    async def flush(self) -> None:
        """Store the high-water time, unless the stored one is at most a second behind."""
        if self.is_loaded and self._saved.reached + _AT_CLOSE_SECONDS < self._reached < inf:
            await self._save(self._store.time(), at_least=_AT_CLOSE_SECONDS)

    def _save_soon(self, now: float) -> None:
        """Store it without waiting: requests do not depend on it, and the next interval tries again."""
        self._save(now).add_done_callback(_report)
        self._saved = self._high_water

    def _save(self, now: float, at_least: float = _INTERVAL_SECONDS) -> asyncio.Future[None]:
        """Store it, if another process has not done so within the last `at_least` seconds."""
        seen = (self._reached, now)

        def save(transaction: Transaction) -> None:
            stored = _stored(transaction)
            mark = stored
            for each in seen:
                mark = mark.observed(each)
            if mark[1:] != stored[1:] or mark.reached < stored.reached or mark.reached >= stored.reached + at_least:
                transaction.cookie_time.put(*mark)
                transaction.changes.append(HIGH_WATER_ADVANCED, _encode(tuple(mark)))

        with unrecorded():  # it belongs to no call, whichever reads the time
            return self._store.write(save)


def _report(done: asyncio.Future[Any]) -> bool:
    """Whether the operation succeeded; a failure is logged."""
    if done.cancelled():
        return False
    error = done.exception()
    if error is not None:
        logger.debug("the high-water time of cookies cannot be read or stored: %s", error)
    return error is None


def _stored(transaction: Transaction) -> HighWater:
    row = transaction.cookie_time.get()
    return HighWater(*row) if row else HighWater()


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(tuple[float, float | None, float | None]).decode


class HighWater(NamedTuple):
    """The latest time seen; and while a leap is not confirmed, the time before it and the time that it led to.

    A cookie that has expired stays expired when the clock is set back. But a clock can also be wrong and far ahead for
    a while, which must not delete cookies. A limit of one day separates the two cases:

    - If the clock is up to a day ahead of the high-water time, that follows it.
    - If it is further ahead, that is a leap. If the clock returns to the time before, the leap is undone. If it runs on
      for a day after the leap, the leap is confirmed.
    - A cookie is purged when the high-water time is a day past its expiry. While a leap is not confirmed, the time
      before it counts: the first reading of a wrong clock purges no cookie that was valid before.
    """

    reached: float = 0.0
    before: float | None = None
    landed: float | None = None

    def observed(self, now: float) -> HighWater:
        """The high-water time once the clock has shown `now`. Its `reached` is the time that cookies expire by."""
        if self.before is None or self.landed is None:
            if now <= self.reached:
                return self
            is_leap = self.reached > 0 and now > self.reached + DAY_SECONDS
            return HighWater(now, self.reached, now) if is_leap else HighWater(now)
        if self.before - DAY_SECONDS <= now < self.landed - DAY_SECONDS:
            return HighWater(self.before).observed(now)
        if now <= self.reached:
            return self
        return HighWater(now) if now >= self.landed + DAY_SECONDS else self._replace(reached=now)

    @property
    def purge_before(self) -> float:
        """Cookies that expired at this time, or earlier, may be purged."""
        return (self.reached if self.before is None else self.before) - DAY_SECONDS
