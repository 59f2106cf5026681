"""Keeps the manager page out of browser contexts in which a client of an endpoint is or was connected, and clients out
of local files.

Such a client acts as every page of its context: it would use the session of the manager page, and with it all
identities. A navigation is aborted and shows no error page, which would have the URL with its token.

A navigation to a local file continues when all clients are detached from the page: their scripts for new documents end
with their sessions.

It has a session of its own, which pauses only these requests: other identities are not slower.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from typing import Any, Final

from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.fetch_commands import CONTINUE, FAIL_REQUEST
from hatbox.engines.chromium.sessions import Session
from hatbox.tasks import Tasks
from hatbox.urls.protected_pages import PROTECTED_HOST, PROTECTED_PATH, is_protected_url

__all__ = ["ManagerPageBlock"]

logger = logging.getLogger("hatbox.engines.chromium")

_FILE: Final = "file:"
_PATTERNS: Final = (
    {"urlPattern": f"http://{PROTECTED_HOST}*{PROTECTED_PATH}*", "requestStage": "Request"},
    {"urlPattern": f"{_FILE}*", "resourceType": "Document", "requestStage": "Request"},
)


class ManagerPageBlock:
    """Decides about the requests of one browser for the manager page, until the browser ends."""

    def __init__(self, session: Session, programs: EndpointPages) -> None:
        self._session = session
        self._programs = programs
        self._tasks = Tasks(_log_failure)

    @classmethod
    async def open(cls, browser: Browser, programs: EndpointPages) -> ManagerPageBlock:
        """Start. Raises Playwright's Error if Chromium does not pause requests."""
        session = await Session.of_browser(browser)
        block = cls(session, programs)
        session.on("Fetch.requestPaused", log_exceptions(block._on_paused))
        await session.send("Fetch.enable", {"patterns": [*_PATTERNS]})
        return block

    def _on_paused(self, event: dict[str, Any]) -> None:
        self._tasks.spawn(self._decide(event))

    async def _decide(self, event: Mapping[str, Any]) -> None:
        if event["request"]["url"].startswith(_FILE):
            self._programs.navigating(event["frameId"], event["request"]["url"])
            with contextlib.suppress(PlaywrightError):
                await self._session.send("Target.getTargets")  # Chromium answers it after the commands to detach
        command = FAIL_REQUEST if await self._refuses(event) else CONTINUE
        await self._session.send(command.method, {"requestId": event["requestId"], **command.params})

    async def _refuses(self, event: Mapping[str, Any]) -> bool:
        """Whether a request must not be sent. One of a frame that is no target may be of a client."""
        if not is_protected_url(event["request"]["url"]):
            return False
        try:
            infos = (await self._session.send("Target.getTargets"))["targetInfos"]
        except PlaywrightError:
            return True
        contexts = {info["targetId"]: info.get("browserContextId", "") for info in infos}
        context_id = contexts.get(event["frameId"])
        is_refused = context_id is None or self._programs.had_clients(context_id)
        if is_refused:
            logger.warning("the manager page is not loaded in an identity that is or was open for a program")
        return is_refused


def _log_failure(error: BaseException) -> None:
    level = logging.DEBUG if isinstance(error, PlaywrightError) else logging.ERROR  # the browser has ended
    logger.log(level, "a request for the manager page was not answered", exc_info=error)
