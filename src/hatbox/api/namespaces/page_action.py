"""The namespace pageAction: an action for the page of a tab. Values are stored as those of `action`."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.browser_action.action_scopes import Details, click_args
from hatbox.api.namespaces.browser_action.opened_popup import NO_POPUP_ENGINE, open_page_action_popup
from hatbox.api.namespaces.browser_action.popup_and_icon import set_icon, set_popup
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.extension_data.action_clicks import decode_click, topic_of
from hatbox.extension_data.action_values import get_value, set_value, tab_scope
from hatbox.extension_data.actions import PAGE_ACTION, is_page_action_shown, page_action_defaults
from hatbox.javascript.well_formed_values import to_well_formed
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the page actions of a profile."""
    return _PageAction(schema, services)


class _PageAction(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        clicked = ChangeEvents(services.store, schema.namespace).event("onClicked", topic_of(PAGE_ACTION), decode_click)
        super().__init__(schema, services.store, {"onClicked": EventBinding(clicked, click_args)})
        self._content_scripts = services.content_scripts

    def _set(self, member: str, caller: ExtensionCaller, tab_id: int, name: str, value: Any) -> asyncio.Future[Any]:
        def write(transaction: Transaction) -> None:
            set_value(transaction, caller.id, PAGE_ACTION, tab_scope(transaction, tab_id), name, to_well_formed(value))

        return self._write(member, write)

    def _get(self, member: str, caller: ExtensionCaller, tab_id: int, name: str) -> asyncio.Future[Any]:
        def read(transaction: Transaction) -> Any:
            scope = tab_scope(transaction, tab_id)
            return get_value(transaction, caller.id, PAGE_ACTION, scope, name, page_action_defaults(caller.manifest))

        return self._read(member, read)

    def show(self, caller: ExtensionCaller, tab_id: int) -> asyncio.Future[Any]:
        return self._set("show", caller, tab_id, "enabled", value=True)

    def hide(self, caller: ExtensionCaller, tab_id: int) -> asyncio.Future[Any]:
        return self._set("hide", caller, tab_id, "enabled", value=False)

    def is_shown(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        def read(transaction: Transaction) -> bool:
            return is_page_action_shown(
                transaction, caller.id, caller.manifest, tab_scope(transaction, details["tabId"])
            )

        return self._read("isShown", read)

    def set_title(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._set("setTitle", caller, details["tabId"], "title", details["title"])

    def get_title(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._get("getTitle", caller, details["tabId"], "title")

    def set_icon(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setIcon", set_icon, caller, PAGE_ACTION, details)

    def set_popup(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setPopup", set_popup, caller, PAGE_ACTION, details)

    def get_popup(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._get("getPopup", caller, details["tabId"], "popup")

    def open_popup(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        user_input, has_engine = caller.is_handling_user_input, self._content_scripts.has_engine

        def write(transaction: Transaction) -> None:
            if not user_input:
                raise ApiError("pageAction.openPopup may only be called from a user input handler")
            if not has_engine:
                raise ApiError(NO_POPUP_ENGINE)
            open_page_action_popup(transaction, caller)

        return self._write("openPopup", write)
