"""The namespace pageAction: a button that belongs to the page of a tab."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.browser_action import action_clicks as clicks
from hatbox.api.namespaces.browser_action.popup_and_icon import set_icon, set_popup
from hatbox.api.namespaces.tabs.clicked_tab import to_well_formed
from hatbox.api.services import Services
from hatbox.extension_data.action_values import ActionScope, Defaults, Details, get_value, set_value, tab_target
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents
from hatbox.urls.match_patterns import parse_url_pattern
from hatbox.urls.url import parse_url

__all__ = ["KIND", "defaults_of", "implement", "is_shown"]

KIND: Final = "pageAction"


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the buttons of a profile."""
    return _PageAction(surface, services)


def defaults_of(manifest: Mapping[str, Any]) -> Defaults:
    """What the manifest says of the button. Whether it is shown depends on the page, unless somebody says it."""
    keys = manifest.get("page_action") or {}
    return {
        "title": keys.get("default_title") or manifest.get("name", ""),
        "popup": keys.get("default_popup") or "",
        "enabled": None,
        "icon": None,
    }


def is_shown(transaction: Transaction, extension: str, manifest: Mapping[str, Any], target: ActionScope) -> bool:
    """Whether the button is shown in a tab."""
    said = get_value(transaction, extension, KIND, target, "enabled", defaults_of(manifest))
    if said is not None or target.tab is None:
        return bool(said)
    keys = manifest.get("page_action") or {}
    return _matches(keys.get("show_matches"), target.tab.url) and not _matches(keys.get("hide_matches"), target.tab.url)


def _matches(patterns: list[str] | None, text: str) -> bool:
    url = parse_url(text)
    parsed = map(parse_url_pattern, patterns or ())
    return url is not None and any(pattern.matches(url) for pattern in parsed if pattern is not None)


class _PageAction(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        clicked = ChangeEvents(services.store, surface.namespace).event(
            "onClicked", clicks.topic_of(KIND), clicks.decode_click
        )
        super().__init__(surface, services.store, {"onClicked": EventBinding(clicked, clicks.told_clicked)})

    def _set(self, member: str, caller: ExtensionCaller, tab_id: int, name: str, value: Any) -> asyncio.Future[Any]:
        def rule(transaction: Transaction) -> None:
            set_value(transaction, caller.id, KIND, tab_target(transaction, tab_id), name, to_well_formed(value))

        return self._write(member, rule)

    def _get(self, member: str, caller: ExtensionCaller, tab_id: int, name: str) -> asyncio.Future[Any]:
        def rule(transaction: Transaction) -> Any:
            target = tab_target(transaction, tab_id)
            return get_value(transaction, caller.id, KIND, target, name, defaults_of(caller.manifest))

        return self._read(member, rule)

    def show(self, caller: ExtensionCaller, tab_id: int) -> asyncio.Future[Any]:
        return self._set("show", caller, tab_id, "enabled", value=True)

    def hide(self, caller: ExtensionCaller, tab_id: int) -> asyncio.Future[Any]:
        return self._set("hide", caller, tab_id, "enabled", value=False)

    def is_shown(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        def rule(transaction: Transaction) -> bool:
            return is_shown(transaction, caller.id, caller.manifest, tab_target(transaction, details["tabId"]))

        return self._read("isShown", rule)

    def set_title(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._set("setTitle", caller, details["tabId"], "title", details["title"])

    def get_title(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._get("getTitle", caller, details["tabId"], "title")

    def set_icon(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setIcon", set_icon, caller, KIND, details)

    def set_popup(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._write("setPopup", set_popup, caller, KIND, details)

    def get_popup(self, caller: ExtensionCaller, details: Details) -> asyncio.Future[Any]:
        return self._get("getPopup", caller, details["tabId"], "popup")
