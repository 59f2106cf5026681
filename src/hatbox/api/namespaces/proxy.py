"""The namespace proxy: listeners that choose the proxy of a request. The engines connect to it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from hatbox.api.caller import Caller, ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.web_request.request_details import proxy_details
from hatbox.api.namespaces.web_request.request_filter import matches
from hatbox.api.services import Services
from hatbox.javascript.wire_codec import UNDEFINED, without_undefined
from hatbox.schema import NamespaceSchema
from hatbox.web_requests.request_model import BlockingResponse, RequestSnapshot

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the requests of a profile."""
    requests = services.requests
    events = {
        "onRequest": EventBinding(requests.on_proxy_request, _request_args, _proxy_result),
        "onError": EventBinding(requests.on_proxy_error, _error_args),
    }
    return Namespace(schema, services.store, events)


def _request_args(
    caller: Caller, snapshot: RequestSnapshot, filter_: Mapping[str, Any], options: Sequence[str] | None
) -> Sequence[Any] | None:
    return (proxy_details(snapshot, options or ()),) if matches(caller, snapshot, filter_, of_any_page=True) else None


async def _proxy_result(caller: Caller, result: Any, *_: Any) -> BlockingResponse | None:
    value = await result if inspect.isawaitable(result) else result
    # null from JavaScript means no proxy. A Python function returns None if it does not choose.
    if value is UNDEFINED or (value is None and not isinstance(caller, ExtensionCaller)):
        return None
    return BlockingResponse(caller.id, [None] if value is None else without_undefined(value))


def _error_args(caller: Caller, error: tuple[str, str]) -> Sequence[Any] | None:
    extension_id, message = error
    if extension_id != caller.id:
        return None
    return ({"message": message, "fileName": "undefined", "lineNumber": 0, "stack": ""},)
