"""When something that has expired may be deleted for ever. Transaction functions. Read whenever a profile is opened.

One wrong reading of the clock must not delete everything. So the clock is trusted only if it is at most a day past the
high-water time of cookies. If it is not, it must show for a day that something has expired. Then what had expired at
the start of that day is deleted: the end of the day may be the wrong reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Final

import msgspec

from hatbox.store.base import Transaction
from hatbox.store.profile_settings import PROFILE

__all__ = ["ExpiryMark", "trusted_time"]

_DAY: Final = 86_400


class ExpiryMark:
    """A setting of the profile: when the clock first showed that something waits to be deleted."""

    def __init__(self, name: str) -> None:
        self._name = name

    def of(self, stored: Mapping[str, bytes]) -> float | None:
        """The time in the settings of the profile; None if nothing waits."""
        return self._decode(stored.get(self._name))

    def get(self, transaction: Transaction) -> float | None:
        """The stored time; None if nothing waits."""
        return self._decode(transaction.settings.get(PROFILE, self._name))

    def note(self, transaction: Transaction, now: float, *, is_waiting: bool) -> None:
        """Store whether something waits to be deleted, after what may be deleted was deleted."""
        seen = self.get(transaction)
        if not is_waiting:
            if seen is not None:
                transaction.settings.delete(PROFILE, self._name)
        elif seen is None or not seen <= now < seen + _DAY:
            transaction.settings.put(PROFILE, self._name, msgspec.json.encode(now))

    def _decode(self, value: bytes | None) -> float | None:
        try:
            return None if value is None else msgspec.json.decode(value, type=float)
        except (msgspec.MsgspecError, UnicodeDecodeError):  # of another program: as if the clock was set back
            return inf


def trusted_time(transaction: Transaction, now: float, seen: float | None) -> float | None:
    """What had expired at this time may be deleted. `seen`: when something was first seen to wait. None for nothing."""
    mark = transaction.cookie_time.get()
    if mark is not None and mark[1] is None and now <= mark[0] + _DAY:
        return now
    return seen if seen is not None and now >= seen + _DAY else None
