"""The namespace notifications: those that are open. Nobody sees them, but they can be listed, clicked and closed.

The rules are functions of a transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.tabs.clicked_tab import to_well_formed
from hatbox.api.services import Services
from hatbox.events import Event
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents

__all__ = ["KINDS", "click", "close", "get_all", "implement"]

_KIND: Final = "notification"
_COUNT: Final = "notification.count"
KINDS: Final = (_KIND, _COUNT)
"""What is forgotten when the extension ends."""

_SHOWN, _CLICKED, _CLOSED = "notifications.shown", "notifications.clicked", "notifications.closed"


class _Notification(msgspec.Struct, frozen=True):
    extension: str
    id: str


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the notifications of a profile."""
    return _Notifications(surface, services)


class _Notifications(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        feed, decode = ChangeEvents(services.store, "notifications"), msgspec.json.Decoder(_Notification).decode
        events = {
            "onShown": EventBinding(feed.event("onShown", _SHOWN, decode), _told),
            "onClicked": EventBinding(feed.event("onClicked", _CLICKED, decode), _told),
            "onClosed": EventBinding(feed.event("onClosed", _CLOSED, decode), _told_closed),
            # Firefox has the event and no buttons.
            "onButtonClicked": EventBinding(Event("notifications.onButtonClicked"), lambda *_: None),
        }
        super().__init__(surface, services.store, events)

    def create(self, caller: Caller, name: str | None, options: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._write("create", _create, caller.id, to_well_formed(name), to_well_formed(options))

    def clear(self, caller: Caller, name: str) -> asyncio.Future[Any]:
        return self._write("clear", close, caller.id, to_well_formed(name))

    def get_all(self, caller: Caller) -> asyncio.Future[Any]:
        return self._read("getAll", get_all, caller.id)


def get_all(transaction: Transaction, extension: str) -> dict[str, Any]:
    """The options of all that are open, by their ids."""
    found = transaction.extensions.find(_KIND, extension)
    return {key: msgspec.json.decode(value) for _, key, value in found}


def click(transaction: Transaction, extension: str, name: str) -> None:
    """One that is open is clicked, in the place of a user, and thereby closed."""
    transaction.changes.append(_CLICKED, _encode(_Notification(extension, name)))
    close(transaction, extension, name)


def close(transaction: Transaction, extension: str, name: str) -> bool:
    """Close one; returns whether it was open."""
    if transaction.extensions.get(extension, _KIND, name) is None:
        return False
    transaction.extensions.delete(extension, _KIND, name)
    transaction.changes.append(_CLOSED, _encode(_Notification(extension, name)))
    return True


def _create(transaction: Transaction, extension: str, name: str | None, options: Mapping[str, Any]) -> str:
    name = name or _next(transaction, extension)
    close(transaction, extension, name)
    transaction.extensions.put(extension, _KIND, name, _encode(options))
    transaction.changes.append(_SHOWN, _encode(_Notification(extension, name)))
    return name


def _next(transaction: Transaction, extension: str) -> str:
    """The id of one that has none: they are counted from 0."""
    count = transaction.extensions.get(extension, _COUNT, "") or b"0"
    transaction.extensions.put(extension, _COUNT, "", b"%d" % (int(count) + 1))
    return str(int(count))


def _told(caller: Caller, notification: _Notification) -> tuple[str] | None:
    """(notificationId), if it is one of the caller's."""
    return (notification.id,) if notification.extension == caller.id else None


def _told_closed(caller: Caller, notification: _Notification) -> tuple[str, bool] | None:
    """(notificationId, byUser); Firefox says that it was the user, whoever it was."""
    return (notification.id, True) if notification.extension == caller.id else None


_encode = msgspec.json.Encoder().encode
