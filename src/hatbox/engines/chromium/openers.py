"""Finds the opener of a tab if Chromium reports none: after a middle click, or a click with Ctrl or Shift.

Chromium reports the request (Page.frameRequestedNavigation) and later a target without an opener. Knows neither pages
nor tabs.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

__all__ = ["Openers", "TabRequest"]

_MAX_REQUESTS: Final = 32  # of a context: a page can request any number of tabs without opening them
_BLANK_MATCH_SECONDS: Final = 5.0  # a target without a URL matches requests of this age
_MATCH_SECONDS: Final = 60.0  # a target appears with the response of the server
_BACKGROUND_DISPOSITION: Final = "newTab"
_DISPOSITIONS: Final = (_BACKGROUND_DISPOSITION, "newWindow")


class TabRequest(NamedTuple):
    """A request of a page for a new tab."""

    target_id: str
    """The target of the page."""
    url: str
    in_background: bool
    at: float


class Openers:
    """Requests for new tabs by the pages of one context, until the tabs open."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._requested: deque[TabRequest] = deque(maxlen=_MAX_REQUESTS)

    def request(self, target_id: str, url: str, disposition: str) -> None:
        """A page requests a navigation, perhaps in a new tab or window."""
        if disposition in _DISPOSITIONS:
            self._requested.append(TabRequest(target_id, url, disposition == _BACKGROUND_DISPOSITION, self._clock()))

    def take(self, opener_id: str | None, url: str) -> TabRequest | None:
        """Remove and return the request that a new target belongs to; None if no page has requested it.

        `opener_id` is the opener that Chromium reports, `url` the URL of the target, empty if not known yet.
        """
        now = self._clock()
        candidates = [each for each in self._requested if now - each.at < _MATCH_SECONDS]
        if opener_id is not None:
            candidates = [each for each in candidates if each.target_id == opener_id]
        found = next((each for each in candidates if each.url == url), None)
        if found is None and url.startswith(("http://", "https://")):  # redirected by the server
            found = next(iter(candidates), None)
        elif found is None and url in ("", "about:blank"):
            found = next((each for each in candidates if now - each.at < _BLANK_MATCH_SECONDS), None)
        if found is not None:
            self._requested.remove(found)
        return found
