"""Shared by the action namespaces: scopes from tabId and windowId, arguments of onClicked. Errors match Firefox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from hatbox.api.caller import Caller
from hatbox.api.namespaces.tabs.clicked_tab import clicked_tab_view
from hatbox.api.namespaces.tabs.tab_functions import resolve_window_id
from hatbox.api.namespaces.tabs.tab_views import TabView
from hatbox.errors import ApiError, InvalidWindow
from hatbox.extension_data.action_clicks import ActionClickData, ActionClicked
from hatbox.extension_data.action_values import GLOBAL, ActionScope, tab_scope
from hatbox.store.base import Transaction
from hatbox.tabs.windows import get_window

__all__ = ["Details", "click_args", "scope_of"]

Details: TypeAlias = Mapping[str, Any]


def scope_of(transaction: Transaction, details: Details) -> ActionScope:
    """The scope that tabId and windowId name; the global scope without them."""
    tab_id, window_id = details.get("tabId"), details.get("windowId")
    if tab_id is not None and window_id is not None:
        raise ApiError("Only one of tabId and windowId can be specified.")
    if tab_id is not None:
        return tab_scope(transaction, tab_id)
    if window_id is None:
        return GLOBAL
    resolved = resolve_window_id(transaction, window_id)
    if resolved is None:
        raise InvalidWindow(window_id)
    return ActionScope(window=get_window(transaction, resolved).id)


def click_args(caller: Caller, clicked: ActionClicked) -> tuple[TabView | None, ActionClickData] | None:
    """(tab, info) for the extension of the action."""
    return (clicked_tab_view(caller, clicked.tab), clicked.info) if clicked.extension == caller.id else None
