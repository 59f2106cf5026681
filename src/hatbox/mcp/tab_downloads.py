"""The downloads of the tabs of an agent. Those from hosts that the grant does not allow are cancelled."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from playwright.async_api import Download
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.sessions import within, without_limit
from hatbox.errors import HatboxError
from hatbox.mcp.host_limits import check_frame
from hatbox.mcp.tool_output import ToolRefused
from hatbox.tasks import Tasks

if TYPE_CHECKING:
    from hatbox.mcp.agent_session import AgentSession

__all__ = ["TabDownload", "TabDownloads"]

_MAX_DOWNLOADS: Final = 100


class TabDownload:
    """A download that a page of the agent has started."""

    def __init__(self, name: str) -> None:
        self.name = name[:300]
        self.state = "in progress"


class TabDownloads:
    """The downloads of an agent."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._listed: list[TabDownload] = []
        self._tasks = Tasks()

    def listed(self) -> list[TabDownload]:
        """The first downloads, with their states."""
        return list(self._listed)

    def add(self, download: Download) -> None:
        """A page has started a download."""
        listed = TabDownload(download.suggested_filename)
        if len(self._listed) < _MAX_DOWNLOADS:
            self._listed.append(listed)
        is_allowed = self._tasks.spawn(self._allows(download.url))
        self._session.browser.save_if(download, is_allowed)
        self._tasks.spawn(self._follow(download, listed, is_allowed))

    async def _allows(self, url: str) -> bool:
        try:  # a click with Alt starts a download without a request for a document
            check_frame(self._session.grant("pages"), url, is_main=False)
            await self._session.browser.limit.check_download(url)
        except ToolRefused:
            return False
        return True

    async def _follow(self, download: Download, listed: TabDownload, is_allowed: asyncio.Task[bool]) -> None:
        if await is_allowed:
            await _wait(download, listed)
            return
        listed.state = "refused: it is from a host that is not allowed"
        with contextlib.suppress(HatboxError):
            self._session.record("download", download.url, "refused")
        await _cancel(download)


async def _wait(download: Download, listed: TabDownload) -> None:
    try:
        failure = await without_limit(download.failure())
    except PlaywrightError:
        failure = "the page was closed"
    listed.state = "complete" if failure is None else f"failed: {failure[:200]}"


async def _cancel(download: Download) -> None:
    with contextlib.suppress(PlaywrightError):
        await within(download.cancel())
    with contextlib.suppress(PlaywrightError):
        await within(download.delete())  # it may have been complete already
