"""The high-water time of a profile: the latest time that its clock has shown. Pure: reads no clock.

A cookie that has expired by it stays expired when the clock is set back. But a clock can also be wrong and far ahead
for a while, which must not delete cookies. A limit of one day separates the two cases:

- If the clock is up to a day ahead of the high-water time, it is trusted, and the high-water time follows it.
- If it is further ahead, that is a leap. Cookies expire by it too, but the time before it is stored. If the clock
  returns to that time, the leap is undone. If the clock runs on for a day after the leap, the leap is confirmed.
- A cookie is purged when the high-water time is a day past its expiry. While a leap is not confirmed, the time before
  it counts. So the first reading of a wrong clock purges no cookie that was valid before.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["DAY_SECONDS", "HighWater"]

DAY_SECONDS: Final = 86400.0


class HighWater(NamedTuple):
    """The latest time seen; and while a leap is not confirmed, the time before it and the time that it led to."""

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
