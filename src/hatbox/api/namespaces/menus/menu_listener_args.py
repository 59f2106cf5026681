"""Arguments of the listeners of menus.onClicked, onShown and onHidden: what each extension may see."""

from __future__ import annotations

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespaces.tabs.clicked_tab import clicked_tab_view
from hatbox.api.namespaces.tabs.tab_access import tab_access
from hatbox.api.namespaces.tabs.tab_views import TabView
from hatbox.extension_data.menu_clicks import MenuClickData, MenuItemClicked, MenuShown
from hatbox.extension_data.menu_items import MenuItemId

__all__ = ["clicked_args", "hidden_args", "shown_args"]


class _ShownInfo(msgspec.Struct, frozen=True, kw_only=True):
    menu_ids: list[MenuItemId]
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
    bookmark_id: str | None = None


def clicked_args(caller: Caller, clicked: MenuItemClicked) -> tuple[MenuClickData, TabView | None] | None:
    """(info, tab) for the extension of the item."""
    return (clicked.info, clicked_tab_view(caller, clicked.tab)) if clicked.extension == caller.id else None


def shown_args(caller: Caller, shown: MenuShown) -> tuple[_ShownInfo, TabView | None] | None:
    """(info, tab). Details of the page need host access: the user has not clicked an item of the extension yet."""
    if shown.only not in (None, caller.id):
        return None
    context, tab = shown.context, shown.context.tab
    info = _ShownInfo(
        menu_ids=shown.menu_ids.get(caller.id, []),
        contexts=context.contexts,
        view_type=context.view_type,
        media_type=context.media_type,
        frame_id=0 if context.view_type else None,
        editable=context.editable,
        bookmark_id=context.bookmark_id if "bookmarks" in caller.permissions else None,
    )
    access = tab_access(caller)
    if tab is not None and access.has_host_access(tab):
        info = msgspec.structs.replace(
            info,
            link_text=context.link_text,
            link_url=context.link_url,
            src_url=context.src_url,
            page_url=tab.url,
            selection_text=context.selection_text,
        )
    return info, None if tab is None else TabView(tab, access)


def hidden_args(caller: Caller, only: str | None) -> tuple[()] | None:
    """(), unless the menu was that of another extension's action."""
    return () if only in (None, caller.id) else None
