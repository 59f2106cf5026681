"""Where a menu is opened, and which items are in it then: as Firefox decides. Stores nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from hatbox.extension_data.menu_items import Item, ItemId
from hatbox.tabs.tab_model import Tab
from hatbox.urls.match_patterns import parse_url_pattern
from hatbox.urls.url import parse_url

__all__ = ["ACTIONS", "MenuContext", "is_item_visible", "visible_items"]

ACTIONS: Final = frozenset({"action", "browser_action", "page_action"})
"""The menus of buttons, in which an extension is alone."""

_OUTSIDE_PAGES: Final = ACTIONS | {"tab", "tools_menu"}
_NOT_ALL: Final = frozenset({"tab", "tools_menu"})  # what is not meant by "all"


class MenuContext(msgspec.Struct, frozen=True, kw_only=True):
    """Where a menu is opened: in the page of a tab, on something in it, or outside."""

    tab: Tab | None
    ui_context: str = ""
    """What it is on, if that is not a page: `tab`, `tools_menu`, or a button."""
    link_url: str | None = None
    link_text: str | None = None
    src_url: str | None = None
    media_type: str | None = None
    selection_text: str | None = None
    editable: bool = False
    password: bool = False

    @property
    def contexts(self) -> tuple[str, ...]:
        """What it is on, in the words of the API and in Firefox's order."""
        applies = {
            "audio": self.media_type == "audio",
            "editable": self.editable,
            "image": self.media_type == "image",
            "link": self.link_url is not None,
            "password": self.password,
            "selection": self.selection_text is not None,
            "video": self.media_type == "video",
        }
        found = [self.ui_context] if self.ui_context else [name for name, is_on in applies.items() if is_on]
        return (*(found or ["page"]), *(() if self.ui_context in _NOT_ALL else ("all",)))

    @property
    def view_type(self) -> str | None:
        """`tab` in a page."""
        return None if self.ui_context in _OUTSIDE_PAGES else "tab"


def is_item_visible(spot: MenuContext, item: Item) -> bool:
    """Whether an item is shown here, all above it being shown."""
    return (
        item.visible
        and not set(item.contexts).isdisjoint(spot.contexts)
        and (item.view_types is None or spot.view_type in item.view_types)
        and (item.document_url_patterns is None or _matches(item.document_url_patterns, _page_url(spot)))
        and (item.target_url_patterns is None or _matches(item.target_url_patterns, spot.src_url, spot.link_url))
    )


def visible_items(spot: MenuContext, items: dict[ItemId, Item]) -> list[Item]:
    """The items that are shown here, each followed by those below it."""
    found: list[Item] = []

    def gather(parent: ItemId | None) -> None:
        for item in items.values():
            if item.parent == parent and is_item_visible(spot, item):
                found.append(item)
                gather(item.id)

    gather(None)
    return found


def _page_url(spot: MenuContext) -> str | None:
    return spot.tab.url if spot.tab else None


def _matches(patterns: Iterable[str], *urls: str | None) -> bool:
    parsed = [pattern for pattern in map(parse_url_pattern, patterns) if pattern is not None]
    found = [url for url in (parse_url(text) for text in urls if text is not None) if url is not None]
    return any(pattern.matches(url) for pattern in parsed for url in found)
