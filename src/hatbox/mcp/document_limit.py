"""Cancels requests for documents of hosts that the grant does not allow, in the pages of agents. Fails closed.

The first hop and all redirects, in all frames, also in pages that these pages open. While requests are not intercepted,
no page can be opened or read.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from playwright.async_api import Page

from hatbox.engines.chromium.sessions import Session
from hatbox.grants.grant import Grant
from hatbox.mcp.host_limits import may_load, refusal
from hatbox.mcp.tool_output import ToolRefused
from hatbox.profile import Profile
from hatbox.web_requests.request_model import BlockingResponse, RequestSnapshot

if TYPE_CHECKING:
    from hatbox.engines.chromium.chromium_runner import ChromiumRunner

__all__ = ["DocumentLimit", "PageOwner"]

_DOCUMENTS: Final = ("main_frame", "sub_frame")
_BLOCKED: Final = BlockingResponse("hatbox-mcp", {"cancel": True})
_SECONDS: Final = 5.0  # less than the engine waits for a listener


class PageOwner(Protocol):
    """An agent."""

    async def owns(self, tab_id: int) -> bool:
        """Whether a tab was opened by this agent, or by a page of it. An unknown tab counts as such."""

    def refused(self, tab_id: int, reason: str, url: str) -> None:
        """A document of a page was refused."""


class DocumentLimit:
    """The limit for one browser. Without hosts in the grant, it does nothing."""

    def __init__(self, profile: Profile, grant: Callable[[], Grant], owners: Sequence[PageOwner]) -> None:
        self._profile = profile
        self._grant = grant
        self._owners = owners
        self._runner: ChromiumRunner | None = None
        self._is_limited = True

    def start(self, runner: ChromiumRunner) -> None:
        """Limit the pages of a browser that starts next. The hosts of a grant never change."""
        self._is_limited = self._grant().hosts is not None
        if self._is_limited:
            self._runner = runner
            requests = self._profile.web_requests
            requests.fails_closed = True
            requests.on_before_request.add_listener(self._on_request, ({"types": list(_DOCUMENTS)}, ["blocking"]))

    def stop(self) -> None:
        """The browser has stopped."""
        if self._runner is not None:
            self._runner = None
            requests = self._profile.web_requests
            requests.on_before_request.remove_listener(self._on_request)
            requests.fails_closed = False

    def check(self) -> None:
        """Raise ToolRefused while Chromium does not pause requests for documents."""
        if not self._is_limited:
            return
        running = None if self._runner is None else self._runner.engine.running
        config = None if running is None else running.interceptor.config
        if config is None or not any(_pauses_documents(each) for each in config.patterns):
            raise ToolRefused(
                "pages cannot be limited to the allowed hosts: the browser does not intercept requests. Try again in "
                "some seconds. fetch and signed_in work meanwhile."
            )

    async def add_page(self, page: Page) -> None:
        """Limit a new page: a service worker of another host would answer a navigation before it is paused."""
        if self._is_limited:
            session = await Session.of_page(page)
            await session.send("Network.enable")
            await session.send("Network.setBypassServiceWorker", {"bypass": True})

    async def _on_request(self, request: RequestSnapshot) -> BlockingResponse | None:
        """The decision about a request. A listener that raises, or takes too long, would allow it."""
        try:
            async with asyncio.timeout(_SECONDS):
                if request.place.is_for_person or request.type not in _DOCUMENTS:
                    return None
                if may_load(self._grant(), request.url):
                    return None
                owner = await self._owner_of(request.place.tab_id)
        except Exception:  # noqa: BLE001 - unknown is refused
            return _BLOCKED
        if owner is None:
            return None
        with contextlib.suppress(Exception):  # the grant has ended meanwhile
            reason = refusal(self._grant(), request.url, is_of_page=True) if request.type == "main_frame" else ""
            owner.refused(request.place.tab_id, reason, request.url)
        return _BLOCKED

    async def _owner_of(self, tab_id: int) -> PageOwner | None:
        for each in list(self._owners):
            if await each.owns(tab_id):
                return each
        return None


def _pauses_documents(pattern: dict[str, str]) -> bool:
    return (
        pattern.get("urlPattern") == "http*"
        and pattern.get("requestStage", "Request") == "Request"
        and pattern.get("resourceType", "Document") == "Document"
    )
