"""The namespaces menus and contextMenus, which differ only in name.

The members that return at once in JavaScript, such as create(), are in extensions/runtime/js/members/menus.js.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import msgspec

from hatbox.api.caller import Caller, ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.menus import menu_functions
from hatbox.api.namespaces.menus.menu_functions import Properties
from hatbox.api.namespaces.menus.menu_listener_args import clicked_args, hidden_args, shown_args
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.extension_data.background_type import is_event_page
from hatbox.extension_data.menu_clicks import CLICKED, HIDDEN, SHOWN, MenuItemClicked, MenuShown
from hatbox.extension_data.menu_items import MenuItemId
from hatbox.javascript.well_formed_values import to_well_formed
from hatbox.schema import NamespaceSchema
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the menu items of a profile."""
    return _Menus(schema, services)


class _Menus(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        changes, decoder = ChangeEvents(services.store, schema.namespace), msgspec.json.Decoder
        clicked = changes.event("onClicked", CLICKED, decoder(MenuItemClicked).decode)
        shown = changes.event("onShown", SHOWN, decoder(MenuShown).decode)
        hidden = changes.event("onHidden", HIDDEN, decoder(str | None).decode)
        events = {
            "onClicked": EventBinding(clicked, clicked_args),
            "onShown": EventBinding(shown, shown_args),
            "onHidden": EventBinding(hidden, hidden_args),
        }
        super().__init__(schema, services.store, events)

    def create(self, caller: ExtensionCaller, properties: Properties) -> asyncio.Future[Any]:
        stored, event_page = _without_onclick(properties), is_event_page(caller.manifest)
        return self._write("create", partial(menu_functions.create, event_page=event_page), caller.id, stored)

    def update(self, caller: Caller, item_id: MenuItemId, properties: Properties) -> asyncio.Future[Any]:
        return self._write(
            "update", menu_functions.update, caller.id, to_well_formed(item_id), _without_onclick(properties)
        )

    def remove(self, caller: Caller, item_id: MenuItemId) -> asyncio.Future[Any]:
        return self._write("remove", menu_functions.remove, caller.id, to_well_formed(item_id))

    def remove_all(self, caller: Caller) -> asyncio.Future[Any]:
        return self._write("removeAll", menu_functions.remove_all, caller.id)

    def refresh(self, _: Caller) -> asyncio.Future[Any]:
        # Menus are opened, clicked and closed in one transaction: there is never an open menu to refresh.
        return self._read("refresh", lambda _: None)


def _without_onclick(properties: Properties) -> Properties:
    if properties.get("onclick") is not None:
        raise ApiError("onclick is for JavaScript. Add a listener to menus.onClicked.")
    return {name: to_well_formed(value) for name, value in properties.items() if name != "onclick"}
