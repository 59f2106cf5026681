"""Reports of one tab, one after the other, in the order in which things happened. Knows no browser."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import NamedTuple

from hatbox.engines.base import Page, Reports

__all__ = ["Teller"]

logger = logging.getLogger("hatbox.engines.chromium")


class _Asked(NamedTuple):
    navigation: int


class _Began(NamedTuple):
    url: str


class _Is(NamedTuple):
    page: Page
    done: bool


class _Kept(NamedTuple):
    page: bytes


class Teller:
    """Tells what becomes of one tab. Nothing waits for it; of states that follow each other, the last is told."""

    def __init__(self, reports: Reports, tab_id: int, navigation: int) -> None:
        self._reports = reports
        self._tab_id = tab_id
        self._navigation: int | None = navigation
        self._words: deque[_Asked | _Began | _Is | _Kept] = deque()
        self._task: asyncio.Task[None] | None = None
        self._silent = False

    def asked(self, navigation: int) -> None:
        """What follows is about this load, which was asked for."""
        self._say(_Asked(navigation))

    def began(self, url: str) -> None:
        """The page goes somewhere by itself."""
        self._say(_Began(url))

    def state(self, page: Page, *, done: bool) -> None:
        """What the page is now."""
        if self._words and isinstance(self._words[-1], _Is):
            self._words.pop()
        self._say(_Is(page, done))

    def keep(self, page: bytes) -> None:
        """What is to be kept of the page now."""
        self._say(_Kept(page))

    def hush(self) -> None:
        """Say nothing more: the tab is being closed."""
        self._silent = True
        self._words.clear()

    def _say(self, word: _Asked | _Began | _Is | _Kept) -> None:
        if self._silent:
            return
        self._words.append(word)
        if self._task is None:
            self._task = asyncio.ensure_future(self._tell())

    async def _tell(self) -> None:
        try:
            while self._words:
                await self._tell_one(self._words.popleft())
        except Exception:
            logger.exception("what became of tab %d could not be told", self._tab_id)
        finally:
            self._task = None

    async def _tell_one(self, word: _Asked | _Began | _Is | _Kept) -> None:
        if isinstance(word, _Asked):
            self._navigation = word.navigation
        elif isinstance(word, _Began):
            self._navigation = await self._reports.began(self._tab_id, word.url)
        elif isinstance(word, _Kept):
            await self._reports.keep(self._tab_id, word.page)
        elif self._navigation is not None:  # else another load was asked for, and its states are told instead
            await self._reports.loaded(self._tab_id, word.page, done=word.done, navigation=self._navigation)
