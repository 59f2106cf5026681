"""Who asks, as it is when the call is made: what it may see of tabs, and what it may choose."""

from __future__ import annotations

from typing import NamedTuple

from hatbox.api.caller import Caller
from hatbox.api.match_patterns import HostPermissions
from hatbox.api.urls import parse_url
from hatbox.tabs.model import Tab

__all__ = ["Asker", "asker_of"]


class Asker(NamedTuple):
    """A caller's id and permissions. A call keeps those that it began with."""

    id: str
    sees_all: bool
    hosts: HostPermissions
    chooses_stores: bool

    def sees(self, tab: Tab) -> bool:
        """Whether it may see what page is in a tab: with the permission `tabs`, or one for the page's host."""
        if self.sees_all:
            return True
        url = parse_url(tab.url)
        return url is not None and self.hosts.allow_url(url.scheme, url.host)


def asker_of(caller: Caller) -> Asker:
    """A caller as it is now."""
    permissions = caller.permissions
    return Asker(caller.id, "tabs" in permissions, caller.hosts, "cookies" in permissions)
