"""Reports of one tab, one after the other, in the order in which things happened. Knows no browser."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import NamedTuple

from hatbox.engines.base import EngineDelegate, PageState

__all__ = ["TabReporter"]

logger = logging.getLogger("hatbox.engines.chromium")


class _NavigationRequested(NamedTuple):
    navigation: int


class _Began(NamedTuple):
    url: str


class _PageChanged(NamedTuple):
    page: PageState
    done: bool


class _SnapshotSaved(NamedTuple):
    page: bytes


class TabReporter:
    """Tells what becomes of one tab. Nothing waits for it; of states that follow each other, the last is told."""

    def __init__(self, reports: EngineDelegate, tab_id: int, navigation: int) -> None:
        self._reports = reports
        self._tab_id = tab_id
        self._navigation: int | None = navigation
        self._queue: deque[_NavigationRequested | _Began | _PageChanged | _SnapshotSaved] = deque()
        self._task: asyncio.Task[None] | None = None
        self._silent = False

    def asked(self, navigation: int) -> None:
        """What follows is about this load, which was asked for."""
        self._enqueue(_NavigationRequested(navigation))

    def began(self, url: str) -> None:
        """The page goes somewhere by itself."""
        self._enqueue(_Began(url))

    def state(self, page: PageState, *, done: bool) -> None:
        """What the page is now."""
        if self._queue and isinstance(self._queue[-1], _PageChanged):
            self._queue.pop()
        self._enqueue(_PageChanged(page, done))

    def keep(self, page: bytes) -> None:
        """What is to be kept of the page now."""
        self._enqueue(_SnapshotSaved(page))

    def stop(self) -> None:
        """Say nothing more: the tab is being closed."""
        self._silent = True
        self._queue.clear()

    def _enqueue(self, word: _NavigationRequested | _Began | _PageChanged | _SnapshotSaved) -> None:
        if self._silent:
            return
        self._queue.append(word)
        if self._task is None:
            self._task = asyncio.ensure_future(self._tell())

    async def _tell(self) -> None:
        try:
            while self._queue:
                await self._tell_one(self._queue.popleft())
        except Exception:
            logger.exception("what became of tab %d could not be told", self._tab_id)
        finally:
            self._task = None

    async def _tell_one(self, word: _NavigationRequested | _Began | _PageChanged | _SnapshotSaved) -> None:
        if isinstance(word, _NavigationRequested):
            self._navigation = word.navigation
        elif isinstance(word, _Began):
            self._navigation = await self._reports.navigation_started(self._tab_id, word.url)
        elif isinstance(word, _SnapshotSaved):
            await self._reports.save_snapshot(self._tab_id, word.page)
        elif self._navigation is not None:  # else another load was asked for, and its states are told instead
            await self._reports.page_updated(self._tab_id, word.page, done=word.done, navigation=self._navigation)
