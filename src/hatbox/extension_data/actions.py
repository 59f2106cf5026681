"""Actions (toolbar buttons) and page actions of extensions: what the manifest declares, and where they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hatbox.extension_data.action_values import ActionScope, Defaults, get_value
from hatbox.store.base import Transaction
from hatbox.urls.match_patterns import parse_url_pattern
from hatbox.urls.url import parse_url

__all__ = [
    "ACTION",
    "PAGE_ACTION",
    "action_defaults",
    "action_keys",
    "is_page_action_shown",
    "page_action_defaults",
]

ACTION: Final = "action"
"""The kind of the stored values of `browserAction` and `action`."""
PAGE_ACTION: Final = "pageAction"

_RED: Final = (0xD9, 0, 0, 255)


def action_keys(manifest: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The action in the manifest: `browser_action` in version 2, `action` in version 3. None without an action."""
    return manifest.get("browser_action") or manifest.get("action")


def action_defaults(manifest: Mapping[str, Any]) -> Defaults:
    """The values of an action that the extension has not changed."""
    keys = action_keys(manifest) or {}
    return {
        "title": keys.get("default_title") or manifest.get("name", ""),
        "popup": keys.get("default_popup") or "",
        "enabled": True,
        "badgeText": "",
        "badgeBackgroundColor": _RED,
        "badgeTextColor": None,
        "icon": None,
    }


def page_action_defaults(manifest: Mapping[str, Any]) -> Defaults:
    """The values of a page action that the extension has not changed. `enabled` is None: it depends on the URL."""
    keys = manifest.get("page_action") or {}
    return {
        "title": keys.get("default_title") or manifest.get("name", ""),
        "popup": keys.get("default_popup") or "",
        "enabled": None,
        "icon": None,
    }


def is_page_action_shown(
    transaction: Transaction, extension: str, manifest: Mapping[str, Any], scope: ActionScope
) -> bool:
    """Whether the page action is shown in a tab: as set by show() and hide(), or by the patterns of the manifest."""
    enabled = get_value(transaction, extension, PAGE_ACTION, scope, "enabled", page_action_defaults(manifest))
    if enabled is not None or scope.tab is None:
        return bool(enabled)
    keys = manifest.get("page_action") or {}
    return _matches(keys.get("show_matches"), scope.tab.url) and not _matches(keys.get("hide_matches"), scope.tab.url)


def _matches(patterns: list[str] | None, text: str) -> bool:
    url = parse_url(text)
    parsed = map(parse_url_pattern, patterns or ())
    return url is not None and any(pattern.matches(url) for pattern in parsed if pattern is not None)
