"""The namespace sidebarAction: the title, icon and page of a sidebar, and the windows in which it is open.

Values are stored as those of `action`. Error messages match Firefox.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import Namespace
from hatbox.api.namespaces.browser_action.action_resources import base_url, popup_url
from hatbox.api.namespaces.browser_action.action_scopes import Details, scope_of
from hatbox.api.namespaces.browser_action.popup_and_icon import set_icon
from hatbox.api.namespaces.tabs.tab_strip_functions import window_of_argument
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.extension_data.action_values import SIDEBAR_ACTION, get_value, set_value
from hatbox.extension_data.sidebars import close_sidebar, open_sidebar, sidebar_defaults, sidebar_of, toggle_sidebar
from hatbox.javascript.well_formed_values import to_well_formed
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the sidebars of a profile."""
    return _SidebarAction(schema, services)


class _SidebarAction(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        super().__init__(schema, services.store, {})

    def set_title(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setTitle", _set, caller, details, "title", to_well_formed(details["title"]))

    def get_title(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._read("getTitle", _get, caller, details, "title")

    def set_icon(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setIcon", set_icon, caller, SIDEBAR_ACTION, details)

    def set_panel(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setPanel", _set_panel, caller, details)

    def get_panel(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._read("getPanel", _get, caller, details, "panel")

    def open(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        return self._by_user("open", caller, open_sidebar)

    def close(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        return self._by_user("close", caller, close_sidebar)

    def toggle(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        return self._by_user("toggle", caller, toggle_sidebar)

    def is_open(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        def read(transaction: Transaction) -> bool:
            return sidebar_of(transaction, window_of_argument(transaction, details["windowId"])) == caller.id

        return self._read("isOpen", read)

    def _by_user(
        self, member: str, caller: ExtensionCaller, change: Callable[[Transaction, str, int], None]
    ) -> asyncio.Future[Any]:
        """Change the sidebar of the last focused window. Only in a user input handler."""
        user_input = caller.is_handling_user_input

        def write(transaction: Transaction) -> None:
            if not user_input:
                raise ApiError(f"sidebarAction.{member} may only be called from a user input handler")
            change(transaction, caller.id, window_of_argument(transaction, None))

        return self._write(member, write)


def _set(transaction: Transaction, caller: ExtensionCaller, details: Details, name: str, value: Any) -> None:
    set_value(transaction, caller.id, SIDEBAR_ACTION, scope_of(transaction, details), name, value)


def _get(transaction: Transaction, caller: ExtensionCaller, details: Details, name: str) -> Any:
    scope = scope_of(transaction, details)
    return get_value(transaction, caller.id, SIDEBAR_ACTION, scope, name, sidebar_defaults(caller.manifest))


def _set_panel(transaction: Transaction, caller: ExtensionCaller, details: Details) -> None:
    """Set the page of the sidebar; null and an empty text restore that of the wider scope."""
    base = base_url(caller.uuid, caller.manifest)
    url = popup_url(to_well_formed(details["panel"] or ""), base, own_only=False)
    _set(transaction, caller, details, "panel", url or None)
