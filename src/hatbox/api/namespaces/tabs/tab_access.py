"""A caller's access to tabs, captured when the call is made: visible URLs and allowed cookie stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from hatbox.api.caller import Caller, CallGuard
from hatbox.tabs.tab_model import Tab
from hatbox.urls.match_patterns import HostPermissions
from hatbox.urls.url import parse_url

__all__ = ["TabAccess", "grant_active_tab", "tab_access"]


_EXTENSION: Final = "moz-extension://"


class TabAccess(NamedTuple):
    """The permissions of a caller that concern tabs. A call uses those with which it started."""

    id: str
    has_tabs_permission: bool
    hosts: HostPermissions
    has_cookies_permission: bool
    active_tabs: Mapping[int, int] = {}
    """The tabs with activeTab permission, each with the navigation id of its page."""
    page: str = ""
    """The extension page of the caller: the base of relative URLs."""
    guard: CallGuard | None = None
    """The guard of a caller that may use some identities only: rules must not open its pages in others."""

    def can_see(self, tab: Tab) -> bool:
        """Whether the caller may see URL and title: with `tabs`, or with access to the page. A guard decides alone."""
        if self.guard is not None:
            return self.guard.shows_url(tab.url)
        return self.has_tabs_permission or self.has_host_access(tab)

    def has_active_tab(self, tab: Tab) -> bool:
        """Whether the user has given access to the page of a tab by a click on the extension (activeTab)."""
        return tab.id in self.active_tabs and _page(tab) <= self.active_tabs[tab.id]

    def has_host_access(self, tab: Tab) -> bool:
        """Whether the caller has access to the page of a tab: host permission, activeTab, or its own page."""
        if self.has_active_tab(tab):
            return True
        if self.page and tab.url.startswith(_root(self.page)):
            return True
        url = parse_url(tab.url)
        return url is not None and self.hosts.allow_url(url.scheme, url.host)


def tab_access(caller: Caller) -> TabAccess:
    """The current access of a caller."""
    permissions = caller.permissions
    active = caller.active_tabs if "activeTab" in permissions else {}
    url = caller.context.url
    page = url if url.startswith(_EXTENSION) else ""
    has_tabs, has_cookies = "tabs" in permissions, "cookies" in permissions
    return TabAccess(caller.extension_id, has_tabs, caller.hosts, has_cookies, active, page, caller.guard)


def grant_active_tab(caller: Caller, tab: Tab) -> None:
    """Grant access to a tab until its next navigation, if the caller has the permission activeTab."""
    if "activeTab" in caller.permissions:
        caller.active_tabs[tab.id] = _page(tab)


def _root(page: str) -> str:
    """The root URL of an extension, which always has access to its own pages."""
    return page[: page.index("/", len(_EXTENSION)) + 1]


def _page(tab: Tab) -> int:
    """The navigation id of the committed page. A pending navigation has the next id."""
    return tab.navigation_id - 1 if tab.pending_url else tab.navigation_id
