"""The hidden namespace ports, on which extensions/runtime/js/ports.js builds runtime.Port."""

from __future__ import annotations

import asyncio
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


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the ports of the extensions that run in this process."""
    return _Ports(schema, services)


class _Ports(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        self._messages = services.messages
        events = {
            "onDelivery": EventBinding(self._messages.on_port_delivery, _delivery_args),
            "onSync": EventBinding(self._messages.on_port_sync, _sync_args),
        }
        super().__init__(schema, services.store, events)

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
        recipient = Recipient(extension_id or caller.extension_id, tab_id, frame_id, document_id)
        self._messages.connect(caller.context, recipient, name, number)

    def open_native(self, caller: ExtensionCaller, number: int, application: str) -> asyncio.Future[None]:
        # The call is pending until the application has ended: as in Firefox, an event page is not suspended before.
        _, ended = self._messages.connect_native(caller.context, application, number)
        return asyncio.shield(ended)

    def post(self, caller: ExtensionCaller, number: int, message: Any) -> Awaitable[Any] | None:
        port = caller.context.ports.get(number)
        return None if port is None else port.post(message)  # None: closed while the message was in transit

    def close(self, caller: ExtensionCaller, number: int) -> None:
        if port := caller.context.ports.get(number):
            port.disconnect()


def _delivery_args(caller: ExtensionCaller, delivery: PortDelivery) -> tuple[int, str, Any] | None:
    """(number, kind, detail)"""
    return (delivery.number, delivery.kind, delivery.detail) if caller.context is delivery.context else None


def _sync_args(caller: ExtensionCaller, delivery: Delivery[ExtensionContext]) -> tuple[Any] | None:
    """(done)"""
    if caller.context is not delivery.content:
        return None
    delivery.accepted_by = delivery.content
    return (delivery.respond,)
