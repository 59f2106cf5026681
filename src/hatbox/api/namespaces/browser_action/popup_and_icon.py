"""setPopup and setIcon of browserAction, action and pageAction. Transaction functions; error messages match Firefox."""

from __future__ import annotations

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespaces.browser_action.action_resources import base_url, icon_urls, popup_url
from hatbox.api.namespaces.browser_action.action_scopes import Details, scope_of
from hatbox.extension_data.action_values import set_value
from hatbox.javascript.well_formed_values import to_well_formed
from hatbox.store.base import Transaction

__all__ = ["set_icon", "set_popup"]


def set_popup(transaction: Transaction, caller: ExtensionCaller, kind: str, details: Details) -> None:
    """Set the page that a click opens; null restores that of the wider scope."""
    popup = details["popup"]
    if popup is not None:
        own_only = caller.manifest.get("manifest_version") != 2
        popup = popup_url(to_well_formed(popup), base_url(caller.uuid, caller.manifest), own_only=own_only)
    set_value(transaction, caller.id, kind, scope_of(transaction, details), "popup", popup)


def set_icon(transaction: Transaction, caller: ExtensionCaller, kind: str, details: Details) -> None:
    """Set the icon; without images and paths, that of the wider scope is restored."""
    scope = scope_of(transaction, details)
    icons = icon_urls(to_well_formed(details), base_url(caller.uuid, caller.manifest))
    set_value(transaction, caller.id, kind, scope, "icon", icons)
