"""The browser context of the pages of one extension: without cookies of identities, and without a network of its own.

Playwright pauses every request of its pages, frames and workers; page_requests.py answers them. What Playwright does
not pause (WebSocket, preconnect, shared workers) is sent to a proxy that does not exist. WebRTC is removed, because it
uses no proxy. Knows neither `browser` nor windows.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from importlib.resources import files
from typing import Any, Final, Protocol
from weakref import WeakSet

from playwright.async_api import BrowserContext, Frame, Page, Request, Route
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.closing import close_context
from hatbox.engines.chromium.context_creation import create_context
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.launch import Launched
from hatbox.engines.chromium.sessions import Session, within
from hatbox.extensions.pages.page_requests import PageRequest, PageRequests
from hatbox.extensions.pages.page_urls import PageUrls
from hatbox.extensions.runtime.boot import default_navigator
from hatbox.tasks import Tasks

__all__ = ["PageContext", "PageContextDelegate", "environment_script"]

logger = logging.getLogger("hatbox.extensions")

_ENVIRONMENT: Final = files(__package__).joinpath("js/page_environment.js").read_text("utf-8").strip()
_PLACEHOLDER_HEADERS: Final = {"content-type": "text/html", "content-security-policy": "default-src 'none'"}


class PageContextDelegate(Protocol):
    """Observes the pages of a context."""

    async def page_opened(self, page: Page) -> None:
        """A script or a link has opened a page. It shows an empty document at the URL that it was opened with, because
        Playwright reports a page only after its first document. Load the URL again, or close the page."""

    def left_extension(self, page: Page, url: str) -> None:
        """A page navigates to a URL that is not of the extension. The navigation was stopped."""


class PageContext:
    """The browser context of one extension. Pages open in it load only URLs of the extension."""

    def __init__(
        self,
        context: BrowserContext,
        context_id: str,
        session: Session,
        requests: PageRequests,
        delegate: PageContextDelegate,
        reserved: socket.socket,
    ) -> None:
        self.context = context
        """The context for Playwright."""
        self.context_id = context_id
        """The browserContextId of CDP."""
        self.browser_session = session
        """The browser-level CDP session."""
        self.requests = requests
        self._delegate = delegate
        self._reserved = reserved
        self._creating = asyncio.Lock()
        self._own: WeakSet[Page] = WeakSet()  # opened by new_page()
        self._tasks = Tasks(_log_failure)

    @classmethod
    async def open(
        cls, launched: Launched, requests: PageRequests, delegate: PageContextDelegate, *, headless: bool
    ) -> PageContext:
        """Create the context in a running browser. Raises a Playwright Error."""
        navigator = default_navigator()
        reserved = socket.socket()
        reserved.bind(("127.0.0.1", 0))  # never listens: nothing else can be at this address
        options: dict[str, Any] = {
            "user_agent": navigator["userAgent"],
            "locale": navigator["language"],
            "proxy": {"server": f"http://127.0.0.1:{reserved.getsockname()[1]}"},
            "service_workers": "block",
            **({} if headless else {"no_viewport": True}),
        }
        try:
            context, context_id = await create_context(launched, options)
        except BaseException:
            reserved.close()
            raise
        opened = cls(context, context_id, launched.session, requests, delegate, reserved)
        try:
            await within(context.route("**/*", opened._on_route), "context.route()")
            await within(context.add_init_script(environment_script(opened.urls)), "context.add_init_script()")
        except BaseException:
            await opened.close()
            raise
        context.on("page", log_exceptions(opened._on_page))
        return opened

    @property
    def urls(self) -> PageUrls:
        """The URLs of the extension."""
        return self.requests.files.urls

    async def new_page(self, window: tuple[int, int] | None = None) -> Page:
        """Open a blank page, in a window of its own with this size if the browser has windows. It is not reported."""
        async with self._creating:
            if window is None:
                page = await within(self.context.new_page(), "Target.createTarget")
            else:
                params = {"url": "about:blank", "browserContextId": self.context_id, "newWindow": True}
                async with self.context.expect_page() as opened:
                    await self.browser_session.send(
                        "Target.createTarget", {**params, "width": window[0], "height": window[1]}
                    )
                page = await within(opened.value, "Target.createTarget")
            self._own.add(page)
            return page

    async def close(self) -> None:
        """Close the context with all its pages."""
        self._tasks.cancel()
        await close_context(self.context, self.context_id, self.browser_session)
        self._reserved.close()

    def abandon(self) -> None:
        """Release what belongs to this process: the browser has ended."""
        self._tasks.cancel()
        self._reserved.close()

    # -------------------------------------------------------------------------------------------------------- pages

    def _on_page(self, page: Page) -> None:
        self._tasks.spawn(self._adopt(page))

    async def _adopt(self, page: Page) -> None:
        """Report a page that a script or a link has opened."""
        async with self._creating:  # until then, a page of new_page() is not in `_own`
            pass
        if page not in self._own:
            await self._delegate.page_opened(page)

    # ----------------------------------------------------------------------------------------------------- requests

    async def _on_route(self, route: Route) -> None:
        with contextlib.suppress(PlaywrightError):  # the page was closed meanwhile
            await self._answer(route, route.request)

    async def _answer(self, route: Route, request: Request) -> None:
        if request.is_navigation_request():
            frame = _frame_of(request)
            if frame is None:
                await within(route.fulfill(status=200, headers=_PLACEHOLDER_HEADERS, body="<!doctype html>"))
                return
            if self.urls.path_of(request.url) is None:
                await within(route.abort())
                if frame.parent_frame is None:
                    self._delegate.left_extension(frame.page, request.url)
                return
        headers = list(request.headers.items())
        response = await self.requests.respond(
            PageRequest(request.url, request.method, headers, request.post_data_buffer)
        )
        if response is None:
            await within(route.abort())
        else:
            await within(route.fulfill(status=response.status, headers=dict(response.headers), body=response.body))


def environment_script(urls: PageUrls) -> str:
    """The script that runs first in every document of the context."""
    settings = {"extensionOrigin": urls.extension_origin, "origin": urls.origin}
    return f"({_ENVIRONMENT})({json.dumps(settings)});"


def _frame_of(request: Request) -> Frame | None:
    """The frame of a navigation; None if Playwright has not reported its page yet."""
    try:
        return request.frame
    except PlaywrightError:
        return None


def _log_failure(error: BaseException) -> None:
    level = logging.DEBUG if isinstance(error, PlaywrightError) else logging.ERROR
    logger.log(level, "extension pages: background task failed", exc_info=error)
