"""An engine without pages: it remembers what it was told, and fails or takes its time when a test wants it to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import hatbox
from hatbox.engines.base import Engine, EngineDelegate
from hatbox.engines.runner import EngineRunner


class FakeEngine(Engine):
    """`calls` is what it was told, `pages` are the tabs that have a page, as they were when it was told of them."""

    name: ClassVar[str] = "fake"
    keeps_hidden_pages: ClassVar[bool] = False

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.pages: dict[int, hatbox.Tab] = {}
        self.fails: dict[str, Exception] = {}
        """What raises, by the name of the call."""
        self.held: dict[str, asyncio.Event] = {}
        """What waits, by the name of the call."""
        self.when_stopped: Callable[[], Any] | None = None
        self._news = asyncio.Condition()
        self._delegate: EngineDelegate | None = None

    @property
    def reports(self) -> EngineDelegate:
        assert self._delegate is not None
        return self._delegate

    def told(self, name: str) -> list[tuple[Any, ...]]:
        """What it was told by this name."""
        return [call[1:] for call in self.calls if call[0] == name]

    async def until_told(self, name: str, count: int = 1) -> tuple[Any, ...]:
        """Wait for a call; returns its arguments."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.told(name)) >= count)
        return self.told(name)[count - 1]

    async def start(self, delegate: EngineDelegate) -> None:
        self._delegate = delegate
        self.pages.clear()
        await self._note("start")

    async def stop(self) -> None:
        if self.when_stopped:
            await self.when_stopped()
        await self._note("stop")

    async def open(self, tab: hatbox.Tab, snapshot: bytes | None) -> None:
        await self._note("open", tab.id, tab.pending_url or tab.url, snapshot)
        self.pages[tab.id] = tab

    async def navigate(self, tab: hatbox.Tab) -> None:
        await self._note("navigate", tab.id, tab.pending_url)
        assert tab.id in self.pages
        self.pages[tab.id] = tab

    async def activate(self, tab: hatbox.Tab) -> None:
        await self._note("activate", tab.id)

    async def close(self, tab_id: int, *, hiding: bool) -> None:
        if hiding:
            await self.reports.save_snapshot(tab_id, f"page {tab_id}".encode())
        await self._note("close", tab_id, hiding)
        self.pages.pop(tab_id, None)

    async def remove_identity(self, cookie_store_id: str) -> None:
        assert not [tab for tab in self.pages.values() if tab.cookie_store_id == cookie_store_id]
        await self._note("forget", cookie_store_id)

    async def _note(self, *call: Any) -> None:
        self.calls.append(call)
        async with self._news:
            self._news.notify_all()
        if call[0] in self.held:
            await self.held[call[0]].wait()
        if call[0] in self.fails:
            raise self.fails[call[0]]


class KeepsHidden(FakeEngine):
    """One whose hidden tabs have pages."""

    keeps_hidden_pages: ClassVar[bool] = True


class LoadsAgain(FakeEngine):
    """One that loads a page to show it again."""

    def loads_again(self, tab: hatbox.Tab) -> bool:
        return tab.url != "about:blank"


def run(
    engine: Engine,
    profile: hatbox.Profile,
    identities: hatbox.IdentityLike | Sequence[hatbox.IdentityLike] | None = None,
) -> EngineRunner:
    """An engine for a profile, or for some of its identities, to be entered."""
    return profile._register_engine(EngineRunner(engine, profile.store, identities))
