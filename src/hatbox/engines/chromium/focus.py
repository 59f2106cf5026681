"""Keeps the active tab of the profile and the focused page of the browser equal."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import Final

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.browser_environment import BrowserEnvironment
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.sessions import within

__all__ = ["FocusTracker"]

_FOCUS_ECHO_SECONDS: Final = 1.0
_MAX_RECENT: Final = 300


class FocusTracker:
    """The active tab of one launched browser."""

    def __init__(self, env: BrowserEnvironment) -> None:
        self._env = env
        self._active_tab: int | None = None
        self._recent: list[int] = []  # tabs in the order in which they became active; programs focus their own too
        self.person_page: LivePage | None = None
        """The last page in which a person answers a request of a program. It has no tab."""
        self._focused_at: dict[int, float] = {}  # when the user focused a page, until the profile has activated its tab

    async def activate(self, tab_id: int, page: LivePage | None) -> None:
        """Bring the page of a tab to the front, unless the user did."""
        self._set_active(tab_id)
        if time.monotonic() - self._focused_at.pop(tab_id, -_FOCUS_ECHO_SECONDS) < _FOCUS_ECHO_SECONDS:
            return  # the user may have focused another page since
        if page is not None:
            with contextlib.suppress(PlaywrightError):
                await within(page.page.bring_to_front(), "Page.bringToFront")

    async def restore(self, pages: Mapping[int, LivePage]) -> None:
        """A page of a program has opened one in front of the user: bring that of the user to the front again."""
        page = self.person_page
        if page is None or page.page.is_closed():
            is_opened = self._env.services.endpoint_pages.is_opened
            recent = [pages[tab_id] for tab_id in reversed(self._recent) if tab_id in pages]
            page = next((each for each in recent if not is_opened(each.target_id)), None)
        if page is not None:
            with contextlib.suppress(PlaywrightError):
                await within(page.page.bring_to_front(), "Page.bringToFront")

    def on_focus(self, tab_id: int | None) -> None:
        """The user has focused the page of a tab."""
        if tab_id is not None and tab_id != self._active_tab:
            self._set_active(tab_id)
            self._focused_at[tab_id] = time.monotonic()
            self._env.tasks.spawn(self._env.delegate.page_activated(tab_id))

    def _set_active(self, tab_id: int) -> None:
        self._active_tab = tab_id
        self._recent = [*(each for each in self._recent if each != tab_id), tab_id][-_MAX_RECENT:]
