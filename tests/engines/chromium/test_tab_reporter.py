from __future__ import annotations

import asyncio
from typing import Any

from hatbox.engines.base import PageState
from hatbox.engines.chromium.tab_reporter import TabReporter
from tests.store.in_loop import in_loop, until


class Heard:
    """Reports that remember what they were told."""

    def __init__(self) -> None:
        self.words: list[Any] = []
        self.free = asyncio.Event()
        self.free.set()
        self.next: int | None = 7

    async def began(self, tab_id: int, url: str) -> int | None:
        await self.free.wait()
        self.words.append(("began", url))
        return self.next

    async def loaded(self, tab_id: int, page: PageState, *, done: bool = True, navigation: int | None = None) -> None:
        await self.free.wait()
        self.words.append((page.url, done, navigation))

    async def keep(self, tab_id: int, page: bytes) -> None:
        self.words.append(page)


@in_loop
async def test_what_happens_is_told_in_order_and_of_several_states_the_last() -> None:
    heard = Heard()
    teller = TabReporter(heard, 1, 3)  # type: ignore[arg-type]  # the rest is not needed
    heard.free.clear()
    teller.state(PageState("a"), done=False)
    await asyncio.sleep(0)
    teller.state(PageState("b"), done=False)
    teller.state(PageState("c"), done=True)
    teller.began("d")
    teller.state(PageState("d"), done=True)
    teller.keep(b"kept")
    heard.free.set()
    await until(lambda: len(heard.words) == 5)
    assert heard.words == [("a", False, 3), ("c", True, 3), ("began", "d"), ("d", True, 7), b"kept"]


@in_loop
async def test_a_load_that_was_overtaken_is_not_told_of() -> None:
    heard = Heard()
    heard.next = None
    teller = TabReporter(heard, 1, 3)  # type: ignore[arg-type]  # the rest is not needed
    teller.began("a")
    teller.state(PageState("a"), done=True)
    teller.asked(9)
    teller.state(PageState("b"), done=True)
    await until(lambda: len(heard.words) == 2)
    assert heard.words == [("began", "a"), ("b", True, 9)]


@in_loop
async def test_of_a_tab_that_is_closed_nothing_is_told() -> None:
    heard = Heard()
    teller = TabReporter(heard, 1, 3)  # type: ignore[arg-type]  # the rest is not needed
    teller.state(PageState("a"), done=True)
    teller.stop()
    teller.state(PageState("b"), done=True)
    for _ in range(5):
        await asyncio.sleep(0)
    assert heard.words == []
