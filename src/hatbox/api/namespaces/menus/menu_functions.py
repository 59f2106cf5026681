"""Functions of the namespace menus: transaction functions that check the arguments. Error messages match Firefox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

from hatbox.errors import ApiError
from hatbox.extension_data import menu_items
from hatbox.extension_data.menu_items import MenuItem, MenuItemId
from hatbox.extension_data.ui_changes import record_ui_change
from hatbox.store.base import Transaction
from hatbox.urls.match_patterns import parse_url_pattern

__all__ = ["CREATED", "Properties", "create", "remove", "remove_all", "update"]

Properties: TypeAlias = Mapping[str, Any]

CREATED: Final = "\0"
"""Prefix of ids that members/menus.js generates: numbers, which scripts cannot choose themselves."""

_NAMES: Final = {
    "type": "type",
    "title": "title",
    "checked": "checked",
    "contexts": "contexts",
    "enabled": "enabled",
    "visible": "visible",
    "viewTypes": "view_types",
    "documentUrlPatterns": "document_url_patterns",
    "targetUrlPatterns": "target_url_patterns",
    "command": "command",
}


def create(transaction: Transaction, extension: str, properties: Properties, *, event_page: bool) -> MenuItemId:
    """Add an item at the end of its menu; returns its id."""
    requested = properties["id"]
    if event_page:
        if not requested:
            raise ApiError("menus.create requires an id for non-persistent background scripts.")
        if menu_items.get(transaction, extension, requested) is not None:
            raise ApiError(f"The menu id {requested} already exists in menus.create.")
    item_id = _id(transaction, extension, requested)
    if menu_items.get(transaction, extension, item_id) is not None:
        raise ApiError(f"ID already exists: {item_id}")
    changed = _changed(transaction, extension, properties)
    menu_items.put(transaction, extension, msgspec.structs.replace(MenuItem(id=item_id), **changed))
    record_ui_change(transaction, extension)
    return item_id


def update(transaction: Transaction, extension: str, item_id: MenuItemId, properties: Properties) -> None:
    """Change properties of an item. With a parent, the item moves to the end of that parent's menu."""
    item = _existing(transaction, extension, item_id)
    if properties["parentId"] is not None:
        _check_no_cycle(transaction, extension, item, properties["parentId"])
    changed = _changed(transaction, extension, properties)
    if "parent" in changed:
        menu_items.delete(transaction, extension, item_id)
    menu_items.put(transaction, extension, msgspec.structs.replace(item, **changed))
    record_ui_change(transaction, extension)


def remove(transaction: Transaction, extension: str, item_id: MenuItemId) -> None:
    """Remove an item and its descendants."""
    _existing(transaction, extension, item_id)
    for item in list(menu_items.descendants(menu_items.get_all(transaction, extension), item_id)):
        menu_items.delete(transaction, extension, item.id)
    menu_items.delete(transaction, extension, item_id)
    record_ui_change(transaction, extension)


def remove_all(transaction: Transaction, extension: str) -> None:
    """Remove all items."""
    transaction.extensions.clear(extension, menu_items.KIND)
    record_ui_change(transaction, extension)


def _id(transaction: Transaction, extension: str, requested: str | None) -> MenuItemId:
    if requested is None:  # a call from Python; ids from JavaScript count upwards
        return min([0, *(each for each in menu_items.get_all(transaction, extension) if isinstance(each, int))]) - 1
    if requested.startswith(CREATED) and requested[1:].isdecimal():
        return int(requested[1:])
    return requested


def _changed(transaction: Transaction, extension: str, properties: Properties) -> dict[str, Any]:
    changed = {
        name: tuple(value) if isinstance(value, list) else value
        for key, name in _NAMES.items()
        if (value := properties.get(key)) is not None
    }
    if properties["icons"] is not None:
        changed["icons"] = properties["icons"] or None
    parent_id = properties["parentId"]
    if parent_id is not None:
        parent = _existing(transaction, extension, parent_id)
        changed["parent"] = parent.id
        if parent_id and properties["contexts"] is None:
            changed["contexts"] = parent.contexts
    for pattern in (*(properties["documentUrlPatterns"] or ()), *(properties["targetUrlPatterns"] or ())):
        if parse_url_pattern(pattern) is None:
            raise ApiError(f"Invalid url pattern: {pattern}")
    return changed


def _existing(transaction: Transaction, extension: str, item_id: MenuItemId) -> MenuItem:
    item = menu_items.get(transaction, extension, item_id)
    if item is None:
        raise ApiError(f"Cannot find menu item with id {item_id}")
    return item


def _check_no_cycle(transaction: Transaction, extension: str, item: MenuItem, parent_id: MenuItemId) -> None:
    ancestor: MenuItemId | None = parent_id
    while ancestor is not None:
        if ancestor == item.id and type(ancestor) is type(item.id):
            raise ApiError("MenuItem cannot be an ancestor (or self) of its new parent.")
        ancestor = _existing(transaction, extension, ancestor).parent
