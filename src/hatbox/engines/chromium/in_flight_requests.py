"""Requests that were sent and are not finished. Follows their responses with CDP Network events."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.engines.chromium.frame_path import FramePath
from hatbox.engines.chromium.net_errors import firefox_error_name
from hatbox.engines.chromium.resource_types import SUB_FRAME
from hatbox.web_requests import RequestLifecycle

__all__ = ["InFlightRequest", "InFlightRequests", "request_key"]

_ABORTED: Final = "NS_BINDING_ABORTED"


class InFlightRequest(msgspec.Struct):
    """A request, from the first requestPaused to its end. Redirects are part of it."""

    lifecycle: RequestLifecycle
    frame: FramePath
    resource_type: str
    frame_id: str
    url: str = ""
    checked_url: str = ""
    """The URL of the last hop, if it was checked against the site rules."""
    response_started: bool = False
    remaining_bytes: int | None = None
    """Bytes of the response body still to come; None without a usable Content-Length."""
    auth_attempts: int = 0
    task: asyncio.Task[None] | None = None
    """The task that decides about the paused request."""


class InFlightRequests:
    """The in-flight requests of one session, by `request_key`."""

    def __init__(self) -> None:
        self.has_network_events = True
        """Whether the Network domain is enabled. Without it, a request ends when its frame stops loading."""
        self._requests: dict[str, InFlightRequest] = {}

    def __len__(self) -> int:
        return len(self._requests)

    def get(self, key: str) -> InFlightRequest | None:
        """The request with this key."""
        return self._requests.get(key)

    def add(self, key: str, request: InFlightRequest) -> None:
        """Follow a new request."""
        self._requests[key] = request

    def pop(self, key: str) -> InFlightRequest | None:
        """Stop following a request."""
        return self._requests.pop(key, None)

    def find_challenged(self, event: Mapping[str, Any]) -> InFlightRequest | None:
        """The request of a Fetch.authRequired event, which has no networkId: compare frame and URL."""
        frame_id, url = event["frameId"], event["request"]["url"]
        for request in self._requests.values():
            if request.frame_id == frame_id and request.url.partition("#")[0] == url:
                return request
        return None

    def abort_all(self) -> None:
        """Fail all requests."""
        for key in [*self._requests]:
            self._fail(key, _ABORTED)

    def on_target_destroyed(self, target_id: str) -> None:
        """Fail the requests of a page or worker that was closed."""
        for key, request in list(self._requests.items()):
            if request.frame.target.id == target_id:
                self._fail(key, _ABORTED)

    def on_event(self, name: str, event: dict[str, Any]) -> None:
        """Handle a CDP event of any target."""
        if name == "Network.responseReceived":
            response = event["response"]
            ip, from_cache = response.get("remoteIPAddress"), response.get("fromDiskCache", False)
            self._start_response(event["requestId"], ip, from_cache=from_cache)
        elif name == "Network.dataReceived":
            self._receive(event["requestId"], event["dataLength"])
        elif name == "Network.loadingFinished":
            self._finish(event["requestId"])
        elif name == "Network.loadingFailed":
            self._on_loading_failed(event)
        elif name == "Page.frameStoppedLoading":
            for key, request in list(self._requests.items()):
                if request.frame_id == event["frameId"] and self._is_implicitly_finished(request):
                    self._finish(key)

    def _is_implicitly_finished(self, request: InFlightRequest) -> bool:
        """Whether a request has ended without a Network event, now that its frame has stopped loading."""
        if not self.has_network_events:
            return request.task is None or request.task.done()
        return request.resource_type == SUB_FRAME and request.response_started

    def _start_response(self, key: str, ip: str | None, *, from_cache: bool) -> None:
        request = self._requests.get(key)
        if request is not None and not request.response_started:
            request.response_started = True
            request.lifecycle.response_started(ip.strip("[]") if ip else None, from_cache=from_cache)

    def _receive(self, key: str, size: int) -> None:
        """Finish a request with its last byte: Chromium sends loadingFinished only after a script has read the body."""
        request = self._requests.get(key)
        if request is not None and request.remaining_bytes is not None:
            request.remaining_bytes -= size
            if request.remaining_bytes <= 0:
                self._finish(key)

    def _finish(self, key: str) -> None:
        self._start_response(key, None, from_cache=False)
        if request := self._requests.pop(key, None):
            request.lifecycle.completed()

    def _on_loading_failed(self, event: dict[str, Any]) -> None:
        if request := self._requests.get(event["requestId"]):
            error = _ABORTED if event.get("canceled") else firefox_error_name(event["errorText"], request.url)
            self._fail(event["requestId"], error)

    def _fail(self, key: str, error: str) -> None:
        if request := self._requests.pop(key, None):
            if request.task is not None:
                request.task.cancel()  # call no more listeners
            request.lifecycle.failed(error)


def request_key(event: Mapping[str, Any]) -> str:
    """The id of a request that stays the same over redirects."""
    return str(event.get("networkId") or event["requestId"])
