"""Lists the UI of running extensions, and triggers it on behalf of the user. Transaction functions.

Menus, actions, commands and notifications are rows of the profile, and are not displayed. Any process can list and
trigger them. The process that runs the extension observes the change and calls the listeners.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

import msgspec

from hatbox.errors import TriggerError
from hatbox.extension_data import commands, menu_clicks, menu_items, notifications, omnibox_input, run_records, sidebars
from hatbox.extension_data.action_clicks import click_action
from hatbox.extension_data.action_values import GLOBAL, ActionScope, get_value, tab_scope
from hatbox.extension_data.actions import (
    ACTION,
    PAGE_ACTION,
    action_defaults,
    action_keys,
    is_page_action_shown,
    page_action_defaults,
)
from hatbox.extension_data.menu_contexts import UI_CONTEXTS, MenuContext, is_item_visible
from hatbox.extension_data.menu_items import MenuItem, MenuItemId
from hatbox.extension_data.omnibox_input import OmniboxView, get_omnibox
from hatbox.extension_data.page_opening import PAGE_KINDS
from hatbox.extension_data.run_records import RunRecord
from hatbox.extensions.page_triggers import (
    NO_PAGE_ENGINE,
    START_ON_PAGE,
    find_page,
    page_url,
    request_shown,
    shows_pages,
)
from hatbox.javascript.well_formed_values import to_well_formed
from hatbox.store.base import Transaction
from hatbox.tabs.strip import row_of
from hatbox.tabs.tab_model import Tab, tab_of
from hatbox.tabs.windows import last_focused

__all__ = ["ExtensionUi", "TriggerResult", "list_ui", "open_page", "trigger"]

_NAMED: Final = ("menu", "command", "notification", "omnibox", "omnibox-enter")
_UNNAMED: Final = ("action", "page-action", "options", "sidebar")
_ACTION_COMMANDS: Final = {"_execute_action": 3, "_execute_browser_action": 2}
"""The commands that click the action, with their manifest version."""
_PAGE_ACTION_COMMAND: Final = "_execute_page_action"
_SIDEBAR_COMMAND: Final = "_execute_sidebar_action"

_NO_TAB: Final = "no tab is open. Open one with `hatbox open`, or with open() in a test."
_REQUIRED_CONTEXT: Final = {
    "link": "needs a link. Add --link URL",
    "selection": "needs selected text. Add --selection TEXT",
    "image": "needs an image. Add --image URL",
    "video": "needs a video, which is not supported",
    "audio": "needs audio, which is not supported",
    "bookmark": "needs a bookmark. Add --bookmark ID",
    "launcher": "needs an app launcher, which is not supported",
    "frame": "needs a frame, which is not supported",
}


class ExtensionUi(msgspec.Struct, frozen=True, rename="camel"):
    """The UI of a running extension."""

    id: str
    name: str
    pid: int
    """The process that runs the extension."""
    menus: list[MenuItem]
    action: dict[str, Any] | None
    page_action: dict[str, Any] | None
    commands: list[commands.CommandView]
    notifications: dict[str, Any]
    options: str | None = None
    """The URL of the options page."""
    sidebar: str | None = None
    """The URL of the sidebar."""
    omnibox: OmniboxView | None = None


class TriggerResult(msgspec.Struct, frozen=True, rename="camel"):
    """What was triggered. An action with a popup opens the popup and does not emit onClicked."""

    extension: str
    what: str
    tab_id: int | None
    popup: str | None = None
    """The URL of the page that opens: the popup, or the page of open_page()."""
    shown: bool = False
    """Whether the process of the extension shows that page, because it runs the Chromium engine."""


def list_ui(transaction: Transaction, extension_id: str | None = None) -> list[ExtensionUi]:
    """The UI of all running extensions, or of one."""
    if extension_id is None:
        running = run_records.get_all(transaction)
    else:
        found = run_records.find(transaction, extension_id)
        running = [found] if found is not None else []
    return [_extension_ui(transaction, extension) for extension in running]


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
    bookmark_id: str | None = None,
    close: bool = False,
    shows_popup: bool = True,
) -> TriggerResult:
    """Trigger `menu:ID`, `action`, `page-action`, `options`, `sidebar`, `command:NAME`, `notification:ID`,
    `omnibox:TEXT` or `omnibox-enter:TEXT` on behalf of the user.

    `tab_id` defaults to the active tab. A menu can be opened on a link, an image, selected text or a bookmark. With
    `close`, a notification is closed instead of clicked. A popup is shown where the extension runs,
    unless `shows_popup` is False.
    """
    extension = _running(transaction, extension_id)
    kind, colon, name = what.partition(":")
    if kind not in (*_NAMED, *_UNNAMED) or bool(colon) != (kind in _NAMED):
        raise TriggerError(
            f'invalid trigger "{what}". '
            "Use menu:ID, action, page-action, options, sidebar, command:NAME, notification:ID, omnibox:TEXT or "
            "omnibox-enter:TEXT."
        )
    if kind in PAGE_KINDS:
        return open_page(transaction, extension_id, kind, tab_id=tab_id)
    tab = _tab_or_active(transaction, tab_id)
    popup = None
    if kind == "menu":
        target = _MenuTarget(
            tab,
            to_well_formed(link_url),
            to_well_formed(link_text),
            to_well_formed(image_url),
            to_well_formed(selection_text),
            bookmark_id,
        )
        popup = _click_menu_item(transaction, extension, to_well_formed(name), target)
    elif kind == "action":
        popup = _click_action(transaction, extension, tab)
    elif kind == "page-action":
        popup = _click_page_action(transaction, extension, tab)
    elif kind == "command":
        popup = _execute_command(transaction, extension, to_well_formed(name), tab)
    elif kind in ("omnibox", "omnibox-enter"):
        _use_omnibox(transaction, extension, to_well_formed(name), enter=kind == "omnibox-enter")
    else:
        _act_on_notification(transaction, extension, to_well_formed(name), close=close)
    in_tab = tab.id if tab and kind != "notification" else None
    shown = bool(popup) and shows_popup and request_shown(transaction, extension, popup or "", in_tab, kind="POPUP")
    return TriggerResult(extension.extension_id, what, in_tab, popup or None, shown)


def open_page(transaction: Transaction, extension_id: str, kind: str, *, tab_id: int | None = None) -> TriggerResult:
    """Open the `popup`, `options` page or `sidebar` of a running extension, as in the active tab or another one.

    Raises TriggerError if it has none, or if its process cannot show pages.
    """
    extension = _running(transaction, extension_id)
    tab = _tab_or_active(transaction, tab_id)
    url = page_url(transaction, extension, kind, GLOBAL if tab is None else tab_scope(transaction, tab.id))
    if kind == "sidebar" and tab is not None and shows_pages(transaction, extension):
        sidebars.open_sidebar(transaction, extension.id, tab.window_id)
    elif not request_shown(transaction, extension, kind, tab.id if tab else None):
        problem = f"the process of {extension.name} does not show pages."
        raise TriggerError(f"{problem} {NO_PAGE_ENGINE}", f"{problem} {START_ON_PAGE}")
    return TriggerResult(extension.extension_id, kind, tab.id if tab else None, url, shown=True)


# ── Menus ──


class _MenuTarget(msgspec.Struct, frozen=True):
    """Where the caller wants the menu to be opened."""

    tab: Tab | None
    link_url: str | None
    link_text: str | None
    image_url: str | None
    selection_text: str | None
    bookmark_id: str | None

    @property
    def is_on_element(self) -> bool:
        return any(each is not None for each in (self.link_url, self.image_url, self.selection_text))


def _click_menu_item(transaction: Transaction, extension: RunRecord, name: str, target: _MenuTarget) -> str | None:
    items = menu_items.get_all(transaction, extension.id)
    item = items.get(name) or (items.get(int(name)) if name.lstrip("-").isdecimal() else None)
    if item is None:
        raise TriggerError(_not_found("menu item", name, extension, [str(each) for each in items]))
    label = f'menu item "{item.title or item.id}" of {extension.name}'
    _check_clickable(items, item, label)
    path = _item_ancestors(items, item)
    if target.bookmark_id is None:
        context = _menu_context(path, target, label)
    else:
        context = _bookmark_context(transaction, extension, path, target.bookmark_id, label)
    version = extension.manifest.get("manifest_version")
    clicks_action = item.command is not None and _ACTION_COMMANDS.get(item.command) == version
    clicks_page_action = item.command == _PAGE_ACTION_COMMAND
    menu_clicks.record_shown(transaction, extension.id, context)
    menu_clicks.click_item(transaction, extension.id, item, context, notify=not (clicks_action or clicks_page_action))
    popup = None
    if clicks_action:
        popup = _click_action(transaction, extension, target.tab)
    elif clicks_page_action:
        popup = _click_page_action(transaction, extension, target.tab)
    menu_clicks.record_hidden(transaction, extension.id, context)
    return popup


def _check_clickable(items: Mapping[MenuItemId, MenuItem], item: MenuItem, label: str) -> None:
    if any(each.parent == item.id for each in items.values()):
        raise TriggerError(f"{label} is a submenu. Trigger one of its items.")
    if item.type == "separator":
        raise TriggerError(f"{label} is a separator, which cannot be clicked.")
    if not item.enabled:
        raise TriggerError(f"{label} is disabled.")


def _item_ancestors(items: Mapping[MenuItemId, MenuItem], item: MenuItem) -> list[MenuItem]:
    """The item and its ancestors."""
    path = [item]
    while (parent := path[-1].parent) is not None:
        path.append(items[parent])
    return path


def _menu_context(path: Sequence[MenuItem], target: _MenuTarget, label: str) -> MenuContext:
    """The context named by the caller, or the first context of the item in which it is visible."""
    if target.tab is None:
        raise TriggerError(_NO_TAB)
    if any(not item.visible for item in path):
        raise TriggerError(f"{label} is not visible.")
    contexts = ("page",) if target.is_on_element else [name for name in path[0].contexts if name != "bookmark"]
    for name in contexts:
        context = MenuContext(
            tab=target.tab,
            ui_context=name if name in UI_CONTEXTS else "",
            link_url=target.link_url,
            link_text=target.link_text if target.link_text is not None else target.link_url,
            src_url=target.image_url,
            media_type=None if target.image_url is None else "image",
            selection_text=target.selection_text,
            editable=name in ("editable", "password"),
            password=name == "password",
        )
        if all(is_item_visible(context, item) for item in path):
            return context
    names = contexts or path[0].contexts
    required = [_REQUIRED_CONTEXT[name] for name in names if name in _REQUIRED_CONTEXT]
    problem = required[0] if required and len(required) == len(names) else f"is not shown in tab {target.tab.id}"
    raise TriggerError(f"{label} {problem}.")


def _bookmark_context(
    transaction: Transaction, extension: RunRecord, path: Sequence[MenuItem], bookmark_id: str, label: str
) -> MenuContext:
    """The context of a bookmark. As in Firefox, it has no tab, and needs the permission `bookmarks`."""
    manifest = extension.manifest
    if "bookmarks" not in (*(manifest.get("permissions") or ()), *(manifest.get("optional_permissions") or ())):
        raise TriggerError(f"{label} is not shown on bookmarks: the extension has no permission for them.")
    if transaction.bookmarks.get(bookmark_id) is None:
        raise TriggerError(f'no bookmark has the id "{bookmark_id}".')
    context = MenuContext(tab=None, ui_context="bookmark", bookmark_id=bookmark_id)
    if not all(is_item_visible(context, item) for item in path):
        raise TriggerError(f"{label} is not shown on bookmarks.")
    return context


# ── Actions and commands ──


def _click_action(transaction: Transaction, extension: RunRecord, tab: Tab | None) -> str | None:
    manifest = extension.manifest
    if action_keys(manifest) is None:
        raise TriggerError(f"{extension.name} has no action in its manifest.")
    scope, defaults = _tab_scope(transaction, tab), action_defaults(manifest)
    if not get_value(transaction, extension.id, ACTION, scope, "enabled", defaults):
        raise TriggerError(f"the action of {extension.name} is disabled.")
    return click_action(transaction, extension.id, ACTION, scope, defaults)


def _click_page_action(transaction: Transaction, extension: RunRecord, tab: Tab | None) -> str | None:
    manifest = extension.manifest
    if manifest.get("page_action") is None:
        raise TriggerError(f"{extension.name} has no page action in its manifest.")
    scope = _tab_scope(transaction, tab)
    if not is_page_action_shown(transaction, extension.id, manifest, scope):
        raise TriggerError(f"the page action of {extension.name} is not shown in this tab.")
    return click_action(transaction, extension.id, PAGE_ACTION, scope, page_action_defaults(manifest))


def _tab_scope(transaction: Transaction, tab: Tab | None) -> ActionScope:
    if tab is None:
        raise TriggerError(_NO_TAB)
    return tab_scope(transaction, tab.id)


def _execute_command(transaction: Transaction, extension: RunRecord, name: str, tab: Tab | None) -> str | None:
    names = [command.name for command in commands.get_all(transaction, extension.id, extension.manifest)]
    if name not in names:
        raise TriggerError(_not_found("command", name, extension, names))
    if _ACTION_COMMANDS.get(name) == extension.manifest.get("manifest_version"):
        return _click_action(transaction, extension, tab)
    if name == _PAGE_ACTION_COMMAND:
        return _click_page_action(transaction, extension, tab)
    if name == _SIDEBAR_COMMAND:
        _toggle_sidebar(transaction, extension, tab)
    else:
        commands.execute(transaction, extension.id, name, tab)
    return None


def _toggle_sidebar(transaction: Transaction, extension: RunRecord, tab: Tab | None) -> None:
    if extension.manifest.get("sidebar_action") is None:
        raise TriggerError(f"{extension.name} has no sidebar in its manifest.")
    if tab is None:
        raise TriggerError(_NO_TAB)
    sidebars.toggle_sidebar(transaction, extension.id, tab.window_id)


# ── Notifications ──


def _act_on_notification(transaction: Transaction, extension: RunRecord, name: str, *, close: bool) -> None:
    names = notifications.get_all(transaction, extension.id)
    if name not in names:
        raise TriggerError(_not_found("notification", name, extension, list(names)))
    act = notifications.close if close else notifications.click
    act(transaction, extension.id, name)


# ── Omnibox ──


def _use_omnibox(transaction: Transaction, extension: RunRecord, text: str, *, enter: bool) -> None:
    if not extension.manifest.get("omnibox"):
        raise TriggerError(f"{extension.name} has no omnibox keyword in its manifest.")
    use = omnibox_input.enter_text if enter else omnibox_input.type_text
    use(transaction, extension.id, text)


# ── Listing ──


def _extension_ui(transaction: Transaction, extension: RunRecord) -> ExtensionUi:
    manifest, tab = extension.manifest, _tab_or_active(transaction, None)
    scope = GLOBAL if tab is None else tab_scope(transaction, tab.id)
    action = page_action = None
    if action_keys(manifest) is not None:
        action = _action_values(transaction, extension, ACTION, scope, action_defaults(manifest))
    if manifest.get("page_action") is not None:
        page_action = _action_values(transaction, extension, PAGE_ACTION, scope, page_action_defaults(manifest))
        page_action["enabled"] = is_page_action_shown(transaction, extension.id, manifest, scope)
    return ExtensionUi(
        id=extension.extension_id,
        name=extension.name,
        pid=extension.process,
        menus=list(menu_items.descendants(menu_items.get_all(transaction, extension.id), None)),
        action=action,
        page_action=page_action,
        commands=commands.get_all(transaction, extension.id, manifest),
        notifications=notifications.get_all(transaction, extension.id),
        options=find_page(transaction, extension, "options", scope),
        sidebar=find_page(transaction, extension, "sidebar", scope),
        omnibox=get_omnibox(transaction, extension.id, manifest),
    )


def _action_values(
    transaction: Transaction, extension: RunRecord, kind: str, scope: ActionScope, defaults: Mapping[str, Any]
) -> dict[str, Any]:
    return {name: get_value(transaction, extension.id, kind, scope, name, defaults) for name in defaults}


# ── Shared ──


def _running(transaction: Transaction, extension_id: str) -> RunRecord:
    extension = run_records.find(transaction, extension_id)
    if extension is None:
        raise TriggerError(f"{extension_id} is not running. Start it with `hatbox run`.")
    return extension


def _tab_or_active(transaction: Transaction, tab_id: int | None) -> Tab | None:
    """A tab by id, or the active tab of the last focused window. None if no tab is open."""
    if tab_id is not None:
        return tab_of(transaction, row_of(transaction, tab_id))
    window = last_focused(transaction)
    active = transaction.tabs.active(window.id) if window else None
    return tab_of(transaction, active) if active else None


def _not_found(kind: str, name: str, extension: RunRecord, known: Sequence[str]) -> str:
    nearest = get_close_matches(name, known, n=1)
    hint = f'Did you mean "{nearest[0]}"?' if nearest else "List them with `hatbox extensions list --ui`."
    return f'{extension.name} has no {kind} "{name}". {hint}'
