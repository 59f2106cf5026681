"""How long calls wait for a lost connection, and how often they try again."""

from __future__ import annotations

import time
from typing import Final

from hatbox.store.postgres.failures import ConnectionLost, unavailable

__all__ = ["ReconnectLimit"]

_FIRST_PAUSE: Final = 0.05  # seconds between attempts; doubled each time
_LONGEST_PAUSE: Final = 2.0


class ReconnectLimit:
    """The limit of the calls that share a transaction. It starts when they first lose the connection."""

    def __init__(self, label: str, seconds: float) -> None:
        self._label = label
        self._seconds = seconds
        self._started: float | None = None
        self._pause = _FIRST_PAUSE

    def wait(self, error: ConnectionLost, *, uncertain: bool = False) -> None:
        """Return when it is time to connect again. Raises ProfileUnavailable at the limit.

        `uncertain`: the connection was lost while a commit was in progress.
        """
        now = time.monotonic()
        if self._started is None and not error.permanent:
            self._started = now
            return
        waited = now - (self._started or now)
        pause = min(self._pause, self._seconds - waited)
        if error.permanent or pause <= 0:
            raise unavailable(self._label, error, waited=waited, uncertain=uncertain) from error
        time.sleep(pause)
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)
