from __future__ import annotations

import asyncio
from typing import Any

from hatbox.engines.base import PageState
from hatbox.engines.chromium.tab_reporter import TabReporter
from tests.store.in_loop import in_loop
from tests.waiting import until


class RecordingDelegate:
    """Records the reports of a tab."""

    def __init__(self) -> None:
        self.reports: list[Any] = []
        self.free = asyncio.Event()
        self.free.set()
        self.next: int | None = 7

    async def navigation_started(self, tab_id: int, url: str) -> int | None:
        await self.free.wait()
        self.reports.append(("started", url))
        return self.next

    async def page_updated(
        self, tab_id: int, page: PageState, *, done: bool = True, navigation: int | None = None
    ) -> None:
        await self.free.wait()
        self.reports.append((page.url, done, navigation))

    async def save_snapshot(self, tab_id: int, page: bytes) -> None:
        self.reports.append(page)


@in_loop
async def test_reports_are_sent_in_order_and_of_several_states_only_the_last() -> None:
    delegate = RecordingDelegate()
    reporter = TabReporter(delegate, 1, 3)  # type: ignore[arg-type]  # the rest is not needed
    delegate.free.clear()
    reporter.page_changed(PageState("a"), done=False)
    await asyncio.sleep(0)
    reporter.page_changed(PageState("b"), done=False)
    reporter.page_changed(PageState("c"), done=True)
    reporter.navigation_started("d")
    reporter.page_changed(PageState("d"), done=True)
    reporter.save_snapshot(b"snapshot")
    delegate.free.set()
    await until(lambda: len(delegate.reports) == 5)
    assert delegate.reports == [("a", False, 3), ("c", True, 3), ("started", "d"), ("d", True, 7), b"snapshot"]


@in_loop
async def test_a_navigation_that_was_replaced_is_not_reported() -> None:
    delegate = RecordingDelegate()
    delegate.next = None
    reporter = TabReporter(delegate, 1, 3)  # type: ignore[arg-type]  # the rest is not needed
    reporter.navigation_started("a")
    reporter.page_changed(PageState("a"), done=True)
    reporter.navigation_requested(9)
    reporter.page_changed(PageState("b"), done=True)
    await until(lambda: len(delegate.reports) == 2)
    assert delegate.reports == [("started", "a"), ("b", True, 9)]


@in_loop
async def test_a_tab_that_is_being_closed_reports_nothing() -> None:
    delegate = RecordingDelegate()
    reporter = TabReporter(delegate, 1, 3)  # type: ignore[arg-type]  # the rest is not needed
    reporter.page_changed(PageState("a"), done=True)
    reporter.stop()
    reporter.page_changed(PageState("b"), done=True)
    for _ in range(5):
        await asyncio.sleep(0)
    assert delegate.reports == []


@in_loop
async def test_after_the_last_snapshot_only_other_reports_are_sent() -> None:
    delegate = RecordingDelegate()
    reporter = TabReporter(delegate, 1, 3)  # type: ignore[arg-type]  # the rest is not needed
    reporter.save_snapshot(b"waiting")
    reporter.stop_snapshots()
    reporter.save_snapshot(b"late")
    reporter.page_changed(PageState("a"), done=True)
    await until(lambda: bool(delegate.reports))
    assert delegate.reports == [("a", True, 3)]
