"""The namespace notifications. Notifications are stored in the profile (`extension_data/notifications.py`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.events import Event
from hatbox.extension_data import notifications
from hatbox.extension_data.notifications import CLICKED, CLOSED, SHOWN, NotificationEvent
from hatbox.javascript.well_formed_values import to_well_formed
from hatbox.schema import NamespaceSchema
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the notifications of a profile."""
    return _Notifications(schema, services)


class _Notifications(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        changes, decode = ChangeEvents(services.store, "notifications"), msgspec.json.Decoder(NotificationEvent).decode
        events = {
            "onShown": EventBinding(changes.event("onShown", SHOWN, decode), _id_args),
            "onClicked": EventBinding(changes.event("onClicked", CLICKED, decode), _id_args),
            "onClosed": EventBinding(changes.event("onClosed", CLOSED, decode), _closed_args),
            # Firefox has this event, and never emits it: its notifications have no buttons.
            "onButtonClicked": EventBinding(Event("notifications.onButtonClicked"), lambda *_: None),
        }
        super().__init__(schema, services.store, events)

    def create(self, caller: Caller, name: str | None, options: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._write("create", notifications.create, caller.id, to_well_formed(name), to_well_formed(options))

    def clear(self, caller: Caller, name: str) -> asyncio.Future[Any]:
        return self._write("clear", notifications.close, caller.id, to_well_formed(name))

    def get_all(self, caller: Caller) -> asyncio.Future[Any]:
        return self._read("getAll", notifications.get_all, caller.id)


def _id_args(caller: Caller, event: NotificationEvent) -> tuple[str] | None:
    """(notificationId) for the extension of the notification."""
    return (event.id,) if event.extension == caller.id else None


def _closed_args(caller: Caller, event: NotificationEvent) -> tuple[str, bool] | None:
    """(notificationId, byUser). As in Firefox, byUser is always true."""
    return (event.id, True) if event.extension == caller.id else None
