"""Clicks on actions and page actions, on behalf of the user. Transaction functions."""

from __future__ import annotations

import msgspec

from hatbox.extension_data.action_values import ActionScope, Defaults, get_value
from hatbox.store.base import Transaction
from hatbox.tabs.tab_model import Tab, tab_of

__all__ = ["ActionClickData", "ActionClicked", "click_action", "decode_click", "topic_of"]


class ActionClickData(msgspec.Struct, frozen=True):
    """The mouse button and the modifier keys of a click."""

    button: int = 0
    modifiers: tuple[str, ...] = ()


class ActionClicked(msgspec.Struct, frozen=True):
    """Payload of onClicked."""

    extension: str
    tab: Tab
    info: ActionClickData


def click_action(transaction: Transaction, extension: str, kind: str, scope: ActionScope, defaults: Defaults) -> str:
    """Click an action; returns the URL of its popup. Without a popup, onClicked is emitted."""
    popup: str = get_value(transaction, extension, kind, scope, "popup", defaults)
    if not popup and scope.tab is not None:
        clicked = ActionClicked(extension, tab_of(transaction, scope.tab), ActionClickData())
        transaction.changes.append(topic_of(kind), msgspec.json.encode(clicked))
    return popup


def topic_of(kind: str) -> str:
    """The topic of clicks on a kind of action."""
    return f"{kind}.clicked"


decode_click = msgspec.json.Decoder(ActionClicked).decode
