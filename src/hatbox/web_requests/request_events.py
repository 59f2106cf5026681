"""The webRequest and proxy events of one process."""

from __future__ import annotations

import itertools
import time as clock
from collections.abc import Callable, Sequence
from typing import Final
from weakref import WeakValueDictionary

from hatbox.events import Event, ResponseEvent
from hatbox.web_requests.request_lifecycle import RequestLifecycle
from hatbox.web_requests.request_model import RequestFrame, RequestSnapshot

__all__ = ["RequestEvents"]

_BLOCKING_TIMEOUT: Final = 10.0


class RequestEvents:
    """The events of requests made by the engines of one profile.

    Listeners of ResponseEvents return a BlockingResponse or None. After `blocking_timeout` seconds, None is assumed.
    """

    def __init__(self, time: Callable[[], float] = clock.time, blocking_timeout: float = _BLOCKING_TIMEOUT) -> None:
        self.time = time
        self.blocking_timeout = blocking_timeout
        self.fails_closed = False
        """Whether a request for a document fails if listeners cannot be called for it, because its frame is unknown."""
        self._ids = itertools.count(1)
        self._open: WeakValueDictionary[str, RequestLifecycle] = WeakValueDictionary()
        self.on_listeners_changed: Event[None] = Event("requests.onListenersChanged")
        """Emitted when a listener is added or removed."""
        self.on_proxy_request: ResponseEvent[RequestSnapshot] = self._response_event("proxy.onRequest")
        self.on_proxy_error: Event[tuple[str, str]] = Event("proxy.onError")
        """Emitted with an extension id and the error in its proxy.onRequest result."""
        self.on_before_request: ResponseEvent[RequestSnapshot] = self._response_event("webRequest.onBeforeRequest")
        self.on_before_send_headers: ResponseEvent[RequestSnapshot] = self._response_event(
            "webRequest.onBeforeSendHeaders"
        )
        self.on_send_headers: Event[RequestSnapshot] = self._event("webRequest.onSendHeaders")
        self.on_headers_received: ResponseEvent[RequestSnapshot] = self._response_event("webRequest.onHeadersReceived")
        self.on_auth_required: ResponseEvent[RequestSnapshot] = self._response_event("webRequest.onAuthRequired")
        self.on_before_redirect: Event[RequestSnapshot] = self._event("webRequest.onBeforeRedirect")
        self.on_response_started: Event[RequestSnapshot] = self._event("webRequest.onResponseStarted")
        self.on_completed: Event[RequestSnapshot] = self._event("webRequest.onCompleted")
        self.on_error_occurred: Event[RequestSnapshot] = self._event("webRequest.onErrorOccurred")

    @property
    def has_listeners(self) -> bool:
        """Whether a webRequest listener is registered. proxy.onRequest does not count."""
        return any(self._all())

    @property
    def listened_types(self) -> set[str] | None:
        """The resource types in the filters of listeners; None for all."""
        types: set[str] = set()
        for event in self._all():
            for options in event.listener_options:
                wanted = options[0]["types"] if options else None  # a RequestFilter and extraInfoSpec
                if wanted is None:
                    return None
                types.update(wanted)
        return types

    @property
    def has_response_listeners(self) -> bool:
        """Whether a listener for responses is registered."""
        return any((self.on_headers_received, self.on_before_redirect, self.on_response_started, self.on_completed))

    def _all(self) -> Sequence[Event[RequestSnapshot]]:
        return (
            self.on_before_request,
            self.on_before_send_headers,
            self.on_send_headers,
            self.on_headers_received,
            self.on_auth_required,
            self.on_before_redirect,
            self.on_response_started,
            self.on_completed,
            self.on_error_occurred,
        )

    def start_request(
        self,
        place: RequestFrame,
        url: str,
        kind: str = "main_frame",
        document_url: str | None = None,
        origin_url: str | None = None,
    ) -> RequestLifecycle:
        """Start the lifecycle of a request."""
        first = RequestSnapshot(
            request_id=str(next(self._ids)),
            place=place,
            time=0.0,
            url=url,
            method="GET",
            type=kind,
            document_url=document_url,
            origin_url=origin_url,
        )
        lifecycle = self._open[first.request_id] = RequestLifecycle(self, first)
        return lifecycle

    def open_request(self, request_id: str) -> RequestLifecycle | None:
        """The request with this id, if it has started and not finished."""
        found = self._open.get(request_id)
        return found if found is not None and found.is_open else None

    def _response_event(self, name: str) -> ResponseEvent[RequestSnapshot]:
        return ResponseEvent(name, on_listeners_changed=self._listeners_changed)

    def _event(self, name: str) -> Event[RequestSnapshot]:
        return Event(name, on_listeners_changed=self._listeners_changed)

    def _listeners_changed(self) -> None:
        self.on_listeners_changed.emit(None)
