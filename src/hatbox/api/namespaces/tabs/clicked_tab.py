"""The tab of a user action, as the extension may see it. Shared by menus, action, pageAction and commands."""

from __future__ import annotations

from hatbox.api.caller import Caller
from hatbox.api.namespaces.tabs.tab_access import grant_active_tab, tab_access
from hatbox.api.namespaces.tabs.tab_views import TabView
from hatbox.tabs.tab_model import Tab

__all__ = ["clicked_tab_view"]


def clicked_tab_view(caller: Caller, tab: Tab | None) -> TabView | None:
    """The view of a tab in which the user clicked the extension's UI. Grants activeTab."""
    if tab is None:
        return None
    grant_active_tab(caller, tab)
    return TabView(tab, tab_access(caller))
