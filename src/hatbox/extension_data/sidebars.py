"""Sidebars of extensions: which one is open in which window, as in Firefox one for each window. Transaction functions.

The profile has what should be. The program that runs the extension shows the page, if it has a browser.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.extension_data.action_values import SIDEBAR_ACTION, ActionScope, Defaults, get_value
from hatbox.store.base import Transaction

__all__ = [
    "SIDEBARS_CHANGED",
    "OpenSidebar",
    "close_sidebar",
    "close_sidebars_of",
    "decode_sidebar",
    "open_sidebar",
    "open_sidebars",
    "sidebar_defaults",
    "sidebar_of",
    "sidebar_panel",
    "toggle_sidebar",
]

SIDEBARS_CHANGED: Final = "sidebars.changed"
"""The topic of changes. The payload is an OpenSidebar; its extension is empty if the sidebar was closed."""

_NO_EXTENSION: Final = ""
_KIND: Final = "sidebars"


class OpenSidebar(msgspec.Struct, frozen=True):
    """The sidebar of a window."""

    window_id: int
    extension: str
    """The data area of the extension; empty if no sidebar is open."""


def sidebar_defaults(manifest: Mapping[str, Any]) -> Defaults:
    """The values of a sidebar that the extension has not changed."""
    keys = manifest.get("sidebar_action") or {}
    return {
        "title": keys.get("default_title") or manifest.get("name", ""),
        "panel": keys.get("default_panel") or "",
        "icon": None,
    }


def sidebar_panel(transaction: Transaction, extension: str, manifest: Mapping[str, Any], scope: ActionScope) -> str:
    """The URL of the page of a sidebar, as sidebarAction.setPanel() has set it; empty without one."""
    panel: str = get_value(transaction, extension, SIDEBAR_ACTION, scope, "panel", sidebar_defaults(manifest))
    return panel


def sidebar_of(transaction: Transaction, window_id: int) -> str:
    """The extension whose sidebar is open in a window; empty if none is."""
    value = transaction.extensions.get(_NO_EXTENSION, _KIND, str(window_id))
    return "" if value is None else msgspec.json.decode(value, type=str)


def open_sidebars(transaction: Transaction) -> list[OpenSidebar]:
    """All open sidebars."""
    found = transaction.extensions.find(_KIND, _NO_EXTENSION)
    sidebars = [OpenSidebar(int(key), msgspec.json.decode(value, type=str)) for _, key, value in found]
    return [each for each in sidebars if transaction.windows.get(each.window_id) is not None]


def open_sidebar(transaction: Transaction, extension: str, window_id: int) -> None:
    """Open the sidebar of an extension in a window, in place of another one."""
    if sidebar_of(transaction, window_id) == extension:
        return
    for _, key, _value in transaction.extensions.find(_KIND, _NO_EXTENSION):
        if transaction.windows.get(int(key)) is None:  # closed, with its sidebar
            transaction.extensions.delete(_NO_EXTENSION, _KIND, key)
    transaction.extensions.put(_NO_EXTENSION, _KIND, str(window_id), msgspec.json.encode(extension))
    _record(transaction, window_id, extension)


def close_sidebar(transaction: Transaction, extension: str, window_id: int) -> None:
    """Close the sidebar of a window, if it is that of the extension."""
    if sidebar_of(transaction, window_id) == extension:
        transaction.extensions.delete(_NO_EXTENSION, _KIND, str(window_id))
        _record(transaction, window_id, "")


def toggle_sidebar(transaction: Transaction, extension: str, window_id: int) -> None:
    """Open the sidebar of an extension in a window, or close it."""
    is_open = sidebar_of(transaction, window_id) == extension
    (close_sidebar if is_open else open_sidebar)(transaction, extension, window_id)


def close_sidebars_of(transaction: Transaction, extension: str) -> None:
    """Close all sidebars of an extension that ends."""
    for each in open_sidebars(transaction):
        close_sidebar(transaction, extension, each.window_id)


def _record(transaction: Transaction, window_id: int, extension: str) -> None:
    transaction.changes.append(SIDEBARS_CHANGED, msgspec.json.encode(OpenSidebar(window_id, extension)))


decode_sidebar = msgspec.json.Decoder(OpenSidebar).decode
