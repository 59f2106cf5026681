"""The namespaces browserAction and action: the button of an extension. How values are found is in `values`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.browser_action import action_clicks as clicks
from hatbox.api.namespaces.browser_action.css_colors import contrasting, parse_color
from hatbox.api.namespaces.browser_action.popup_and_icon import set_icon, set_popup
from hatbox.api.namespaces.tabs.clicked_tab import to_well_formed
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.events import Event
from hatbox.extension_data.action_values import Defaults, Details, get_value, set_value, target_of
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents

__all__ = ["KIND", "defaults_of", "implement"]

KIND: Final = "action"
_RED: Final = (0xD9, 0, 0, 255)
_IN_PANEL: Final = "menupanel"


class _UserSettings(NamedTuple):
    is_on_toolbar: bool


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the buttons of a profile."""
    return _Button(surface, services)


def defaults_of(manifest: Mapping[str, Any]) -> Defaults:
    """What the manifest says of the button."""
    keys = manifest.get("browser_action") or manifest.get("action") or {}
    return {
        "title": keys.get("default_title") or manifest.get("name", ""),
        "popup": keys.get("default_popup") or "",
        "enabled": True,
        "badgeText": "",
        "badgeBackgroundColor": _RED,
        "badgeTextColor": None,
        "icon": None,
    }


class _Button(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        feed = ChangeEvents(services.store, surface.namespace)
        events = {
            "onClicked": EventBinding(
                feed.event("onClicked", clicks.topic_of(KIND), clicks.decode_click), clicks.told_clicked
            ),
            # The user has no toolbar to move it on.
            "onUserSettingsChanged": EventBinding(Event(f"{surface.namespace}.onUserSettingsChanged"), lambda *_: None),
        }
        super().__init__(surface, services.store, events)

    def _set(
        self, member: str, caller: ExtensionCaller, details: Details, name: str, value: Any
    ) -> asyncio.Future[Any]:
        def rule(transaction: Transaction) -> None:
            set_value(transaction, caller.id, KIND, target_of(transaction, details), name, to_well_formed(value))

        return self._write(member, rule)

    def _get(self, member: str, caller: ExtensionCaller, details: Details, name: str) -> asyncio.Future[Any]:
        def rule(transaction: Transaction) -> Any:
            target = target_of(transaction, details)
            return get_value(transaction, caller.id, KIND, target, name, defaults_of(caller.manifest))

        return self._read(member, rule)

    def set_title(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._set("setTitle", caller, details, "title", details["title"])

    def get_title(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._get("getTitle", caller, details, "title")

    def set_popup(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setPopup", set_popup, caller, KIND, details)

    def get_popup(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._get("getPopup", caller, details, "popup")

    def set_icon(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setIcon", set_icon, caller, KIND, details)

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
        return self._read("getBadgeTextColor", _text_color, caller.id, details, defaults_of(caller.manifest))

    def enable(self, caller: ExtensionCaller, tab_id: int | None) -> asyncio.Future[Any]:
        return self._set("enable", caller, {"tabId": tab_id}, "enabled", value=True)

    def disable(self, caller: ExtensionCaller, tab_id: int | None) -> asyncio.Future[Any]:
        return self._set("disable", caller, {"tabId": tab_id}, "enabled", value=False)

    def is_enabled(self, caller: ExtensionCaller, details: Details | int | None) -> asyncio.Future[Any]:
        meant = {"tabId": details} if isinstance(details, int) else details or {}
        return self._get("isEnabled", caller, meant, "enabled")

    def get_user_settings(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        keys = caller.manifest.get("browser_action") or caller.manifest.get("action") or {}
        area = keys.get("default_area") or _IN_PANEL
        return self._read("getUserSettings", lambda _: _UserSettings(area != _IN_PANEL))


def _set_color(transaction: Transaction, extension: str, details: Details, name: str, what: str) -> None:
    color: str | Sequence[int] | None = details["color"]
    if isinstance(color, str):
        parsed = parse_color(color)
        if parsed is None:
            raise ApiError(f'Invalid badge {what} color: "{color}"')
        color = parsed
    set_value(transaction, extension, KIND, target_of(transaction, details), name, color)


def _text_color(transaction: Transaction, extension: str, details: Details, defaults: Defaults) -> Sequence[int]:
    """The color that was set, or one that can be read on the background."""
    target = target_of(transaction, details)
    color: Sequence[int] | None = get_value(transaction, extension, KIND, target, "badgeTextColor", defaults)
    if color:
        return color
    return contrasting(get_value(transaction, extension, KIND, target, "badgeBackgroundColor", defaults))
