"""Buttons that are clicked: what happens then. Whoever does it, does it in the place of a user."""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespaces.tabs.clicked_tab import clicked_tab_view
from hatbox.api.namespaces.tabs.tab_views import TabView
from hatbox.extension_data.action_values import ActionScope, Defaults, get_value
from hatbox.store.base import Transaction
from hatbox.tabs.tab_model import Tab, tab_of

__all__ = ["ActionClicked", "click", "decode_click", "told_clicked", "topic_of"]

_CLICKED: Final = ".clicked"


class ActionClickData(msgspec.Struct, frozen=True):
    """How a button was clicked."""

    button: int = 0
    modifiers: tuple[str, ...] = ()


class ActionClicked(msgspec.Struct, frozen=True):
    """A button that was clicked."""

    extension: str
    tab: Tab
    info: ActionClickData


def click(transaction: Transaction, extension: str, kind: str, target: ActionScope, defaults: Defaults) -> str:
    """Click a button that is shown and enabled in a tab; returns the popup that it has instead of listeners, if any."""
    popup: str = get_value(transaction, extension, kind, target, "popup", defaults)
    if not popup and target.tab is not None:
        clicked = ActionClicked(extension, tab_of(target.tab), ActionClickData())
        transaction.changes.append(topic_of(kind), msgspec.json.encode(clicked))
    return popup


def topic_of(kind: str) -> str:
    """The topic of the clicks on buttons of a kind."""
    return kind + _CLICKED


decode_click = msgspec.json.Decoder(ActionClicked).decode


def told_clicked(caller: Caller, clicked: ActionClicked) -> tuple[TabView | None, ActionClickData] | None:
    """(tab, info), if it is the button of the caller."""
    return (clicked_tab_view(caller, clicked.tab), clicked.info) if clicked.extension == caller.id else None
