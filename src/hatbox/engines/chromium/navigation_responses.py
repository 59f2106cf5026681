"""Responses of servers to the navigations of one browser context. Playwright reports them apart from the navigation."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import msgspec
from playwright.async_api import BrowserContext, Request, Response

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.net_errors import ABORTED

__all__ = ["NavigationResponse", "NavigationResponses"]

_MAX_CACHED_RESPONSES: Final = 64


class NavigationResponse(msgspec.Struct, frozen=True):
    """The response to a navigation request, or the net error if there is none."""

    status: int | None = None
    content_type: str = ""
    failure: str = ""


class NavigationResponses:
    """The latest response for each URL. `on_response` is called with the URL, without fragment, and the response."""

    def __init__(self, on_response: Callable[[str, NavigationResponse], None]) -> None:
        self._on_response = on_response
        self._responses: OrderedDict[str, NavigationResponse] = OrderedDict()

    def listen(self, context: BrowserContext) -> None:
        """Start caching the responses of a context."""
        context.on("response", log_exceptions(self._on_received))
        context.on("requestfailed", log_exceptions(self._on_failed))

    def get(self, url: str) -> NavigationResponse:
        """The latest response for a URL; its fragment is ignored."""
        return self._responses.get(_without_fragment(url), NavigationResponse())

    def _on_received(self, response: Response) -> None:
        if response.request.is_navigation_request():
            content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            url, received = _without_fragment(response.url), NavigationResponse(response.status, content_type)
            self._cache_response(url, received)
            self._on_response(url, received)

    def _on_failed(self, request: Request) -> None:
        failure = request.failure
        if request.is_navigation_request() and failure and failure != ABORTED:
            self._cache_response(_without_fragment(request.url), NavigationResponse(failure=failure))

    def _cache_response(self, url: str, response: NavigationResponse) -> None:
        self._responses[url] = response
        self._responses.move_to_end(url)
        if len(self._responses) > _MAX_CACHED_RESPONSES:
            self._responses.popitem(last=False)


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]
