"""Windows as scripts see them (windows.Window). Knows nothing of how windows change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.api.namespaces.tabs.tab_views import PROBLEM, TabView, tab_view
from hatbox.tabs.tab_model import Tab, Window
from hatbox.urls.url import parse_url

__all__ = ["WindowView"]

_BROWSER: Final = "Mozilla Firefox"  # scripts match the suffix of Firefox's window titles
_SPACES: Final = re.compile(r"[\t\n\f\r ]+")
_POPUP: Final = "popup"
_LEFT, _TOP, _WIDTH, _HEIGHT = 0, 0, 1366, 768  # defaults, if neither an engine nor a script has set them


class WindowView:
    """A window as a caller sees it. `tabs` are its tabs, included in the view only with `populate`."""

    incognito = always_on_top = False

    def __init__(self, window: Window, tabs: Sequence[Tab], access: TabAccess, *, populate: bool = False) -> None:
        self.id = window.id
        self.focused = window.focused
        self.top = _TOP if window.top is None else window.top
        self.left = _LEFT if window.left is None else window.left
        self.width = _WIDTH if window.width is None else window.width
        self.height = _HEIGHT if window.height is None else window.height
        self.type = window.kind
        self.state = window.state
        self.title = _title(window, next((tab for tab in tabs if tab.active), None), access)
        self.tabs: list[TabView] | None = [tab_view(tab, access) for tab in tabs] if populate else None


def _title(window: Window, active: Tab | None, access: TabAccess) -> str | None:
    """The text of the title bar; None if the caller may not see it."""
    if not (access.can_see(active) if active else access.has_tabs_permission):
        return None
    title = active.title or (PROBLEM if active.error else "") if active else ""
    page = _SPACES.sub(" ", _origin(window, active) + window.title_preface + title).strip(" ")
    return f"{page} — {_BROWSER}" if page else _BROWSER


def _origin(window: Window, active: Tab | None) -> str:
    """The origin of the page, which the title of a popup shows instead of an address bar."""
    url = parse_url(active.url) if active else None
    if window.kind != _POPUP or url is None:
        return ""
    return f"{url.scheme}://{url.host}{url.port_suffix} - " if url.host else f"{url.text} - "
