"""Menus that are opened, chosen from and closed: what changes then, and what listeners are told.

Whoever does it, does it in the place of a user. What listeners are told, and in which order, is what Firefox tells.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespaces.menus.menu_context import ACTIONS, MenuContext, visible_items
from hatbox.api.namespaces.tabs.clicked_tab import clicked_tab_view
from hatbox.api.namespaces.tabs.tab_access import tab_access
from hatbox.api.namespaces.tabs.tab_views import TabView
from hatbox.extension_data import menu_items as items
from hatbox.extension_data.menu_items import Item, ItemId
from hatbox.store.base import Transaction
from hatbox.tabs.tab_model import Tab

__all__ = [
    "CLICKED",
    "HIDDEN",
    "SHOWN",
    "MenuItemClicked",
    "MenuShown",
    "click_item",
    "record_hidden",
    "record_shown",
    "told_clicked",
    "told_shown",
]

CLICKED, SHOWN, HIDDEN = "menus.clicked", "menus.shown", "menus.hidden"

_BUTTON: Final = 0


class MenuClickData(msgspec.Struct, frozen=True, kw_only=True):
    """What a listener is told of a click."""

    menu_item_id: ItemId
    parent_menu_item_id: ItemId | None
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
    button: int = _BUTTON


class MenuItemClicked(msgspec.Struct, frozen=True):
    """An item that was chosen."""

    extension: str
    info: MenuClickData
    tab: Tab | None


class MenuShown(msgspec.Struct, frozen=True):
    """A menu that was opened, and the items in it by their extensions; `only` if it is the menu of one of them."""

    only: str | None
    menu_ids: dict[str, list[ItemId]]
    spot: MenuContext


class ShownInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a listener is told of a menu that was opened."""

    menu_ids: list[ItemId]
    contexts: tuple[str, ...]
    view_type: str | None
    media_type: str | None
    frame_id: int | None
    editable: bool
    link_text: str | None = None
    link_url: str | None = None
    src_url: str | None = None
    page_url: str | None = None
    selection_text: str | None = None


def record_shown(transaction: Transaction, extension: str, spot: MenuContext) -> None:
    """A menu is opened; in that of a button are only the items of this extension."""
    only = extension if spot.ui_context in ACTIONS else None
    owners = [only] if only else dict.fromkeys(owner for owner, _, _ in transaction.extensions.find(items.KIND))
    shown = {owner: [item.id for item in visible_items(spot, items.get_all(transaction, owner))] for owner in owners}
    transaction.changes.append(SHOWN, _encode(MenuShown(only, shown, spot)))


def record_hidden(transaction: Transaction, extension: str, spot: MenuContext) -> None:
    """The menu is closed again."""
    transaction.changes.append(HIDDEN, _encode(extension if spot.ui_context in ACTIONS else None))


def click_item(transaction: Transaction, extension: str, item: Item, spot: MenuContext, *, tell: bool = True) -> None:
    """An item is chosen: a checkbox changes, of radio items one is checked. Listeners hear of it, if they are to."""
    now = _checked(transaction, extension, item)
    if not tell:
        return
    is_checkable = item.type in ("checkbox", "radio")
    info = MenuClickData(
        menu_item_id=item.id,
        parent_menu_item_id=item.parent,
        view_type=spot.view_type,
        media_type=spot.media_type,
        link_text=spot.link_text,
        link_url=spot.link_url,
        src_url=spot.src_url,
        page_url=spot.tab.url if spot.tab else None,
        frame_id=0 if spot.view_type else None,
        selection_text=spot.selection_text,
        editable=spot.editable,
        checked=now if is_checkable else None,
        was_checked=item.checked if is_checkable else None,
    )
    transaction.changes.append(CLICKED, _encode(MenuItemClicked(extension, info, spot.tab)))


def _checked(transaction: Transaction, extension: str, item: Item) -> bool:
    """Whether an item is checked after it was chosen; it is kept so."""
    if item.type == "checkbox":
        _keep_checked(transaction, extension, item, checked=not item.checked)
        return not item.checked
    if item.type == "radio":
        for other in _group(items.get_all(transaction, extension), item):
            _keep_checked(transaction, extension, other, checked=other.id == item.id)
        return True
    return item.checked


def _group(every: dict[ItemId, Item], item: Item) -> list[Item]:
    """The radio items that stand together with this one, nothing else being between them."""
    group: list[Item] = []
    for other in (each for each in every.values() if each.parent == item.parent):
        if other.type == "radio":
            group.append(other)
        elif item in group:
            break
        else:
            group = []
    return group


def _keep_checked(transaction: Transaction, extension: str, item: Item, *, checked: bool) -> None:
    if item.checked != checked:
        items.put(transaction, extension, msgspec.structs.replace(item, checked=checked))


def told_clicked(caller: Caller, clicked: MenuItemClicked) -> tuple[MenuClickData, TabView | None] | None:
    """(info, tab), if it is an item of the caller's."""
    return (clicked.info, clicked_tab_view(caller, clicked.tab)) if clicked.extension == caller.id else None


def told_shown(caller: Caller, shown: MenuShown) -> tuple[ShownInfo, TabView | None] | None:
    """(info, tab). What is in the page is only for those who may see it: the user has not chosen anything of theirs."""
    if shown.only not in (None, caller.id):
        return None
    spot, tab = shown.spot, shown.spot.tab
    info = ShownInfo(
        menu_ids=shown.menu_ids.get(caller.id, []),
        contexts=spot.contexts,
        view_type=spot.view_type,
        media_type=spot.media_type,
        frame_id=0 if spot.view_type else None,
        editable=spot.editable,
    )
    asker = tab_access(caller)
    if tab is not None and asker.has_host_access(tab):
        info = msgspec.structs.replace(
            info,
            link_text=spot.link_text,
            link_url=spot.link_url,
            src_url=spot.src_url,
            page_url=tab.url,
            selection_text=spot.selection_text,
        )
    return info, None if tab is None else TabView(tab, asker)


_encode = msgspec.json.Encoder().encode
