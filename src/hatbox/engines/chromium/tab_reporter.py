"""Sends the reports of one tab in order. Independent of the browser."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import NamedTuple

from hatbox.engines.base import EngineDelegate, PageState

__all__ = ["TabReporter"]

logger = logging.getLogger("hatbox.engines.chromium")


class _NavigationRequested(NamedTuple):
    navigation_id: int


class _NavigationStarted(NamedTuple):
    url: str


class _PageChanged(NamedTuple):
    page: PageState
    done: bool


class _SnapshotSaved(NamedTuple):
    snapshot: bytes


_Report = _NavigationRequested | _NavigationStarted | _PageChanged | _SnapshotSaved


class TabReporter:
    """Queues the reports of one tab. Of consecutive page states, only the last is sent."""

    def __init__(self, delegate: EngineDelegate, tab_id: int, navigation_id: int) -> None:
        self.tab_id = tab_id
        self._delegate = delegate
        self._navigation_id: int | None = navigation_id
        self._queue: deque[_Report] = deque()
        self._task: asyncio.Task[None] | None = None
        self._is_stopped = False
        self._takes_snapshots = True

    def navigation_requested(self, navigation_id: int) -> None:
        """The engine has requested a navigation. Later page states belong to it."""
        self._enqueue(_NavigationRequested(navigation_id))

    def navigation_started(self, url: str) -> None:
        """The page has started a navigation."""
        self._enqueue(_NavigationStarted(url))

    def page_changed(self, page: PageState, *, done: bool) -> None:
        """The state of the page has changed; `done` if nothing is loading."""
        if self._queue and isinstance(self._queue[-1], _PageChanged):
            self._queue.pop()
        self._enqueue(_PageChanged(page, done))

    def save_snapshot(self, snapshot: bytes) -> None:
        """The page has a new snapshot."""
        if self._takes_snapshots:
            self._enqueue(_SnapshotSaved(snapshot))

    def stop_snapshots(self) -> None:
        """Send no more snapshots: the caller saves the last one, which has typed text."""
        self._takes_snapshots = False
        self._queue = deque(report for report in self._queue if not isinstance(report, _SnapshotSaved))

    def stop(self) -> None:
        """Send no more reports: the tab is being closed."""
        self._is_stopped = True
        self._queue.clear()

    def _enqueue(self, report: _Report) -> None:
        if self._is_stopped:
            return
        self._queue.append(report)
        if self._task is None:
            self._task = asyncio.ensure_future(self._send_queue())

    async def _send_queue(self) -> None:
        try:
            while self._queue:
                await self._send(self._queue.popleft())
        except Exception:
            logger.exception("tab %d: sending report failed", self.tab_id)
        finally:
            self._task = None

    async def _send(self, report: _Report) -> None:
        if isinstance(report, _NavigationRequested):
            self._navigation_id = report.navigation_id
        elif isinstance(report, _NavigationStarted):
            self._navigation_id = await self._delegate.navigation_started(self.tab_id, report.url)
        elif isinstance(report, _SnapshotSaved):
            await self._delegate.save_snapshot(self.tab_id, report.snapshot)
        elif self._navigation_id is not None:  # otherwise a later navigation has replaced this one
            await self._delegate.page_updated(
                self.tab_id, report.page, done=report.done, navigation=self._navigation_id
            )
