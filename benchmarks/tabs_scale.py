"""What a call for tabs costs in a window with 10,000 tabs, beside one with 21: `python -m benchmarks.tabs_scale`.

Two profiles, one call in each by turns. Each call is timed until it is durable. The bars are ratios of the tenth
percentiles: on a shared machine, the median shows how long a process waits for its turn. In SQLite files, and on a
PostgreSQL server that this program starts.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from hatbox.store.base import Transaction
from hatbox.tabs.opening import open_tab
from tests.postgres import running_cluster

FEW = 21
HIDDEN = 20
STORE_ID, STORE = "firefox-container-2", 2  # Work's


class Window(NamedTuple):
    """A profile with one window. The tabs of one identity are at equal distances among the others."""

    browser: Any
    middle: int
    """The index of the tab in the middle."""
    tabs: list[int]
    """The tabs of the identity."""


Timed = Callable[[Window], Awaitable[float]]


async def measure(folder: Path, rounds: int, many: int) -> Measured:
    """All figures, in SQLite files and in two schemas of a PostgreSQL server."""
    figures = await measure_store("SQLite", str(folder / "few.db"), str(folder / "many.db"), rounds, many)
    with running_cluster() as cluster:
        few, large = cluster.new_address(), cluster.new_address()
        return {**figures, **await measure_store("PostgreSQL", few, large, rounds, many)}


async def measure_store(store: str, few: str, large: str, rounds: int, many: int) -> dict[str, tuple[float, float]]:
    """The tenth percentiles of each call, with many and with few tabs, in milliseconds."""
    async with hatbox.open(few) as small_profile, hatbox.open(large) as large_profile:
        windows = await filled(large_profile, many), await filled(small_profile, FEW)
        figures = {}
        for name, call in CALLS.items():
            taken: tuple[list[float], list[float]] = ([], [])
            for number in range(rounds + 5):
                for window, times in zip(windows, taken, strict=True):
                    seconds = await call(window)
                    if number >= 5:  # the first calls prepare statements and fill caches
                        times.append(seconds)
            slow, quick = (statistics.quantiles(times, n=10)[0] * 1000 for times in taken)
            figures[f"{store}: {name}"] = slow, quick
        return figures


async def filled(profile: hatbox.Profile, count: int) -> Window:
    """Fill a new profile: one write for all tabs."""

    def fill(transaction: Transaction) -> list[int]:
        window = open_tab(transaction, cookie_store_id="firefox-default").window_id
        step = (count - 1) // HIDDEN
        rows = [
            transaction.tabs.insert(
                window,
                index,
                STORE if index % step == 0 and index // step <= HIDDEN else 0,
                url=f"https://site{index}.example/",
                title=f"Page {index}",
                last_accessed=float(index),
            )
            for index in range(1, count)
        ]
        return [row.id for row in rows if row.store == STORE]

    tabs = await profile.tabs.write(fill)
    return Window(profile.browser(["tabs", "tabHide", "cookies"], "benchmark@example"), count // 2, tabs)


async def seconds_of(call: Callable[[], Awaitable[Any]]) -> float:
    """The time of a call. It starts when it is made, not when it is awaited."""
    start = time.perf_counter()
    await call()
    return time.perf_counter() - start


async def create(window: Window, **details: Any) -> float:
    """Open a tab, and close it again."""
    details = {"url": "https://site.example/", "cookieStoreId": STORE_ID, **details}
    start = time.perf_counter()
    tab = await window.browser.tabs.create(details)
    seconds = time.perf_counter() - start
    await window.browser.tabs.remove(tab["id"])
    return seconds


async def create_in_the_middle(window: Window) -> float:
    """Open a tab between others, and close it again."""
    return await create(window, index=window.middle, active=False)


async def remove(window: Window) -> float:
    """Close a new active tab."""
    tab = await window.browser.tabs.create({"index": window.middle})
    return await seconds_of(lambda: window.browser.tabs.remove(tab["id"]))


async def move(window: Window) -> float:
    """Move a tab, and back again."""
    tab = window.tabs[HIDDEN // 2]
    seconds = await seconds_of(lambda: window.browser.tabs.move(tab, {"index": 3}))
    await window.browser.tabs.move(tab, {"index": window.middle})
    return seconds


async def query(window: Window) -> float:
    """Find the tabs of an identity."""
    return await seconds_of(lambda: window.browser.tabs.query({"cookieStoreId": STORE_ID}))


async def hide(window: Window) -> float:
    """Hide tabs, and show them again."""
    seconds = await seconds_of(lambda: window.browser.tabs.hide(window.tabs))
    await window.browser.tabs.show(window.tabs)
    return seconds


CALLS: dict[str, Timed] = {
    "tabs.create": create,
    "tabs.create in the middle": create_in_the_middle,
    "tabs.remove": remove,
    "tabs.move": move,
    "tabs.query by store": query,
    f"tabs.hide of {HIDDEN}": hide,
}


BENCHMARK = Benchmark(
    measure,
    [
        Figure(f"{store}: {name}", "ms", f"{FEW} tabs", at_most=2)
        for store in ("SQLite", "PostgreSQL")
        for name in CALLS
    ],
    rounds=(100, 2),
    many=(10_000, 50),
)

if __name__ == "__main__":
    BENCHMARK.main()
