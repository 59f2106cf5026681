"""Stops pages that request files of extensions in a loop: each request is an event that this process must handle."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.fetch_commands import FetchCommand
from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.chromium.sessions import Session, within
from hatbox.tasks import Tasks

__all__ = ["REFUSED", "ResourceFloods"]

logger = logging.getLogger("hatbox.engines.chromium")

REFUSED: Final = FetchCommand("Fetch.failRequest", {"errorReason": "NameNotResolved"})
"""As for a host that does not exist: without extensions, Chromium itself fails these requests so."""

_SECONDS: Final = 1.0  # in which requests are counted
_MAX_REFUSED: Final = 500  # requests of one page or out-of-process frame with its workers
_MAX_REQUESTS: Final = 2000  # with those that are allowed
_PAGE_FACTOR: Final = 4  # these limits for all out-of-process frames of a page together
_MAX_IGNORED: Final = 10_000  # of a page whose scripts are stopped, and which are not failed yet
_PAUSE: Final = 10.0  # seconds until its scripts run again
_STOP_TIMEOUT: Final = 5.0  # seconds; Chromium executes the command later, when the page can
_DISABLE_SCRIPTS: Final = "Emulation.setScriptExecutionDisabled"


class _Flood:
    """A page whose scripts are stopped."""

    def __init__(self) -> None:
        self.request_ids: asyncio.Queue[str] = asyncio.Queue()
        self.targets: dict[str, asyncio.Task[None]] = {}
        """The page and its workers, with the tasks that stop them."""
        self.is_crashed = False


class ResourceFloods:
    """Counts the requests of each page with its workers, and stops the scripts of those with too many."""

    def __init__(self, frames: FrameTree, session: Session) -> None:
        self._frames = frames
        self._session = session
        self._requests: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._since = 0.0
        self._stopped: dict[str, _Flood] = {}
        self._tasks = Tasks()

    def includes(self, event: Mapping[str, Any]) -> bool:
        """Count a paused request; whether it is one of a page that is stopped. Such a request is failed here."""
        frame_id = event["frameId"]
        own, page = self._sources(frame_id)
        flood = self._stopped.get(own) or self._stopped.get(page)
        if flood is None and (source := self._find_excess(self._requests, _MAX_REQUESTS, own, page)):
            flood = self._start(source, frame_id)
        if flood is None:
            return False
        flood.request_ids.put_nowait(event["requestId"])
        self._stop_source(flood, frame_id)
        if flood.request_ids.qsize() > _MAX_IGNORED and not flood.is_crashed:
            flood.is_crashed = True
            self._tasks.spawn(self._crash(own))
        return True

    def count_refusal(self, frame_id: str) -> None:
        """Count a request that was refused."""
        own, page = self._sources(frame_id)
        if own not in self._stopped and (source := self._find_excess(self._refused, _MAX_REFUSED, own, page)):
            self._start(source, frame_id)

    def cancel(self) -> None:
        """The session ends, and scripts run again."""
        self._tasks.cancel()

    def _sources(self, frame_id: str) -> tuple[str, str]:
        """The page or out-of-process frame, and the page. Shared and service workers of a site count together, because
        they can be started again."""
        if own := self._frames.target_of(frame_id):
            return own, self._frames.page_of(frame_id) or own
        worker = self._frames.target(frame_id)
        if worker is None:
            return frame_id, frame_id
        site = f"{worker.context_id} {urlsplit(worker.url.removeprefix('blob:')).netloc}"
        return site, site

    def _find_excess(self, counts: Counter[str], limit: int, own: str, page: str) -> str | None:
        """Count a request. Returns the frame or page that has too many."""
        now = time.monotonic()
        if now - self._since > _SECONDS:
            self._since = now
            self._requests.clear()
            self._refused.clear()
        counts[own] += 1
        counts[f"page {page}"] += 1
        if counts[own] > limit:
            return own
        return page if counts[f"page {page}"] > limit * _PAGE_FACTOR and page not in self._stopped else None

    def _start(self, source: str, frame_id: str) -> _Flood:
        flood = self._stopped[source] = _Flood()
        self._tasks.spawn(self._stop(source, frame_id, flood))
        return flood

    async def _stop(self, source: str, frame_id: str, flood: _Flood) -> None:
        logger.warning(
            "a page requested too many files of extensions in a second; its scripts are stopped for %g s", _PAUSE
        )
        try:
            self._stop_source(flood, frame_id)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PAUSE):
                    while True:
                        await self._fail(await flood.request_ids.get())
        finally:
            del self._stopped[source]  # no further target is stopped
        await asyncio.gather(*flood.targets.values(), return_exceptions=True)
        await asyncio.gather(*(_resume_scripts(self._frames, target_id) for target_id in flood.targets))
        while not flood.request_ids.empty():
            await self._fail(flood.request_ids.get_nowait())

    def _stop_source(self, flood: _Flood, frame_id: str) -> None:
        """Stop the scripts of the page or out-of-process frame with its workers, of which one may be new."""
        own, _ = self._sources(frame_id)
        if own not in flood.targets:
            for target_id in (own, *self._frames.workers_of(own)):
                self._stop_target(flood, target_id)
        self._stop_target(flood, frame_id)

    def _stop_target(self, flood: _Flood, target_id: str) -> None:
        if target_id not in flood.targets and self._frames.target(target_id) is not None:
            flood.targets[target_id] = self._tasks.spawn(_stop_scripts(self._frames, self._session, target_id))

    async def _fail(self, request_id: str) -> None:
        with contextlib.suppress(PlaywrightError):  # the request may be cancelled
            await self._session.send(REFUSED.method, {"requestId": request_id, **REFUSED.params})

    async def _crash(self, target_id: str) -> None:
        """End a page that needs no scripts to send requests."""
        logger.warning("a page still requests files of extensions; it is stopped")
        with contextlib.suppress(PlaywrightError):
            await within(self._frames.send(target_id, "Page.crash"), "Page.crash")


async def _stop_scripts(frames: FrameTree, session: Session, target_id: str) -> None:
    """Stop the scripts of a page, an out-of-process frame or a dedicated worker. Other workers end."""
    target = frames.target(target_id)
    if target is None:
        return
    if target.kind == "worker":
        await _send(frames, target_id, "Runtime.terminateExecution")  # Debugger.enable does not interrupt a loop
        await _send(frames, target_id, "Debugger.enable")
        await _send(frames, target_id, "Debugger.pause")
    elif target.kind in ("shared_worker", "service_worker"):
        with contextlib.suppress(PlaywrightError):
            await session.send("Target.closeTarget", {"targetId": target_id}, _STOP_TIMEOUT)
    else:
        await _send(frames, target_id, _DISABLE_SCRIPTS, value=True)
        if target.kind == "page":
            await _send(frames, target_id, "Page.stopLoading")  # elements without a script request files too


async def _resume_scripts(frames: FrameTree, target_id: str) -> None:
    """Undo `stop_scripts`."""
    target = frames.target(target_id)
    if target is not None and target.kind == "worker":
        await _send(frames, target_id, "Debugger.disable")
    elif target is not None and target.kind not in ("shared_worker", "service_worker"):
        await _send(frames, target_id, _DISABLE_SCRIPTS, value=False)


async def _send(frames: FrameTree, target_id: str, method: str, **params: Any) -> None:
    """Send a command to a target, which may be closed or hang."""
    with contextlib.suppress(PlaywrightError):
        await within(frames.send(target_id, method, **params), method, _STOP_TIMEOUT)
