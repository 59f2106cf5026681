"""Finds the opener of a tab if Chromium reports none: after a middle click, or a click with Ctrl or Shift.

A page requests such a navigation (Page.frameRequestedNavigation), and a target without an opener appears. Knows neither
pages nor tabs.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

__all__ = ["Openers", "Requested"]

_MOST: Final = 32  # requests of a context: a page may make any number of them without opening a tab
_SOON: Final = 5.0  # seconds in which a target without a URL is matched to a request
_LATE: Final = 60.0  # a page appears with its response, which may take a while
_BACKGROUND: Final = "newTab"


class Requested(NamedTuple):
    """A new tab that a page has requested."""

    target_id: str
    """The target of the page."""
    url: str
    in_background: bool
    at: float


class Openers:
    """The tabs that pages of one context have requested and that are not open yet."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._requested: deque[Requested] = deque(maxlen=_MOST)

    def request(self, target_id: str, url: str, disposition: str) -> None:
        """A page requests a navigation in a new tab or window."""
        self._requested.append(Requested(target_id, url, disposition == _BACKGROUND, self._clock()))

    def take(self, opener_id: str | None, url: str) -> Requested | None:
        """The request that a new target belongs to; None if no page has requested it.

        `opener_id` is the opener that Chromium names, `url` the URL of the target, empty if it is not known yet.
        """
        now = self._clock()
        candidates = [each for each in self._requested if now - each.at < _LATE]
        if opener_id is not None:
            candidates = [each for each in candidates if each.target_id == opener_id]
        found = next((each for each in candidates if each.url == url), None)
        if found is None and url.startswith(("http://", "https://")):  # the server has redirected it
            found = next(iter(candidates), None)
        elif found is None and url in ("", "about:blank"):
            found = next((each for each in candidates if now - each.at < _SOON), None)
        if found is not None:
            self._requested.remove(found)
        return found
