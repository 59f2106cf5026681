"""Queries of tabs.query()."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.api.namespaces.tabs.tab_views import TabView, title_of
from hatbox.errors import ApiError
from hatbox.tabs.tab_model import Tab, Window
from hatbox.urls.globs import Glob, glob
from hatbox.urls.match_patterns import UrlPattern, parse_url_pattern
from hatbox.urls.url import parse_url

__all__ = ["CURRENT_WINDOW", "TabQuery", "matches_any", "parse_query"]

CURRENT_WINDOW: Final = -2  # windows.WINDOW_ID_CURRENT: the last focused window

_COMPARED: Final = {  # properties that are compared, with their names in TabView
    "active": "active",
    "audible": "audible",
    "autoDiscardable": "auto_discardable",
    "discarded": "discarded",
    "hidden": "hidden",
    "highlighted": "highlighted",
    "index": "index",
    "openerTabId": "opener_tab_id",
    "pinned": "pinned",
    "status": "status",
    "groupId": "group_id",
    "splitViewId": "split_view_id",
}


class TabQuery(NamedTuple):
    """A parsed query. `urls` and `title` are None without such a filter."""

    details: Mapping[str, Any]
    urls: Sequence[UrlPattern] | None
    title: Glob | None

    def matches(self, tab: Tab, window: Window, access: TabAccess) -> bool:
        """Whether a tab matches all filters."""
        return (
            self.matches_window(window)
            and self._matches_properties(TabView(tab, access))
            and self._matches_url_and_title(tab, access)
        )

    @property
    def cookie_store_ids(self) -> Sequence[str] | None:
        """The cookie stores of the query; None for all."""
        stores = self.details["cookieStoreId"]
        return [stores] if isinstance(stores, str) else stores

    def matches_window(self, window: Window) -> bool:
        """Whether tabs of this window can match."""
        details = self.details
        window_id = details["windowId"]
        return (
            details["lastFocusedWindow"] in (None, window.focused)
            and details["currentWindow"] in (None, window.focused)
            and details["windowType"] in (None, window.kind)
            and (window_id in (None, window.id) or (window_id == CURRENT_WINDOW and window.focused))
        )

    def _matches_properties(self, view: TabView) -> bool:
        details = self.details
        stores = self.cookie_store_ids
        return (
            all(details[name] in (None, getattr(view, attribute)) for name, attribute in _COMPARED.items())
            and details["muted"] in (None, view.muted_info.muted)
            and not details["camera"]
            and not details["microphone"]
            and not details["screen"]
            and (stores is None or view.cookie_store_id in stores)
        )

    def _matches_url_and_title(self, tab: Tab, access: TabAccess) -> bool:
        if self.urls is None and self.title is None:
            return True
        return (
            access.can_see(tab)
            and (self.urls is None or matches_any(self.urls, tab.url))
            and (self.title is None or self.title.matches(title_of(tab)))
        )


def parse_query(details: Mapping[str, Any]) -> TabQuery:
    """Parse normalized arguments. Raises ApiError for an invalid URL pattern."""
    urls = details["url"]
    if urls is not None:
        urls = [_pattern(text) for text in ([urls] if isinstance(urls, str) else urls)]
    title = None if details["title"] is None else glob(details["title"], question=True)
    return TabQuery(details, urls, title)


def matches_any(patterns: Sequence[UrlPattern], text: str) -> bool:
    """Whether one of the patterns matches a URL."""
    url = parse_url(text)
    return url is not None and any(pattern.matches(url) for pattern in patterns)


def _pattern(text: str) -> UrlPattern:
    pattern = parse_url_pattern(text)
    if pattern is None:
        raise ApiError(f"Invalid url pattern: {text}")
    return pattern
