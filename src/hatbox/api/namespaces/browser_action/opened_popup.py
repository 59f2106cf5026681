"""openPopup of browserAction, action and pageAction. Transaction functions; error messages match Firefox."""

from __future__ import annotations

from typing import Final

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespaces.browser_action.action_scopes import Details
from hatbox.api.namespaces.tabs.tab_strip_functions import window_of_argument
from hatbox.errors import ApiError
from hatbox.extension_data.action_clicks import click_action
from hatbox.extension_data.action_values import ActionScope, get_value, tab_scope
from hatbox.extension_data.actions import (
    ACTION,
    PAGE_ACTION,
    action_defaults,
    is_page_action_shown,
    page_action_defaults,
)
from hatbox.extension_data.page_opening import request_page
from hatbox.store.base import Transaction

__all__ = ["NO_POPUP_ENGINE", "open_action_popup", "open_page_action_popup"]

NO_POPUP_ENGINE: Final = (
    "Popups need the Chromium engine in the process of the extension. Run the extension with --engine chromium"
)
_NOT_FOCUSED: Final = "Cannot show popup for an inactive window, only for the currently focused window."
_IS_OPEN: Final = "openPopup() cannot be called while another panel is open"


def open_action_popup(
    transaction: Transaction, caller: ExtensionCaller, options: Details | None, *, is_open: bool
) -> None:
    """Open the popup of the action in the focused window, as a click on the action does.

    `is_open`: whether a popup of the extension is open. One at a time, as in each window of Firefox.
    """
    window_id = options["windowId"] if options else None
    window = window_of_argument(transaction, window_id)
    if window != window_of_argument(transaction, None):
        raise ApiError(_NOT_FOCUSED)
    scope, defaults = _active_scope(transaction, window), action_defaults(caller.manifest)
    if not get_value(transaction, caller.id, ACTION, scope, "enabled", defaults):
        raise ApiError("Popup is disabled")
    popup = get_value(transaction, caller.id, ACTION, scope, "popup", defaults)
    if not popup:
        raise ApiError("No popup URL is set")
    if is_open:
        raise ApiError(_IS_OPEN)
    request_page(transaction, caller.id, popup, tab_id=None if scope.tab is None else scope.tab.id, kind="POPUP")


def open_page_action_popup(transaction: Transaction, caller: ExtensionCaller) -> None:
    """Click the page action of the active tab. Without a popup, onClicked is emitted."""
    scope = _active_scope(transaction, window_of_argument(transaction, None))
    if not is_page_action_shown(transaction, caller.id, caller.manifest, scope):
        return
    popup = click_action(transaction, caller.id, PAGE_ACTION, scope, page_action_defaults(caller.manifest))
    if popup:
        request_page(transaction, caller.id, popup, tab_id=None if scope.tab is None else scope.tab.id, kind="POPUP")


def _active_scope(transaction: Transaction, window: int) -> ActionScope:
    active = transaction.tabs.active(window)
    return ActionScope(window=window) if active is None else tab_scope(transaction, active.id)
