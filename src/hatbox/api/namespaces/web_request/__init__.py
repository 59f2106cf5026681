"""The namespace webRequest. What happens to requests is in hatbox.web_requests; here is who may hear of it, and how."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.web_request.web_request_listener import WebRequestListener
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the requests of a profile."""
    return _WebRequest(surface, services)


class _WebRequest(Namespace):
    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
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
        heard = {name: WebRequestListener(name) for name in events}
        sources = {
            name: EventBinding(event, heard[name].listener_args, heard[name].blocking_response)
            for name, event in events.items()
        }
        super().__init__(surface, services.store, sources)

    def handler_behavior_changed(self) -> asyncio.Future[Any]:
        """What listeners have answered is not kept, so it cannot be older than what they say now."""
        return self._read("handlerBehaviorChanged", lambda _: None)
