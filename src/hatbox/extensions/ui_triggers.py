"""What extensions show, listed; and what a user would do to it, done. Plain functions of a transaction.

Nothing is drawn in Hatbox: menus, buttons, commands and notifications are entries of the profile. Any process can list
them and act on them; the process that runs the extension hears of it, and its listeners are called as if a user had
clicked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

import msgspec

from hatbox.api.namespaces import browser_action as button
from hatbox.api.namespaces import commands, notifications
from hatbox.api.namespaces import page_action as page
from hatbox.api.namespaces.browser_action import action_clicks as clicks
from hatbox.api.namespaces.menus import menu_clicks
from hatbox.api.namespaces.menus.menu_context import ACTIONS, MenuContext, is_item_visible
from hatbox.api.namespaces.tabs.clicked_tab import tab_or_active, to_well_formed
from hatbox.errors import TriggerError
from hatbox.extension_data import menu_items as items
from hatbox.extension_data import run_records as running
from hatbox.extension_data.action_values import ActionScope, get_value, tab_target
from hatbox.extension_data.menu_items import Item, ItemId
from hatbox.extension_data.run_records import RunRecord
from hatbox.store.base import Transaction
from hatbox.tabs.tab_model import Tab

__all__ = ["ExtensionUi", "TriggerResult", "list_ui", "trigger"]

MENU, ACTION, PAGE_ACTION = "menu", "action", "page-action"
COMMAND, NOTIFICATION = "command", "notification"

_NAMED: Final = (MENU, COMMAND, NOTIFICATION)
_BUTTONS: Final = {"_execute_action": 3, "_execute_browser_action": 2}
"""The commands that click the button, each with the version of the manifest that has it."""

_PAGE_BUTTON: Final = "_execute_page_action"
_NO_TAB: Final = "there is no tab to do it in. Open one first, with `hatbox open`, or with open() in a test"
_NEEDED: Final = {
    "link": "is for links. Say the address of one: --link",
    "selection": "is for selected text. Say some: --selection",
    "image": "is for images. Say the address of one: --image",
    "video": "is for videos, and cannot be chosen here",
    "audio": "is for sounds, and cannot be chosen here",
    "bookmark": "is for bookmarks, and there are none here",
    "launcher": "is for app launchers, and there are none here",
    "frame": "is for frames, and there are none here",
}


class ExtensionUi(msgspec.Struct, frozen=True, rename="camel"):
    """What an extension shows at the moment."""

    id: str
    name: str
    pid: int
    """The id of the process that runs it."""
    menus: list[Item]
    action: dict[str, Any] | None
    page_action: dict[str, Any] | None
    commands: list[commands.CommandView]
    notifications: dict[str, Any]


class TriggerResult(msgspec.Struct, frozen=True, rename="camel"):
    """What was done. A button that has a popup opens it, and no listener hears of it."""

    extension: str
    what: str
    tab_id: int | None
    popup: str | None = None


def list_ui(transaction: Transaction, extension_id: str | None = None) -> list[ExtensionUi]:
    """What the extensions show that run, or one of them."""
    every = running.get_all(transaction)
    if extension_id is not None:
        found = running.find(transaction, extension_id)
        every = [found] if found is not None else []
    return [_shown(transaction, each) for each in every]


def trigger(
    transaction: Transaction,
    extension_id: str,
    what: str,
    *,
    tab_id: int | None = None,
    link_url: str | None = None,
    link_text: str | None = None,
    image_url: str | None = None,
    selection_text: str | None = None,
    close: bool = False,
) -> TriggerResult:
    """Do in the place of a user: `menu:ID`, `action`, `page-action`, `command:NAME` or `notification:ID`.

    It happens in a tab, the active one if none is named. A menu can be opened on a link, an image or selected text.
    With `close`, a notification is closed and not clicked.
    """
    extension = running.find(transaction, extension_id)
    if extension is None:
        raise TriggerError(f"{extension_id} is not running. Start it with `hatbox run`.")
    kind, colon, name = what.partition(":")
    if kind not in (*_NAMED, ACTION, PAGE_ACTION) or bool(colon) != (kind in _NAMED):
        raise TriggerError(
            f'"{what}" is nothing to trigger: say menu:ID, action, page-action, command:NAME or notification:ID.'
        )
    tab = tab_or_active(transaction, tab_id)
    popup = None
    if kind == MENU:
        spot = _MenuTarget(
            tab,
            to_well_formed(link_url),
            to_well_formed(link_text),
            to_well_formed(image_url),
            to_well_formed(selection_text),
        )
        popup = _choose(transaction, extension, to_well_formed(name), spot)
    elif kind == ACTION:
        popup = _click_button(transaction, extension, tab)
    elif kind == PAGE_ACTION:
        popup = _click_page_button(transaction, extension, tab)
    elif kind == COMMAND:
        popup = _give_command(transaction, extension, to_well_formed(name), tab)
    else:
        _act_on_notification(transaction, extension, to_well_formed(name), close=close)
    in_tab = tab.id if tab and kind != NOTIFICATION else None
    return TriggerResult(extension.extension_id, what, in_tab, popup or None)


# ── Menus ──


class _MenuTarget(msgspec.Struct, frozen=True):
    """Where a menu is to be opened, as far as somebody has said it."""

    tab: Tab | None
    link_url: str | None
    link_text: str | None
    image_url: str | None
    selection_text: str | None

    @property
    def is_on_something(self) -> bool:
        return any(each is not None for each in (self.link_url, self.image_url, self.selection_text))


def _choose(transaction: Transaction, extension: RunRecord, name: str, wish: _MenuTarget) -> str | None:
    every = items.get_all(transaction, extension.id)
    item = every.get(name) or (every.get(int(name)) if name.lstrip("-").isdecimal() else None)
    if item is None:
        raise TriggerError(_unknown("menu item", name, extension, [str(each) for each in every]))
    shown = f"the menu item {_quoted(item)} of {extension.name}"
    if any(each.parent == item.id for each in every.values()):
        raise TriggerError(f"{shown} has others below it, and only those can be chosen.")
    if item.type == "separator":
        raise TriggerError(f"{shown} is a separator, which cannot be chosen.")
    if not item.enabled:
        raise TriggerError(f"{shown} is disabled.")
    way = _item_ancestors(every, item)
    spot = _spot(way, wish, shown)
    menu_clicks.record_shown(transaction, extension.id, spot)
    version = extension.manifest.get("manifest_version")
    clicks_button = item.command is not None and _BUTTONS.get(item.command) == version
    clicks_page_button = item.command == _PAGE_BUTTON
    menu_clicks.click_item(transaction, extension.id, item, spot, tell=not (clicks_button or clicks_page_button))
    popup = None
    if clicks_button:
        popup = _click_button(transaction, extension, wish.tab)
    elif clicks_page_button:
        popup = _click_page_button(transaction, extension, wish.tab)
    menu_clicks.record_hidden(transaction, extension.id, spot)
    return popup


def _item_ancestors(every: Mapping[ItemId, Item], item: Item) -> list[Item]:
    """The item, and all that are above it."""
    way = [item]
    while (parent := way[-1].parent) is not None:
        way.append(every[parent])
    return way


def _spot(way: Sequence[Item], wish: _MenuTarget, shown: str) -> MenuContext:
    """Where the menu is opened: where somebody says, or else at the first place that the item is for."""
    if wish.tab is None:
        raise TriggerError(_NO_TAB + ".")
    if any(not item.visible for item in way):
        raise TriggerError(f"{shown} is not visible.")
    contexts = way[0].contexts
    places = [""] if wish.is_on_something else [_place(context) for context in contexts]
    for outside, context in zip(places, contexts, strict=False):
        spot = MenuContext(
            tab=wish.tab,
            ui_context=outside,
            link_url=wish.link_url,
            link_text=wish.link_text if wish.link_text is not None else wish.link_url,
            src_url=wish.image_url,
            media_type=None if wish.image_url is None else "image",
            selection_text=wish.selection_text,
            editable=context in ("editable", "password") and not wish.is_on_something,
            password=context == "password" and not wish.is_on_something,
        )
        if all(is_item_visible(spot, item) for item in way):
            return spot
    needed = [_NEEDED[context] for context in contexts if context in _NEEDED] if not wish.is_on_something else []
    problem = needed[0] if needed and len(needed) == len(contexts) else f"is not shown here (tab {wish.tab.id})"
    raise TriggerError(f"{shown} {problem}.")


def _place(context: str) -> str:
    return context if context in ACTIONS | {"tab", "tools_menu"} else ""


def _quoted(item: Item) -> str:
    return f'"{item.title or item.id}"'


# ── Buttons and commands ──


def _click_button(transaction: Transaction, extension: RunRecord, tab: Tab | None) -> str | None:
    manifest = extension.manifest
    if (manifest.get("browser_action") or manifest.get("action")) is None:
        raise TriggerError(f"{extension.name} has no button: its manifest has no action.")
    target, defaults = _target(transaction, tab), button.defaults_of(manifest)
    if not get_value(transaction, extension.id, button.KIND, target, "enabled", defaults):
        raise TriggerError(f"the button of {extension.name} is disabled.")
    return clicks.click(transaction, extension.id, button.KIND, target, defaults)


def _click_page_button(transaction: Transaction, extension: RunRecord, tab: Tab | None) -> str | None:
    manifest = extension.manifest
    if manifest.get("page_action") is None:
        raise TriggerError(f"{extension.name} has no page action: its manifest names none.")
    target = _target(transaction, tab)
    if not page.is_shown(transaction, extension.id, manifest, target):
        raise TriggerError(f"the page action of {extension.name} is not shown in this tab.")
    return clicks.click(transaction, extension.id, page.KIND, target, page.defaults_of(manifest))


def _target(transaction: Transaction, tab: Tab | None) -> ActionScope:
    if tab is None:
        raise TriggerError(_NO_TAB + ".")
    return tab_target(transaction, tab.id)


def _give_command(transaction: Transaction, extension: RunRecord, name: str, tab: Tab | None) -> str | None:
    names = [command.name for command in commands.get_all(transaction, extension.id, extension.manifest)]
    if name not in names:
        raise TriggerError(_unknown("command", name, extension, names))
    if _BUTTONS.get(name) == extension.manifest.get("manifest_version"):
        return _click_button(transaction, extension, tab)
    if name == _PAGE_BUTTON:
        return _click_page_button(transaction, extension, tab)
    commands.execute(transaction, extension.id, name, tab)
    return None


# ── Notifications ──


def _act_on_notification(transaction: Transaction, extension: RunRecord, name: str, *, close: bool) -> None:
    names = notifications.get_all(transaction, extension.id)
    if name not in names:
        raise TriggerError(_unknown("notification", name, extension, list(names)))
    touch = notifications.close if close else notifications.click
    touch(transaction, extension.id, name)


# ── Listing ──


def _shown(transaction: Transaction, extension: RunRecord) -> ExtensionUi:
    manifest, tab = extension.manifest, tab_or_active(transaction, None)
    target = ActionScope() if tab is None else tab_target(transaction, tab.id)
    has_button = (manifest.get("browser_action") or manifest.get("action")) is not None
    every = items.get_all(transaction, extension.id)
    return ExtensionUi(
        id=extension.extension_id,
        name=extension.name,
        pid=extension.process,
        menus=list(items.below(every, None)),
        action=_values(transaction, extension, button.KIND, target, button.defaults_of(manifest))
        if has_button
        else None,
        page_action=_values(transaction, extension, page.KIND, target, page.defaults_of(manifest))
        | {"enabled": page.is_shown(transaction, extension.id, manifest, target)}
        if manifest.get("page_action") is not None
        else None,
        commands=commands.get_all(transaction, extension.id, manifest),
        notifications=notifications.get_all(transaction, extension.id),
    )


def _values(
    transaction: Transaction, extension: RunRecord, kind: str, target: ActionScope, defaults: Mapping[str, Any]
) -> dict[str, Any]:
    return {name: get_value(transaction, extension.id, kind, target, name, defaults) for name in defaults}


def _unknown(kind: str, name: str, extension: RunRecord, known: Sequence[str]) -> str:
    nearest = get_close_matches(name, known, n=1)
    hint = f' Did you mean "{nearest[0]}"?' if nearest else " `hatbox extensions list --ui` shows what there is."
    return f'{extension.name} has no {kind} "{name}".{hint}'
