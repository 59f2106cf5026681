"""Who asks, as it is when the call is made: what it may see of tabs, and what it may choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from hatbox.api.caller import Caller
from hatbox.tabs.tab_model import Tab
from hatbox.urls.match_patterns import HostPermissions
from hatbox.urls.url import parse_url

__all__ = ["TabAccess", "grant_active_tab", "tab_access"]


_EXTENSION: Final = "moz-extension://"


class TabAccess(NamedTuple):
    """A caller's id and permissions. A call keeps those that it began with."""

    id: str
    has_tabs_permission: bool
    hosts: HostPermissions
    has_cookies_permission: bool
    active_tabs: Mapping[int, int] = {}
    """The tabs that the user has shown it, each with the load that has brought its page."""
    page: str = ""
    """The page of its extension that asks: what relative URLs start from."""

    def can_see(self, tab: Tab) -> bool:
        """Whether it may see what page is in a tab: with the permission `tabs`, or one for the page itself."""
        return self.has_tabs_permission or self.has_host_access(tab)

    def has_host_access(self, tab: Tab) -> bool:
        """Whether it has a permission for the page in a tab: for its host, or because the user has shown it the tab."""
        if tab.id in self.active_tabs and _page(tab) <= self.active_tabs[tab.id]:
            return True
        if self.page and tab.url.startswith(_root(self.page)):
            return True
        url = parse_url(tab.url)
        return url is not None and self.hosts.allow_url(url.scheme, url.host)


def tab_access(caller: Caller) -> TabAccess:
    """A caller as it is now."""
    permissions = caller.permissions
    active = caller.active_tabs if "activeTab" in permissions else {}
    url = caller.context.url
    page = url if url.startswith(_EXTENSION) else ""
    return TabAccess(caller.extension_id, "tabs" in permissions, caller.hosts, "cookies" in permissions, active, page)


def grant_active_tab(caller: Caller, tab: Tab) -> None:
    """The user acts on something of the caller's in a tab: with `activeTab`, it may see that until the page goes."""
    if "activeTab" in caller.permissions:
        caller.active_tabs[tab.id] = _page(tab)


def _root(page: str) -> str:
    """Where the pages of an extension are: everybody may enter its own house."""
    return page[: page.index("/", len(_EXTENSION)) + 1]


def _page(tab: Tab) -> int:
    """The number of the load that has brought the page; while another one is under way, that which came before it."""
    return tab.navigation_id - 1 if tab.pending_url else tab.navigation_id
