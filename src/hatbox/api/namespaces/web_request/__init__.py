"""The namespace webRequest. The events of requests are in `web_requests/`."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.web_request.web_request_listener import WebRequestListener
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.events import Event
from hatbox.schema import NamespaceSchema
from hatbox.web_requests.request_model import RequestSnapshot

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the requests of a profile."""
    return _WebRequest(schema, services)


class _WebRequest(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        requests = services.requests
        events = {
            "onBeforeRequest": requests.on_before_request,
            "onBeforeSendHeaders": requests.on_before_send_headers,
            "onSendHeaders": requests.on_send_headers,
            "onHeadersReceived": requests.on_headers_received,
            "onAuthRequired": requests.on_auth_required,
            "onBeforeRedirect": requests.on_before_redirect,
            "onResponseStarted": requests.on_response_started,
            "onCompleted": requests.on_completed,
            "onErrorOccurred": requests.on_error_occurred,
        }
        super().__init__(schema, services.store, {name: _binding(name, event) for name, event in events.items()})

    def handler_behavior_changed(self) -> asyncio.Future[Any]:
        """Do nothing: responses of listeners are not cached."""
        return self._read("handlerBehaviorChanged", lambda _: None)

    def filter_response_data(self, _: str) -> Any:
        """Raise ApiError: scripts of extensions never call it, because js/members/webRequest.js opens a port."""
        raise ApiError("webRequest.filterResponseData is only available to the scripts of an extension")


def _binding(name: str, event: Event[RequestSnapshot]) -> EventBinding:
    listener = WebRequestListener(name)
    return EventBinding(event, listener.listener_args, listener.blocking_response)
