"""Menu contexts (menus.ContextType): where a menu is opened, and which items are visible there, as in Firefox. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from hatbox.extension_data.menu_items import MenuItem, MenuItemId
from hatbox.tabs.tab_model import Tab
from hatbox.urls.match_patterns import parse_url_pattern
from hatbox.urls.url import parse_url

__all__ = ["ACTIONS", "UI_CONTEXTS", "MenuContext", "is_item_visible", "visible_items"]

ACTIONS: Final = frozenset({"action", "browser_action", "page_action"})
"""The contexts whose menu contains items of one extension only."""

UI_CONTEXTS: Final = ACTIONS | {"bookmark", "tab", "tools_menu"}
"""The contexts outside pages."""

_NOT_IN_ALL: Final = frozenset({"bookmark", "tab", "tools_menu"})  # contexts that "all" does not include


class MenuContext(msgspec.Struct, frozen=True, kw_only=True):
    """Where a menu is opened: in the page of a tab, or in the browser UI."""

    tab: Tab | None
    ui_context: str = msgspec.field(default="", name="outside")  # the name in earlier versions
    """`bookmark`, `tab`, `tools_menu` or a kind of action; empty in a page."""
    link_url: str | None = None
    link_text: str | None = None
    src_url: str | None = None
    media_type: str | None = None
    selection_text: str | None = None
    editable: bool = False
    password: bool = False
    bookmark_id: str | None = None
    """The bookmark or folder of a `bookmark` menu, which has no tab."""

    @property
    def contexts(self) -> tuple[str, ...]:
        """The matching values of menus.ContextType, in Firefox's order."""
        matches = {
            "audio": self.media_type == "audio",
            "editable": self.editable,
            "image": self.media_type == "image",
            "link": self.link_url is not None,
            "password": self.password,
            "selection": self.selection_text is not None,
            "video": self.media_type == "video",
        }
        found = [self.ui_context] if self.ui_context else [name for name, applies in matches.items() if applies]
        return (*(found or ["page"]), *(() if self.ui_context in _NOT_IN_ALL else ("all",)))

    @property
    def view_type(self) -> str | None:
        """`tab` in a page, otherwise None."""
        return None if self.ui_context in UI_CONTEXTS else "tab"


def is_item_visible(context: MenuContext, item: MenuItem) -> bool:
    """Whether an item is visible in a context, if its ancestors are."""
    return (
        item.visible
        and not set(item.contexts).isdisjoint(context.contexts)
        and (item.view_types is None or context.view_type in item.view_types)
        and (item.document_url_patterns is None or _matches(item.document_url_patterns, _page_url(context)))
        and (item.target_url_patterns is None or _matches(item.target_url_patterns, context.src_url, context.link_url))
    )


def visible_items(context: MenuContext, items: dict[MenuItemId, MenuItem]) -> list[MenuItem]:
    """The visible items, each followed by its descendants."""
    visible: list[MenuItem] = []

    def collect(parent: MenuItemId | None) -> None:
        for item in items.values():
            if item.parent == parent and is_item_visible(context, item):
                visible.append(item)
                collect(item.id)

    collect(None)
    return visible


def _page_url(context: MenuContext) -> str | None:
    return context.tab.url if context.tab else None


def _matches(patterns: Iterable[str], *urls: str | None) -> bool:
    parsed = [pattern for pattern in map(parse_url_pattern, patterns) if pattern is not None]
    found = [url for url in (parse_url(text) for text in urls if text is not None) if url is not None]
    return any(pattern.matches(url) for pattern in parsed for url in found)
