"""The requests of a background page: paused by the Fetch domain of its session, and answered by PageRequests."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
from typing import Any, Final
from urllib.parse import quote

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.hidden_target import HiddenTarget
from hatbox.extensions.package.background import GENERATED_PAGE, Background, Script
from hatbox.extensions.pages.page_files import PageResponse
from hatbox.extensions.pages.page_requests import PageRequest, PageRequests
from hatbox.tasks import Tasks

__all__ = ["BackgroundRequests"]

logger = logging.getLogger("hatbox.extensions")

_MAX_CONCURRENT: Final = 16
_PAUSE: Final = 0.02  # seconds before the slot of an answered request is used again: limits the rate of a flood
# Neither popups nor dialogs: a hidden page with one of them would wait for ever.
_SANDBOX: Final = ("content-security-policy", "sandbox allow-scripts allow-same-origin allow-forms")


class BackgroundRequests:
    """Answers the requests of one hidden document. Its main frame loads only the background page."""

    def __init__(self, target: HiddenTarget, requests: PageRequests, background: Background) -> None:
        self.failed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Done with the reason if the navigation failed."""
        self._target = target
        self._requests = requests
        self._background = background
        self._page = ""
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT)
        self._tasks = Tasks(_log_failure)
        target.on("Fetch.requestPaused", self._on_paused)

    async def start(self) -> None:
        """Pause all requests from now on."""
        await self._target.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    def navigate(self, url: str) -> None:
        """Load the background page."""
        self._page = url
        self._tasks.spawn(self._navigate(url))

    def stop(self) -> None:
        """Stop answering requests."""
        self._tasks.cancel()

    def _on_paused(self, event: dict[str, Any]) -> None:
        self._tasks.spawn(self._answer(event))

    async def _navigate(self, url: str) -> None:
        try:
            result = await self._target.send("Page.navigate", {"url": url})
        except PlaywrightError as error:
            result = {"errorText": error.message}
        if (problem := result.get("errorText")) and not self.failed.done():
            self.failed.set_result(problem)

    async def _answer(self, event: dict[str, Any]) -> None:
        async with self._slots:
            await self._answer_now(event)
            await asyncio.sleep(_PAUSE)

    async def _answer_now(self, event: dict[str, Any]) -> None:
        request = event["request"]
        response = None
        if event["resourceType"] != "Document" or self._may_load(event):
            response = await self._response(request)
        with contextlib.suppress(PlaywrightError):  # the document was closed meanwhile
            if response is None:
                # Aborted, not failed: a failed navigation would replace the document by an error page.
                await self._target.send(
                    "Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "Aborted"}
                )
                return
            headers = [{"name": name, "value": value} for name, value in response.headers]
            body = base64.b64encode(response.body).decode("ascii")
            fulfilled = {"responseCode": response.status, "responseHeaders": headers, "body": body}
            await self._target.send("Fetch.fulfillRequest", {"requestId": event["requestId"], **fulfilled})

    def _may_load(self, event: dict[str, Any]) -> bool:
        """Whether a frame may load a document: frames of other origins could use WebRTC."""
        url = event["request"]["url"]
        return url == self._page if event["frameId"] == self._target.id else self._is_own(url)

    def _is_own(self, url: str) -> bool:
        return self._requests.files.urls.path_of(url) is not None

    async def _response(self, request: dict[str, Any]) -> PageResponse | None:
        url: str = request["url"]
        headers = list(request["headers"].items())
        entries = request.get("postDataEntries", ())
        body = b"".join(base64.b64decode(each.get("bytes", "")) for each in entries) if entries else None
        if url != self._page:
            return await self._requests.respond(PageRequest(url, request["method"], headers, body))
        response = await self._requests.respond(PageRequest(url, "GET", headers, None))
        return self._document(response)

    def _document(self, response: PageResponse | None) -> PageResponse:
        """The background page. As in Firefox, one that does not exist is empty."""
        if response is None:
            response = self._requests.files.document(self._generated_html())
        return response._replace(headers=[*response.headers, _SANDBOX])

    def _generated_html(self) -> bytes:
        """The page that Firefox generates for background scripts."""
        if self._background.page != GENERATED_PAGE:
            return b"<!DOCTYPE html>\n"
        scripts = "".join(map(_script_element, self._background.scripts))
        return f'<!DOCTYPE html>\n<meta charset="utf-8">\n<body>\n{scripts}</body>\n'.encode()


def _script_element(script: Script) -> str:
    kind = ' type="module"' if script.module else ""
    return f'<script{kind} src="/{quote(script.file)}"></script>\n'


def _log_failure(error: BaseException) -> None:
    level = logging.DEBUG if isinstance(error, PlaywrightError) else logging.ERROR
    logger.log(level, "background page: answering a request failed", exc_info=error)
