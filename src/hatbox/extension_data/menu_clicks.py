"""Menus that are opened, clicked and closed on behalf of the user, and the payloads of menus.onClicked and onShown.

Transaction functions. The order of events and their details match Firefox.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.extension_data import menu_items
from hatbox.extension_data.menu_contexts import ACTIONS, MenuContext, visible_items
from hatbox.extension_data.menu_items import MenuItem, MenuItemId
from hatbox.extension_data.ui_changes import record_ui_change
from hatbox.store.base import Transaction
from hatbox.tabs.tab_model import Tab

__all__ = [
    "CLICKED",
    "HIDDEN",
    "SHOWN",
    "MenuClickData",
    "MenuItemClicked",
    "MenuShown",
    "click_item",
    "record_hidden",
    "record_shown",
]

CLICKED, SHOWN, HIDDEN = "menus.clicked", "menus.shown", "menus.hidden"

_LEFT_BUTTON: Final = 0


class MenuClickData(msgspec.Struct, frozen=True, kw_only=True):
    """menus.OnClickData."""

    menu_item_id: MenuItemId
    parent_menu_item_id: MenuItemId | None
    view_type: str | None
    media_type: str | None
    link_text: str | None
    link_url: str | None
    src_url: str | None
    page_url: str | None
    frame_id: int | None
    selection_text: str | None
    editable: bool
    checked: bool | None
    was_checked: bool | None
    modifiers: tuple[str, ...] = ()
    button: int = _LEFT_BUTTON
    bookmark_id: str | None = None


class MenuItemClicked(msgspec.Struct, frozen=True):
    """Payload of menus.onClicked."""

    extension: str
    info: MenuClickData
    tab: Tab | None


class MenuShown(msgspec.Struct, frozen=True):
    """Payload of menus.onShown: the visible items by extension. `only` is the extension of an action's menu."""

    only: str | None
    menu_ids: dict[str, list[MenuItemId]]
    context: MenuContext = msgspec.field(name="spot")  # the name in earlier versions


def record_shown(transaction: Transaction, extension: str, context: MenuContext) -> None:
    """Emit onShown. The menu of an action contains only items of this extension."""
    only = extension if context.ui_context in ACTIONS else None
    owners = [only] if only else dict.fromkeys(owner for owner, _, _ in transaction.extensions.find(menu_items.KIND))
    items = {owner: visible_items(context, menu_items.get_all(transaction, owner)) for owner in owners}
    menu_ids = {owner: [item.id for item in visible] for owner, visible in items.items()}
    transaction.changes.append(SHOWN, _encode(MenuShown(only, menu_ids, context)))


def record_hidden(transaction: Transaction, extension: str, context: MenuContext) -> None:
    """Emit onHidden."""
    transaction.changes.append(HIDDEN, _encode(extension if context.ui_context in ACTIONS else None))


def click_item(
    transaction: Transaction, extension: str, item: MenuItem, context: MenuContext, *, notify: bool = True
) -> None:
    """Click an item, which toggles a checkbox and selects a radio item. Emits onClicked if `notify`."""
    checked = _toggle(transaction, extension, item)
    if not notify:
        return
    is_checkable = item.type in ("checkbox", "radio")
    info = MenuClickData(
        menu_item_id=item.id,
        parent_menu_item_id=item.parent,
        view_type=context.view_type,
        media_type=context.media_type,
        link_text=context.link_text,
        link_url=context.link_url,
        src_url=context.src_url,
        page_url=context.tab.url if context.tab else None,
        frame_id=0 if context.view_type else None,
        selection_text=context.selection_text,
        editable=context.editable,
        checked=checked if is_checkable else None,
        was_checked=item.checked if is_checkable else None,
        bookmark_id=context.bookmark_id,
    )
    transaction.changes.append(CLICKED, _encode(MenuItemClicked(extension, info, context.tab)))


def _toggle(transaction: Transaction, extension: str, item: MenuItem) -> bool:
    """Store and return whether an item is checked after a click."""
    if item.type == "checkbox":
        _store_checked(transaction, extension, item, checked=not item.checked)
        return not item.checked
    if item.type == "radio":
        for other in _radio_group(menu_items.get_all(transaction, extension), item):
            _store_checked(transaction, extension, other, checked=other.id == item.id)
        return True
    return item.checked


def _radio_group(items: dict[MenuItemId, MenuItem], item: MenuItem) -> list[MenuItem]:
    """The radio group of an item: adjacent radio items with the same parent."""
    group: list[MenuItem] = []
    for other in (each for each in items.values() if each.parent == item.parent):
        if other.type == "radio":
            group.append(other)
        elif item in group:
            break
        else:
            group = []
    return group


def _store_checked(transaction: Transaction, extension: str, item: MenuItem, *, checked: bool) -> None:
    if item.checked != checked:
        menu_items.put(transaction, extension, msgspec.structs.replace(item, checked=checked))
        record_ui_change(transaction, extension)


_encode = msgspec.json.Encoder().encode
