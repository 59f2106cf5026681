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

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.fetch_commands import FetchCommand
from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.chromium.sessions import within
from hatbox.engines.chromium.stopped_target import resume_scripts, stop_scripts
from hatbox.tasks import Tasks

__all__ = ["REFUSED", "ResourceFloods"]

logger = logging.getLogger("hatbox.engines.chromium")

REFUSED: Final = FetchCommand("Fetch.failRequest", {"errorReason": "NameNotResolved"})
"""As for a host that does not exist: without extensions, Chromium itself fails these requests so."""

_SECONDS: Final = 1.0  # in which requests are counted
_MAX_REFUSED: Final = 500  # requests of one page or out-of-process frame with its workers
_MAX_REQUESTS: Final = 2000  # with those that are allowed
_MAX_IGNORED: Final = 10_000  # of a page whose scripts are stopped, and which are not failed yet
_PAUSE: Final = 10.0  # seconds until its scripts run again


class _Flood:
    """A page whose scripts are stopped."""

    def __init__(self) -> None:
        self.request_ids: asyncio.Queue[str] = asyncio.Queue()
        self.targets: dict[str, asyncio.Task[None]] = {}
        """The page and its workers, with the tasks that stop them."""
        self.is_crashed = False


class ResourceFloods:
    """Counts the requests of each page with its workers, and stops the scripts of those with too many."""

    def __init__(self, frames: FrameTree, session: CDPSession) -> None:
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
        source = self._source(frame_id)
        flood = self._stopped.get(source)
        if flood is None and self._has_too_many(self._requests, source, _MAX_REQUESTS):
            flood = self._start(source, frame_id)
        if flood is None:
            return False
        flood.request_ids.put_nowait(event["requestId"])
        self._stop_target(flood, frame_id)  # a worker may have been started in the meantime
        if flood.request_ids.qsize() > _MAX_IGNORED and not flood.is_crashed:
            flood.is_crashed = True
            self._tasks.spawn(self._crash(source))
        return True

    def count_refusal(self, frame_id: str) -> None:
        """Count a request that was refused."""
        source = self._source(frame_id)
        if source not in self._stopped and self._has_too_many(self._refused, source, _MAX_REFUSED):
            self._start(source, frame_id)

    def cancel(self) -> None:
        """The session ends, and scripts run again."""
        self._tasks.cancel()

    def _source(self, frame_id: str) -> str:
        """The target of the page. Shared and service workers of a site count together, because they can be started
        again."""
        if target_id := self._frames.target_of(frame_id):
            return target_id
        worker = self._frames.target(frame_id)
        return frame_id if worker is None else f"{worker.context_id} {urlsplit(worker.url).netloc}"

    def _has_too_many(self, counts: Counter[str], source: str, limit: int) -> bool:
        now = time.monotonic()
        if now - self._since > _SECONDS:
            self._since = now
            self._requests.clear()
            self._refused.clear()
        counts[source] += 1
        return counts[source] > limit

    def _start(self, source: str, frame_id: str) -> _Flood:
        flood = self._stopped[source] = _Flood()
        self._tasks.spawn(self._stop(source, frame_id, flood))
        return flood

    async def _stop(self, source: str, frame_id: str, flood: _Flood) -> None:
        logger.warning(
            "a page requested too many files of extensions in a second; its scripts are stopped for %g s", _PAUSE
        )
        try:
            for target_id in (source, frame_id, *self._frames.workers_of(source)):
                self._stop_target(flood, target_id)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PAUSE):
                    while True:
                        await self._fail(await flood.request_ids.get())
            await asyncio.gather(*flood.targets.values())
            await asyncio.gather(*(resume_scripts(self._frames, target_id) for target_id in flood.targets))
            while not flood.request_ids.empty():
                await self._fail(flood.request_ids.get_nowait())
        finally:
            del self._stopped[source]

    def _stop_target(self, flood: _Flood, target_id: str) -> None:
        if target_id not in flood.targets and self._frames.target(target_id) is not None:
            flood.targets[target_id] = self._tasks.spawn(stop_scripts(self._frames, self._session, target_id))

    async def _fail(self, request_id: str) -> None:
        with contextlib.suppress(PlaywrightError):  # the request may be cancelled
            await self._session.send(REFUSED.method, {"requestId": request_id, **REFUSED.params})

    async def _crash(self, target_id: str) -> None:
        """End a page that needs no scripts to send requests."""
        logger.warning("a page still requests files of extensions; it is stopped")
        with contextlib.suppress(PlaywrightError):
            await within(self._frames.send(target_id, "Page.crash"), "Page.crash")
