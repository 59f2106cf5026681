"""Documents whose host has an address of this machine or of a private network. Chromium resolves the names.

A connection is direct if it has the port of the URL. A proxy resolves names in its own network, and its own address may
be a private one. Requests of a public page to private addresses, in frames too, are denied by Chromium itself.
"""

from __future__ import annotations

import asyncio
import contextlib
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


class DocumentAddresses:
    """The documents of some browser contexts. `is_named` says whether a host and port may have any address."""

    def __init__(self, is_named: Callable[[str, int], bool]) -> None:
        self._is_named = is_named
        self._contexts: WeakSet[BrowserContext] = WeakSet()
        self._pending: set[asyncio.Task[None]] = set()
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
        if self._pending:
            await asyncio.wait(set(self._pending))
        unknown, self._unknown = self._unknown, []
        for request in unknown:
            self._add(request)
        return self._private.get(page, "")

    def forget(self, page: Page) -> None:
        """A page shows another document now."""
        self._private.pop(page, None)

    def _on_response(self, response: Response) -> None:
        # Playwright reports the response before the document is shown, so a later read finds it here.
        if not response.request.is_navigation_request():
            return
        host, port = _authority(response.url)
        if host and not self._is_named(host, port):
            task = self._tasks.spawn(self._check(response, port))
            self._pending.add(task)
            task.add_done_callback(self._pending.discard)

    async def _check(self, response: Response, port: int) -> None:
        with contextlib.suppress(PlaywrightError):  # the page was closed
            address = await within(response.server_addr(), "Response.server_addr")
            if address and address["port"] == port and is_private_address(address["ipAddress"].strip("[]")):
                self._add(response.request)

    def _add(self, request: Request) -> None:
        try:
            self._private[request.frame.page] = request.url
        except PlaywrightError:
            self._unknown = [*self._unknown[1 - _MAX_UNKNOWN :], request]


def _authority(url: str) -> tuple[str, int]:
    """Host and port of a URL that Chromium has serialized; empty for URLs without a connection."""
    parts = urlsplit(url)
    return (parts.hostname or "", parts.port or _PORTS[parts.scheme]) if parts.scheme in _PORTS else ("", 0)
