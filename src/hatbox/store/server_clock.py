"""The clock of a server, computed from the local clock and the offset between both. Opens no connection.

A reading of the server's clock was made at an unknown moment of a round trip. So it bounds the offset: the shorter the
round trip, the closer the bounds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from math import inf
from typing import Final

__all__ = ["ServerClock", "uptime"]

logger = logging.getLogger("hatbox.store")

_MAX_SKEW_SECONDS: Final = 60.0
_RESOLUTION_SECONDS: Final = 0.001  # readings that differ by less are no contradiction


def uptime() -> float:
    """Seconds since this machine was started, suspended or not. Setting its clock does not change them."""
    boot_time = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot_time is None else time.clock_gettime(boot_time)


class ServerClock:
    """The time of a server. Readings may be added by another thread than the one that calls time()."""

    def __init__(self, label: str, local: Callable[[], float] = uptime) -> None:
        """`local` is a clock that nobody sets: a machine's time may be corrected while a profile is open."""
        self.label = label
        """The name of the profile in log lines."""
        self._local = local
        self._offset = time.time() - local() if local is uptime else 0.0
        self._lowest, self._highest = -inf, inf  # bounds of the offset
        self._is_skew_logged = False

    @property
    def offset(self) -> float:
        """Seconds by which the server's clock is ahead of the local one."""
        return self._offset

    def time(self) -> float:
        """The server's time, in seconds since 1970. The local time before the first reading."""
        return self._local() + self._offset

    def read(self, server: Callable[[], float]) -> None:
        """Read the server's clock, and use the reading."""
        before = self._local()
        now = server()
        self.add_reading(before, now, self._local(), time.time())

    def add_reading(self, before: float, server: float, after: float, machine: float | None = None) -> None:
        """Use a reading of the server's clock, made between two readings of the local clock.

        `machine` is the time of this machine, of which a skew is logged; by default the local clock shows it.

        The bounds of all readings are combined, so the shortest round trip counts most. A reading that contradicts
        the earlier ones replaces them: a clock was set, or the two clocks drift apart.
        """
        if after < before:  # the local clock was set back in between
            return
        lowest, highest = max(self._lowest, server - after), min(self._highest, server - before)
        if lowest > highest:
            if lowest - highest < _RESOLUTION_SECONDS:
                return
            lowest, highest = server - after, server - before
        self._lowest, self._highest, self._offset = lowest, highest, (lowest + highest) / 2
        self._check_skew(server - after if machine is None else server - machine, after - before)

    def _check_skew(self, skew: float, uncertainty: float) -> None:
        if abs(skew) - uncertainty > _MAX_SKEW_SECONDS and not self._is_skew_logged:
            self._is_skew_logged = True
            logger.warning(
                "%s: the clock of this machine is %.0f seconds %s the server's clock, by which cookies expire. "
                "Set the clock of this machine or of the server, for example with NTP.",
                self.label,
                abs(skew),
                "behind" if skew > 0 else "ahead of",
            )
