"""The hidden namespace ports, on which extensions/runtime/js/ports.js builds runtime.Port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Final

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.web_request.request_filter import may_observe
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.messaging.context import ExtensionContext, Recipient
from hatbox.messaging.filter_port import connect_filter
from hatbox.messaging.message_event import Delivery
from hatbox.messaging.message_router import PortDelivery
from hatbox.schema import NamespaceSchema
from hatbox.web_requests.response_filter import ResponseFilter

__all__ = ["implement"]

_VERSION_3: Final = 3
_FILTER_PERMISSION: Final = "webRequestFilterResponse"


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the ports of the extensions that run in this process."""
    return _Ports(schema, services)


class _Ports(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        self._messages = services.messages
        self._requests = services.requests
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
        # The call is pending until the application has ended: as in Firefox, an event page is not suspended until then.
        _, ended = self._messages.connect_native(caller.context, application, number)
        return asyncio.shield(ended)

    def open_filter(self, caller: ExtensionCaller, number: int, request_id: str) -> None:
        # Also hidden behind webRequest.filterResponseData(), which does not exist without the permissions.
        if caller.manifest.get("manifest_version") == _VERSION_3 and _FILTER_PERMISSION not in caller.permissions:
            raise ApiError(f'Missing required "{_FILTER_PERMISSION}" permission')
        channel = self._messages.open_channel(caller.context, "", number)
        connect_filter(
            channel,
            caller.context,
            lambda found: self._attach(caller, request_id, found),
            self._requests.blocking_timeout,
        )

    def _attach(self, caller: ExtensionCaller, request_id: str, response_filter: ResponseFilter) -> bool:
        """Attach a filter to a request that the caller could observe."""
        request = self._requests.open_request(request_id)
        return request is not None and may_observe(caller, request.snapshot) and request.add_filter(response_filter)

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
