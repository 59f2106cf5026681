"""The namespaces browserAction and action. Values are stored in the profile (`extension_data/action_values.py`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.browser_action.action_scopes import Details, click_args, scope_of
from hatbox.api.namespaces.browser_action.css_colors import contrast_color, parse_color
from hatbox.api.namespaces.browser_action.opened_popup import NO_POPUP_ENGINE, open_action_popup
from hatbox.api.namespaces.browser_action.popup_and_icon import set_icon, set_popup
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.events import Event
from hatbox.extension_data.action_clicks import decode_click, topic_of
from hatbox.extension_data.action_values import Defaults, get_value, set_value
from hatbox.extension_data.actions import ACTION, action_defaults, action_keys
from hatbox.javascript.well_formed_values import to_well_formed
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]

_MENU_PANEL: Final = "menupanel"


class _UserSettings(NamedTuple):
    is_on_toolbar: bool


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the actions of a profile."""
    return _Action(schema, services)


class _Action(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        clicked = ChangeEvents(services.store, schema.namespace).event("onClicked", topic_of(ACTION), decode_click)
        events = {
            "onClicked": EventBinding(clicked, click_args),
            # Never emitted: there is no toolbar on which a user could move the action.
            "onUserSettingsChanged": EventBinding(Event(f"{schema.namespace}.onUserSettingsChanged"), lambda *_: None),
        }
        super().__init__(schema, services.store, events)
        self._content_scripts = services.content_scripts
        self._messages = services.messages

    def _set(
        self, member: str, caller: ExtensionCaller, details: Details, name: str, value: Any
    ) -> asyncio.Future[Any]:
        def write(transaction: Transaction) -> None:
            set_value(transaction, caller.id, ACTION, scope_of(transaction, details), name, to_well_formed(value))

        return self._write(member, write)

    def _get(self, member: str, caller: ExtensionCaller, details: Details, name: str) -> asyncio.Future[Any]:
        def read(transaction: Transaction) -> Any:
            scope = scope_of(transaction, details)
            return get_value(transaction, caller.id, ACTION, scope, name, action_defaults(caller.manifest))

        return self._read(member, read)

    def set_title(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._set("setTitle", caller, details, "title", details["title"])

    def get_title(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._get("getTitle", caller, details, "title")

    def set_popup(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setPopup", set_popup, caller, ACTION, details)

    def get_popup(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._get("getPopup", caller, details, "popup")

    def set_icon(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setIcon", set_icon, caller, ACTION, details)

    def set_badge_text(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._set("setBadgeText", caller, details, "badgeText", details["text"])

    def get_badge_text(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._get("getBadgeText", caller, details, "badgeText")

    def set_badge_background_color(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        name = "badgeBackgroundColor"
        return self._write("setBadgeBackgroundColor", _set_color, caller.id, details, name, "background")

    def get_badge_background_color(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._get("getBadgeBackgroundColor", caller, details, "badgeBackgroundColor")

    def set_badge_text_color(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setBadgeTextColor", _set_color, caller.id, details, "badgeTextColor", "text")

    def get_badge_text_color(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._read("getBadgeTextColor", _text_color, caller.id, details, action_defaults(caller.manifest))

    def enable(self, caller: ExtensionCaller, tab_id: int | None) -> asyncio.Future[Any]:
        return self._set("enable", caller, {"tabId": tab_id}, "enabled", value=True)

    def disable(self, caller: ExtensionCaller, tab_id: int | None) -> asyncio.Future[Any]:
        return self._set("disable", caller, {"tabId": tab_id}, "enabled", value=False)

    def is_enabled(self, caller: ExtensionCaller, details: Details | int | None) -> asyncio.Future[Any]:
        scope = {"tabId": details} if isinstance(details, int) else details or {}
        return self._get("isEnabled", caller, scope, "enabled")

    def get_user_settings(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        keys = action_keys(caller.manifest) or {}
        area = keys.get("default_area") or _MENU_PANEL
        return self._read("getUserSettings", lambda _: _UserSettings(area != _MENU_PANEL))

    def open_popup(self, caller: ExtensionCaller, options: Details | None) -> asyncio.Future[Any]:
        has_engine = self._content_scripts.has_engine
        contexts = (each for each in self._messages.contexts if each.extension_id == caller.extension_id)
        is_open = any(each.kind == "POPUP" for each in contexts)

        def write(transaction: Transaction) -> None:
            if not has_engine:
                raise ApiError(NO_POPUP_ENGINE)
            open_action_popup(transaction, caller, options, is_open=is_open)

        return self._write("openPopup", write)


def _set_color(transaction: Transaction, extension: str, details: Details, name: str, what: str) -> None:
    color: str | Sequence[int] | None = details["color"]
    if isinstance(color, str):
        parsed = parse_color(color)
        if parsed is None:
            raise ApiError(f'Invalid badge {what} color: "{color}"')
        color = parsed
    set_value(transaction, extension, ACTION, scope_of(transaction, details), name, color)


def _text_color(transaction: Transaction, extension: str, details: Details, defaults: Defaults) -> Sequence[int]:
    """The color that was set, or one with contrast to the background."""
    scope = scope_of(transaction, details)
    color: Sequence[int] | None = get_value(transaction, extension, ACTION, scope, "badgeTextColor", defaults)
    if color:
        return color
    return contrast_color(get_value(transaction, extension, ACTION, scope, "badgeBackgroundColor", defaults))
