"""What the functions of the namespace menus do, each as a function of a transaction. The words are Firefox's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

from hatbox.errors import ApiError
from hatbox.extension_data import menu_items as items
from hatbox.extension_data.menu_items import Item, ItemId
from hatbox.store.base import Transaction
from hatbox.urls.match_patterns import parse_url_pattern

__all__ = ["CREATED", "Properties", "create", "remove", "remove_all", "update"]

Properties: TypeAlias = Mapping[str, Any]

CREATED: Final = "\0"
"""What stands before an id that members/menus.js has made: a number, which scripts cannot give themselves."""

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


def create(transaction: Transaction, extension: str, properties: Properties, *, event_page: bool) -> ItemId:
    """Add an item at the end of its menu; returns its id."""
    wanted = properties["id"]
    if event_page:
        if not wanted:
            raise ApiError("menus.create requires an id for non-persistent background scripts.")
        if items.get(transaction, extension, wanted) is not None:
            raise ApiError(f"The menu id {wanted} already exists in menus.create.")
    item_id = _id(transaction, extension, wanted)
    if items.get(transaction, extension, item_id) is not None:
        raise ApiError(f"ID already exists: {item_id}")
    changed = _changed(transaction, extension, properties)
    items.put(transaction, extension, msgspec.structs.replace(Item(id=item_id), **changed))
    return item_id


def update(transaction: Transaction, extension: str, item_id: ItemId, properties: Properties) -> None:
    """Change what is given of an item. With a parent, it goes to the end of that one's menu."""
    item = _existing(transaction, extension, item_id)
    if properties["parentId"] is not None:
        _check_no_cycle(transaction, extension, item, properties["parentId"])
    changed = _changed(transaction, extension, properties)
    if "parent" in changed:
        items.delete(transaction, extension, item_id)
    items.put(transaction, extension, msgspec.structs.replace(item, **changed))


def remove(transaction: Transaction, extension: str, item_id: ItemId) -> None:
    """Remove an item and all that is below it."""
    _existing(transaction, extension, item_id)
    for item in list(items.below(items.get_all(transaction, extension), item_id)):
        items.delete(transaction, extension, item.id)
    items.delete(transaction, extension, item_id)


def remove_all(transaction: Transaction, extension: str) -> None:
    """Remove all items."""
    transaction.extensions.clear(extension, items.KIND)


def _id(transaction: Transaction, extension: str, wanted: str | None) -> ItemId:
    if wanted is None:  # Python asks; what JavaScript makes counts upwards
        return min([0, *(each for each in items.get_all(transaction, extension) if isinstance(each, int))]) - 1
    if wanted.startswith(CREATED) and wanted[1:].isdecimal():
        return int(wanted[1:])
    return wanted


def _changed(transaction: Transaction, extension: str, properties: Properties) -> dict[str, Any]:
    changed = {
        name: tuple(value) if isinstance(value, list) else value
        for given, name in _NAMES.items()
        if (value := properties.get(given)) is not None
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


def _existing(transaction: Transaction, extension: str, item_id: ItemId) -> Item:
    item = items.get(transaction, extension, item_id)
    if item is None:
        raise ApiError(f"Cannot find menu item with id {item_id}")
    return item


def _check_no_cycle(transaction: Transaction, extension: str, item: Item, parent_id: ItemId) -> None:
    above: ItemId | None = parent_id
    while above is not None:
        if above == item.id and type(above) is type(item.id):
            raise ApiError("MenuItem cannot be an ancestor (or self) of its new parent.")
        above = _existing(transaction, extension, above).parent
