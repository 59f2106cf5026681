"""Documents whose host has an address of this machine or of a private network. Chromium resolves the names.

A connection is direct if it has the port of the URL. A proxy resolves names in its own network, and its own address may
be a private one. Without an address, nothing was connected: a service worker has answered, or Hatbox. Requests of a
public page to private addresses, in frames too, are denied by Chromium itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary, WeakSet

from playwright.async_api import BrowserContext, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.sessions import within
from hatbox.tasks import Tasks
from hatbox.urls.hosts import is_private_address

__all__ = ["DocumentAddresses"]

_PORTS: Final = {"http": 80, "https": 443}
_MAX_UNKNOWN: Final = 100
_MAX_HOSTS: Final = 1000


class DocumentAddresses:
    """The documents of some browser contexts. `is_named` says whether a host and port may have any address."""

    def __init__(self, is_named: Callable[[str, int], bool]) -> None:
        self._is_named = is_named
        self._contexts: WeakSet[BrowserContext] = WeakSet()
        self._pending: dict[asyncio.Task[None], Request] = {}
        self._public: dict[tuple[str, int], bool] = {}  # whether all addresses of a host and port were public
        self._unknown: list[Request] = []  # private, of pages that Playwright has not reported yet
        self._private: WeakKeyDictionary[Page, str] = WeakKeyDictionary()
        self._tasks = Tasks()

    def watch(self, context: BrowserContext) -> None:
        """Observe the documents of a context, also of pages that are not open yet. May be called again."""
        if context not in self._contexts:
            self._contexts.add(context)
            context.on("response", self._on_response)

    async def private_url(self, page: Page) -> str:
        """The URL of a document of a page that came from a private address; empty without one."""
        await self._wait(lambda request: _page_of(request) in (page, None))
        unknown, self._unknown = self._unknown, []
        for request in unknown:
            self._add(request)
        return self._private.get(page, "")

    async def allows_download(self, url: str) -> bool:
        """Whether a download may come from the address of its host. Unknown is refused.

        Chromium reports no address for a link with `download`; its host is that of the page.
        """
        host, port = authority = _authority(url)
        if not host or self._is_named(host, port):
            return True
        await self._wait(lambda request: _authority(request.url) == authority)
        return self._public.get(authority, False)

    async def _wait(self, is_awaited: Callable[[Request], bool]) -> None:
        if tasks := [task for task, request in self._pending.items() if is_awaited(request)]:
            await asyncio.wait(tasks)

    def forget(self, page: Page) -> None:
        """A page shows another document now."""
        self._private.pop(page, None)

    def _on_response(self, response: Response) -> None:
        # Playwright reports the response before the document is shown, so a later read finds it here.
        if not response.request.is_navigation_request():
            return
        host, port = _authority(response.url)
        if host and not self._is_named(host, port):
            task = self._tasks.spawn(self._check(response, host, port))
            self._pending[task] = response.request
            task.add_done_callback(self._pending.pop)

    async def _check(self, response: Response, host: str, port: int) -> None:
        try:
            address = await within(response.server_addr(), "Response.server_addr")
        except PlaywrightError:  # of a closed page, or unknown
            self._add(response.request)
            return
        if not address:
            return
        is_public = address["port"] != port or not is_private_address(address["ipAddress"].strip("[]"))
        if len(self._public) >= _MAX_HOSTS and (host, port) not in self._public:
            del self._public[next(iter(self._public))]
        self._public[host, port] = is_public and self._public.get((host, port), True)
        if not is_public:
            self._add(response.request)

    def _add(self, request: Request) -> None:
        page = _page_of(request)
        if page is None:
            self._unknown = [*self._unknown[1 - _MAX_UNKNOWN :], request]
        elif not page.is_closed():
            self._private[page] = request.url


def _page_of(request: Request) -> Page | None:
    """None while Playwright has not reported the page."""
    try:
        return request.frame.page
    except PlaywrightError:
        return None


def _authority(url: str) -> tuple[str, int]:
    """Host and port of a URL that Chromium has serialized; empty for URLs without a connection."""
    parts = urlsplit(url)
    return (parts.hostname or "", parts.port or _PORTS[parts.scheme]) if parts.scheme in _PORTS else ("", 0)
