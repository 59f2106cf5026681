"""The namespaces menus and contextMenus, which are one under two names. What the functions do is in `rules`.

Members that JavaScript gets at once, such as the id of a new item, are in extensions/runtime/js/members/menus.js.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from hatbox.api.caller import Caller, ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.menus import menu_clicks as clicks
from hatbox.api.namespaces.menus import menu_functions as rules
from hatbox.api.namespaces.menus.menu_functions import Properties
from hatbox.api.namespaces.tabs.clicked_tab import is_event_page, to_well_formed
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.extension_data.menu_items import ItemId
from hatbox.schema import NamespaceSchema
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the menus of a profile."""
    return _Menus(surface, services)


class _Menus(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        feed = ChangeEvents(services.store, surface.namespace)
        events = {
            "onClicked": EventBinding(
                feed.event("onClicked", clicks.CLICKED, msgspec.json.Decoder(clicks.MenuItemClicked).decode),
                clicks.told_clicked,
            ),
            "onShown": EventBinding(
                feed.event("onShown", clicks.SHOWN, msgspec.json.Decoder(clicks.MenuShown).decode), clicks.told_shown
            ),
            "onHidden": EventBinding(
                feed.event("onHidden", clicks.HIDDEN, msgspec.json.Decoder(str | None).decode), _told_hidden
            ),
        }
        super().__init__(surface, services.store, events)

    def create(self, caller: ExtensionCaller, properties: Properties) -> asyncio.Future[Any]:
        given = _without_onclick(properties)
        event_page = is_event_page(caller.manifest)
        return self._write("create", lambda each: rules.create(each, caller.id, given, event_page=event_page))

    def update(self, caller: Caller, item_id: ItemId, properties: Properties) -> asyncio.Future[Any]:
        return self._write("update", rules.update, caller.id, to_well_formed(item_id), _without_onclick(properties))

    def remove(self, caller: Caller, item_id: ItemId) -> asyncio.Future[Any]:
        return self._write("remove", rules.remove, caller.id, to_well_formed(item_id))

    def remove_all(self, caller: Caller) -> asyncio.Future[Any]:
        return self._write("removeAll", rules.remove_all, caller.id)

    def refresh(self, _: Caller) -> asyncio.Future[Any]:
        # A menu is open for no longer than it takes to choose from it.
        return self._read("refresh", lambda _: None)


def _without_onclick(properties: Properties) -> Properties:
    if properties.get("onclick") is not None:
        raise ApiError("onclick is for JavaScript. Add a listener to menus.onClicked.")
    return {name: to_well_formed(value) for name, value in properties.items() if name != "onclick"}


def _told_hidden(caller: Caller, only: str | None) -> tuple[()] | None:
    return () if only in (None, caller.id) else None
