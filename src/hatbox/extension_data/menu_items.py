"""Menu items of extensions in the profile. Transaction functions; the namespace checks the arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import msgspec

from hatbox.store.base import Transaction

__all__ = ["KIND", "MenuItem", "MenuItemId", "delete", "descendants", "get", "get_all", "put"]

KIND: Final = "menu"
MenuItemId: TypeAlias = int | str
"""Text if the script chose it, a number if it was generated."""


class MenuItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A menu item. Items without a parent are at the top level."""

    id: MenuItemId
    parent: MenuItemId | None = None
    type: str = "normal"
    title: str | None = None
    checked: bool = False
    contexts: tuple[str, ...] = ("all",)
    enabled: bool = True
    visible: bool = True
    view_types: tuple[str, ...] | None = None
    document_url_patterns: tuple[str, ...] | None = None
    target_url_patterns: tuple[str, ...] | None = None
    icons: dict[str, str] | None = None
    command: str | None = None


def get_all(transaction: Transaction, extension: str) -> dict[MenuItemId, MenuItem]:
    """All items of an extension by id. Items with the same parent are in display order."""
    found = (_decode(value) for _, _, value in transaction.extensions.find(KIND, extension))
    return {item.id: item for item in found}


def get(transaction: Transaction, extension: str, item_id: MenuItemId) -> MenuItem | None:
    """An item, or None."""
    value = transaction.extensions.get(extension, KIND, _key(item_id))
    return _decode(value) if value else None


def put(transaction: Transaction, extension: str, item: MenuItem) -> None:
    """Store an item, replacing the one with the same id."""
    transaction.extensions.put(extension, KIND, _key(item.id), _encode(item))


def delete(transaction: Transaction, extension: str, item_id: MenuItemId) -> None:
    """Delete an item."""
    transaction.extensions.delete(extension, KIND, _key(item_id))


def descendants(items: dict[MenuItemId, MenuItem], parent: MenuItemId | None) -> Iterator[MenuItem]:
    """The items below a parent (None: the top level), each followed by its own descendants."""
    for item in items.values():
        if item.parent == parent:
            yield item
            yield from descendants(items, item.id)


def _key(item_id: MenuItemId) -> str:
    """As JSON, because the number 1 and the text "1" are two ids."""
    return _encode(item_id).decode()


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(MenuItem).decode
