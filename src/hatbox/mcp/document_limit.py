"""Cancels requests for documents of hosts that the grant does not allow, in the pages of agents. Fails closed.

The first hop and all redirects, in all frames, also in pages that these pages open. While requests are not intercepted,
no page can be opened or read.

A grant without a limit of hosts still excludes private networks. It may use the browser of another program, where only
the requests of each page of the agent are intercepted, not the first one of a page that it opens.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from hatbox.engines.chromium.sessions import Session
from hatbox.grants.grant import Grant
from hatbox.mcp.document_addresses import DocumentAddresses
from hatbox.mcp.host_limits import may_load, refusal
from hatbox.mcp.tool_output import ToolRefused
from hatbox.profile import Profile
from hatbox.tasks import Tasks
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

    def refused(self, page: Page | None, reason: str, url: str) -> None:
        """A document of a page was refused. `reason` is empty for that of a frame."""


class DocumentLimit:
    """The limit for one browser. For a grant that allows private networks too, it does nothing."""

    def __init__(self, profile: Profile, grant: Callable[[], Grant], owners: Sequence[PageOwner]) -> None:
        self._profile = profile
        self._grant = grant
        self._owners = owners
        self._tasks = Tasks()
        self._runner: ChromiumRunner | None = None
        self._is_checked = True
        self._addresses: DocumentAddresses | None = None

    def start(self, runner: ChromiumRunner) -> None:
        """Before a browser starts. Limited hosts need a browser of this program. The hosts of a grant never change."""
        grant = self._grant()
        self._is_checked = grant.is_limited
        self._addresses = None if grant.is_limited or grant.allows_private_networks else DocumentAddresses(grant.names)
        if self._is_checked:
            self._intercept(runner)

    async def on_started(self, runner: ChromiumRunner) -> None:
        """The browser has started: limit its pages to public hosts if it is one of this program."""
        if self._addresses is not None and runner.attached_to is None:
            self._is_checked = True
            self._intercept(runner)
            if (running := runner.engine.running) is not None:
                await running.interceptor.wait_until_ready()
        self.check()

    def _intercept(self, runner: ChromiumRunner) -> None:
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
        if not self._is_checked:
            return
        running = None if self._runner is None else self._runner.engine.running
        config = None if running is None else running.interceptor.config
        if config is None or not any(_pauses_documents(each) for each in config.patterns):
            raise ToolRefused(
                "pages cannot be limited to the allowed hosts: the browser does not intercept requests. Try again in "
                "some seconds. fetch and signed_in work meanwhile."
            )

    async def add_page(self, page: Page, owner: PageOwner) -> None:
        """Limit a new page: a service worker of another host would answer a navigation before it is paused."""
        if self._addresses is not None:
            self._addresses.watch(page.context)
        if self._is_checked:
            session = await Session.of_page(page)
            await session.send("Network.enable")
            await session.send("Network.setBypassServiceWorker", {"bypass": True})
        elif self._addresses is not None:
            session = await Session.of_page(page)
            session.on("Fetch.requestPaused", partial(self._on_paused, session, page, owner))
            await session.send("Fetch.enable", {"patterns": [{"urlPattern": "http*", "resourceType": "Document"}]})

    async def check_addresses(self, page: Page) -> None:
        """Raise ToolRefused if a document of a page came from a private address. It has to be left."""
        if self._addresses is not None and (url := await self._addresses.private_url(page)):
            raise ToolRefused(refusal(self._grant(), url, is_of_page=True))

    async def check_download(self, url: str) -> None:
        """Raise ToolRefused for a download from a private or unknown address."""
        if self._addresses is not None and not await self._addresses.allows_download(url):
            raise ToolRefused(refusal(self._grant(), url, is_of_page=True))

    def on_left(self, page: Page) -> None:
        """A page was left."""
        if self._addresses is not None:
            self._addresses.forget(page)

    def _on_paused(self, session: Session, page: Page, owner: PageOwner, event: dict[str, Any]) -> None:
        """Decide about a document in the browser of another program."""
        request_id, url = event["requestId"], event["request"]["url"]
        command, params = "Fetch.failRequest", {"requestId": request_id, "errorReason": "BlockedByClient"}
        with contextlib.suppress(ToolRefused):  # the grant has ended
            if may_load(self._grant(), url):
                command, params = "Fetch.continueRequest", {"requestId": request_id}
            else:
                owner.refused(page, refusal(self._grant(), url, is_of_page=True), url)
        self._tasks.spawn(_sent(session, command, params))

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
            page = None if self._runner is None else self._runner.engine.page_of(request.place.tab_id)
            owner.refused(page, reason, request.url)
        return _BLOCKED

    async def _owner_of(self, tab_id: int) -> PageOwner | None:
        for each in list(self._owners):
            if await each.owns(tab_id):
                return each
        return None


async def _sent(session: Session, command: str, params: dict[str, Any]) -> None:
    with contextlib.suppress(PlaywrightError):  # the page was closed
        await session.send(command, params)


def _pauses_documents(pattern: dict[str, str]) -> bool:
    return (
        pattern.get("urlPattern") == "http*"
        and pattern.get("requestStage", "Request") == "Request"
        and pattern.get("resourceType", "Document") == "Document"
    )
