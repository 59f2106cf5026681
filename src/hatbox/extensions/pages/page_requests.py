"""Answers every request of extension pages: with files of the package, or from the network by host permissions.

Chromium itself sends nothing. Independent of how a request is intercepted: Playwright or CDP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from hatbox.errors import HatboxError
from hatbox.extensions.pages.page_files import PageFiles, PageResponse
from hatbox.extensions.pages.page_urls import ICON_BASE
from hatbox.extensions.runtime.host import FetchRequest, FetchResponse

__all__ = ["PageRequest", "PageRequests"]

_WEB: Final = ("http://", "https://")
_PREFLIGHT: Final = "access-control-request-method"
_MAX_CONCURRENT: Final = 32
# Set by Chromium for the document of the page, and wrong for a request of the host.
_REPLACED_HEADERS: Final = ("origin", "referer", "user-agent", "host")
_CONTROL_HEADERS: Final = ("access-control-", "content-security-policy", "cross-origin-", "clear-site-data")


class PageRequest(NamedTuple):
    """A request of an extension page."""

    url: str
    method: str = "GET"
    headers: Sequence[tuple[str, str]] = ()
    body: bytes | None = None


class PageRequests:
    """The requests of the pages of one extension. `fetch` checks permissions, and raises NetworkError."""

    def __init__(
        self,
        files: PageFiles,
        fetch: Callable[[FetchRequest], Awaitable[FetchResponse]],
        user_agent: str,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.files = files
        self._fetch = fetch
        self._user_agent = user_agent
        self._warn = warn
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT)

    async def respond(self, request: PageRequest) -> PageResponse | None:
        """The response; None if the request must fail."""
        if self.files.urls.path_of(request.url) is not None or request.url.startswith(ICON_BASE):
            return await self._package_response(request)
        if not request.url.startswith(_WEB):
            return None
        if request.method == "OPTIONS" and any(name.lower() == _PREFLIGHT for name, _ in request.headers):
            return PageResponse(204, self._cors_headers(request), b"")
        async with self._slots:
            return await self._network_response(request)

    async def _package_response(self, request: PageRequest) -> PageResponse | None:
        try:
            found = await asyncio.to_thread(self.files.response, request.url)
        except (HatboxError, OSError) as error:
            self._warn(f"{self.files.urls.extension_url(request.url)[:200]}: {error}")
            return None
        if found is None:
            return None
        return found._replace(headers=[*found.headers, *self._cors_headers(request)])

    async def _network_response(self, request: PageRequest) -> PageResponse | None:
        headers = [(name, value) for name, value in request.headers if name.lower() not in _REPLACED_HEADERS]
        headers.append(("User-Agent", self._user_agent))
        try:
            found = await self._fetch(FetchRequest(request.url, request.method, headers, "follow", request.body))
        except HatboxError as error:
            self._warn(f"{request.url[:200]}: {error}")
            return None
        allowed = [(name, value) for name, value in found.headers if not name.lower().startswith(_CONTROL_HEADERS)]
        exposed = ", ".join({name.lower() for name, _ in allowed})
        cors = [*self._cors_headers(request), ("access-control-expose-headers", exposed)]
        return PageResponse(found.status, [*allowed, *cors], found.body)

    def _cors_headers(self, request: PageRequest) -> list[tuple[str, str]]:
        """Let pages of the extension read the response: Firefox does not apply CORS where they have a permission."""
        requested = {name.lower(): value for name, value in request.headers}
        return [
            ("access-control-allow-origin", self.files.urls.origin),
            ("access-control-allow-credentials", "true"),
            ("access-control-allow-methods", requested.get(_PREFLIGHT, request.method)),
            ("access-control-allow-headers", requested.get("access-control-request-headers", "")),
            ("vary", "origin"),
        ]
