"""What the namespaces of a browser's interface share: whom a click is told to, in which tab it is, what it shows.

Nothing is drawn here. A menu, a button, a command or a notification is an entry in the profile, and what a user would
do to it is a change that whoever runs the extension hears of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hatbox.api.caller import Caller
from hatbox.api.namespaces.tabs.tab_access import grant_active_tab, tab_access
from hatbox.api.namespaces.tabs.tab_views import TabView
from hatbox.javascript.text import well_formed
from hatbox.store.base import Transaction
from hatbox.tabs.strip import row_of
from hatbox.tabs.tab_model import Tab, tab_of
from hatbox.tabs.windows import last_focused

__all__ = ["clicked_tab_view", "is_event_page", "is_persistent", "tab_or_active", "to_well_formed"]


def clicked_tab_view(caller: Caller, tab: Tab | None) -> TabView | None:
    """A tab as a caller sees it when the user has clicked on something of the caller's in it."""
    if tab is None:
        return None
    grant_active_tab(caller, tab)
    return TabView(tab, tab_access(caller))


def tab_or_active(transaction: Transaction, tab_id: int | None) -> Tab | None:
    """The tab with this id, or the active one of the window that has the focus; None if there is none."""
    if tab_id is not None:
        return tab_of(row_of(transaction, tab_id))
    window = last_focused(transaction)
    rows = transaction.tabs.find(window=window.id) if window else []
    return next((tab_of(row) for row in rows if row.active), None)


def is_persistent(manifest: Mapping[str, Any]) -> bool:
    """Whether an extension has a background that never sleeps."""
    background = manifest.get("background") or {"persistent": False}
    return manifest.get("manifest_version") == 2 and bool(background["persistent"])


def is_event_page(manifest: Mapping[str, Any]) -> bool:
    """Whether an extension has a background that sleeps when there is nothing to do."""
    return bool(manifest.get("background")) and not is_persistent(manifest)


def to_well_formed(value: Any) -> Any:
    """A value whose text can be stored, down to the last member: half a pair of surrogates is no text."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {well_formed(key): to_well_formed(member) for key, member in value.items()}
    return [to_well_formed(item) for item in value] if isinstance(value, (list, tuple)) else value
