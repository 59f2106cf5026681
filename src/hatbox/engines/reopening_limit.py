"""Limits how often rules reopen pages: a page can open any number of windows, and an extension can undo a reopening.

In memory only, per engine. Pure except for its clock.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Final

__all__ = ["MAX_REOPENED_BY_PAGES", "MAX_REOPENED_URL", "ReopeningLimit"]

MAX_REOPENED_BY_PAGES: Final = 20
"""Navigations that pages of one identity start, reopened in ten seconds."""

MAX_REOPENED_URL: Final = 5
"""Reopenings of one URL in ten seconds, of all pages and programs."""

_SECONDS: Final = 10.0
_MAX_ENTRIES: Final = 256


class ReopeningLimit:
    """The reopenings of the last ten seconds."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock or time.monotonic
        self._times: OrderedDict[str, deque[float]] = OrderedDict()  # by URL, and by "identity " and cookieStoreId
        self._reopened: OrderedDict[int, str] = OrderedDict()  # URLs by the tabs in which rules reopened them
        self._contested: OrderedDict[str, float] = OrderedDict()

    def seconds_to_wait(self, cookie_store_id: str, url: str, *, is_requested: bool) -> int:
        """Seconds until a URL may be reopened; 0 if it may be now, and then this reopening counts.

        Navigations that were requested in the profile count for the URL only: a program may open many pages.
        """
        limits = [(url, MAX_REOPENED_URL)]
        if not is_requested:
            limits.append((f"identity {cookie_store_id}", MAX_REOPENED_BY_PAGES))
        now = self._clock()
        recent = [(self._recent(key, now), maximum) for key, maximum in limits]
        waits = [times[0] + _SECONDS - now for times, maximum in recent if len(times) >= maximum]
        if waits:
            return max(1, math.ceil(max(waits)))
        for times, _ in recent:
            times.append(now)
        return 0

    def reopened(self, tab_id: int, url: str) -> None:
        """Rules reopened a URL in this tab."""
        self._reopened[tab_id] = url
        _trim(self._reopened)

    def cancelled(self, tab_id: int, url: str) -> None:
        """A blocking listener cancelled a navigation."""
        if self._reopened.pop(tab_id, None) == url:
            self._contested[url] = self._clock() + _SECONDS
            _trim(self._contested)

    def is_contested(self, url: str) -> bool:
        """Whether an extension has cancelled the reopening of this URL, and may have opened it elsewhere. True once."""
        until = self._contested.pop(url, None)
        return until is not None and self._clock() < until

    def _recent(self, key: str, now: float) -> deque[float]:
        times = self._times.setdefault(key, deque())
        self._times.move_to_end(key)
        _trim(self._times)
        while times and times[0] <= now - _SECONDS:
            times.popleft()
        return times


def _trim(entries: OrderedDict[Any, Any]) -> None:
    while len(entries) > _MAX_ENTRIES:
        entries.popitem(last=False)
