"""The namespace proxy: who chooses the proxy of a request. How requests go through one is the engine's business."""

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


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the requests of a profile."""
    requests = services.requests
    events = {
        "onRequest": EventBinding(requests.on_proxy_request, _request_args, _proxy_result),
        "onError": EventBinding(requests.on_proxy_error, _error_args),
    }
    return Namespace(surface, services.store, events)


def _request_args(
    caller: Caller, moment: RequestSnapshot, wishes: Mapping[str, Any], options: Sequence[str] | None
) -> Sequence[Any] | None:
    return (proxy_details(moment, options or ()),) if matches(caller, moment, wishes, of_any_page=True) else None


async def _proxy_result(caller: Caller, answer: Any, *_: Any) -> BlockingResponse | None:
    said = await answer if inspect.isawaitable(answer) else answer
    # JavaScript's null is an answer: no proxy at all. In Python it is what a function returns that says nothing.
    if said is UNDEFINED or (said is None and not isinstance(caller, ExtensionCaller)):
        return None
    return BlockingResponse(caller.id, [None] if said is None else without_undefined(said))


def _error_args(caller: Caller, error: tuple[str, str]) -> Sequence[Any] | None:
    who, message = error
    if who != caller.id:
        return None
    return ({"message": message, "fileName": "undefined", "lineNumber": 0, "stack": ""},)
