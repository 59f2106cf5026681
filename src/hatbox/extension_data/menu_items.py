"""Items of menus, as the profile keeps them. Knows no rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import msgspec

from hatbox.store.base import Transaction

__all__ = ["KIND", "Item", "ItemId", "below", "delete", "get", "get_all", "put"]

KIND: Final = "menu"
ItemId: TypeAlias = int | str
"""A script gives text; an id that is made for it is a number."""


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """An item of an extension's menus. Those without a parent stand at the top."""

    id: ItemId
    parent: ItemId | None = None
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


def get_all(transaction: Transaction, extension: str) -> dict[ItemId, Item]:
    """All items of an extension, those of one parent in the order in which they are shown."""
    found = (_decode(value) for _, _, value in transaction.extensions.find(KIND, extension))
    return {item.id: item for item in found}


def get(transaction: Transaction, extension: str, item_id: ItemId) -> Item | None:
    """One item, or None."""
    value = transaction.extensions.get(extension, KIND, _key(item_id))
    return _decode(value) if value else None


def put(transaction: Transaction, extension: str, item: Item) -> None:
    """Keep an item, in the place of the one that had its id."""
    transaction.extensions.put(extension, KIND, _key(item.id), _encode(item))


def delete(transaction: Transaction, extension: str, item_id: ItemId) -> None:
    """Drop an item."""
    transaction.extensions.delete(extension, KIND, _key(item_id))


def below(items: dict[ItemId, Item], parent: ItemId | None) -> Iterator[Item]:
    """The items of a parent, or those at the top, each followed by all that is below it."""
    for item in items.values():
        if item.parent == parent:
            yield item
            yield from below(items, item.id)


def _key(item_id: ItemId) -> str:
    """The number 1 and the text "1" are two ids."""
    return _encode(item_id).decode()


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Item).decode
