"""The ports of scripts. No script sees this namespace: members/runtime.js makes ports of it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.messaging.context import ExtensionContext, Recipient
from hatbox.messaging.message_event import Delivery
from hatbox.messaging.message_router import PortDelivery
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the ports of the extensions that run here."""
    return _Ports(surface, services)


class _Ports(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        self._messages = services.messages
        events = {
            "onNews": EventBinding(self._messages.on_port_delivery, _told),
            "onLull": EventBinding(self._messages.on_port_sync, _asked),
        }
        super().__init__(surface, services.store, events)

    def open(
        self,
        caller: ExtensionCaller,
        number: int,
        name: str,
        extension_id: str | None,
        tab_id: int | None,
        frame_id: int | None,
        document_id: str | None,
    ) -> None:
        address = Recipient(extension_id or caller.extension_id, tab_id, frame_id, document_id)
        self._messages.connect(caller.context, address, name, number)

    def post(self, caller: ExtensionCaller, number: int, message: Any) -> Awaitable[Any] | None:
        port = caller.context.ports.get(number)
        return None if port is None else port.post(message)  # it was closed while the message was on its way

    def close(self, caller: ExtensionCaller, number: int) -> None:
        if port := caller.context.ports.get(number):
            port.disconnect()


def _told(caller: ExtensionCaller, news: PortDelivery) -> tuple[int, str, Any] | None:
    """(number, kind, detail)"""
    return (news.number, news.kind, news.detail) if caller.context is news.context else None


def _asked(caller: ExtensionCaller, offer: Delivery[ExtensionContext]) -> tuple[Any] | None:
    """Nothing but what no script gets: a function to answer with"""
    if caller.context is not offer.content:
        return None
    offer.accepted_by = offer.content
    return (offer.respond,)
