"""What every kind of button has: a popup and an icon. Functions of a transaction; the words are Firefox's."""

from __future__ import annotations

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespaces.browser_action.action_resources import base_url, icon_urls, popup_url
from hatbox.api.namespaces.tabs.clicked_tab import to_well_formed
from hatbox.extension_data.action_values import Details, set_value, target_of
from hatbox.store.base import Transaction

__all__ = ["set_icon", "set_popup"]


def set_popup(transaction: Transaction, caller: ExtensionCaller, kind: str, details: Details) -> None:
    """Set the page that a click opens; None for that which counts without it."""
    popup = details["popup"]
    if popup is not None:
        own_only = caller.manifest.get("manifest_version") != 2
        popup = popup_url(to_well_formed(popup), base_url(caller.uuid, caller.manifest), own_only=own_only)
    set_value(transaction, caller.id, kind, target_of(transaction, details), "popup", popup)


def set_icon(transaction: Transaction, caller: ExtensionCaller, kind: str, details: Details) -> None:
    """Set the pictures of a button; without any, those that count without it."""
    target = target_of(transaction, details)
    icons = icon_urls(to_well_formed(details), base_url(caller.uuid, caller.manifest))
    set_value(transaction, caller.id, kind, target, "icon", icons)
