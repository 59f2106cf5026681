"""What a call for tabs costs in a window with 10,000 tabs, beside one with 21: `python -m benchmarks.tabs_scale`.

Two profiles, one call in each by turns. Each call is timed until it is durable. The bars are ratios of the tenth
percentiles: on a shared machine, the median shows how long a process waits for its turn. In SQLite files, or with
`--postgres` on a server that this program starts, or with `--address` in two schemas of a PostgreSQL database.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

import hatbox
from benchmarks.bars import bars_table
from hatbox.store.base import Transaction
from hatbox.tabs.opening import open_tab
from tests.postgres import running_cluster

FEW, MANY = 21, 10_000
HIDDEN = 20
STORE_ID, STORE = "firefox-container-2", 2  # Work's
AT_MOST = 2.0


class Window(NamedTuple):
    """A profile with one window. The tabs of one identity are at equal distances among the others."""

    browser: Any
    middle: int
    """The index of the tab in the middle."""
    tabs: list[int]
    """The tabs of the identity."""


Timed = Callable[[Window], Awaitable[float]]


def main() -> int:
    """Measure, print, and say by the exit status whether all bars hold."""
    parser = argparse.ArgumentParser(description="What calls for tabs cost with few and with many tabs.")
    parser.add_argument("--rounds", type=int, default=100, help="how often each call is timed, in each profile")
    parser.add_argument("--many", type=int, default=MANY, help="tabs in the large window")
    parser.add_argument("--postgres", action="store_true", help="start a PostgreSQL server, and measure on it")
    parser.add_argument("--address", help="measure in new schemas of this PostgreSQL database")
    options = parser.parse_args()
    with addresses(options) as (few, many):
        found = asyncio.run(measure(few, many, options))
    bars = [(name, quick(large) / quick(small), "<=", AT_MOST) for name, small, large in found]
    console = Console(width=110)
    console.print(times_table(found, options.many))
    console.print(bars_table(bars))
    return 0 if all(ratio <= bar for _, ratio, _, bar in bars) else 1


@contextlib.contextmanager
def addresses(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The addresses of two new profiles."""
    if options.address:
        unique = time.time_ns()
        few, many = (_with_schema(options.address, f"tabs_scale_{unique}_{name}") for name in ("few", "many"))
        yield few, many
    elif options.postgres:
        with running_cluster() as cluster:
            yield cluster.new_address(), cluster.new_address()
    else:
        with tempfile.TemporaryDirectory(prefix="hatbox-benchmark-") as folder:
            yield str(Path(folder) / "few.db"), str(Path(folder) / "many.db")


def _with_schema(address: str, schema: str) -> str:
    parts = urllib.parse.urlsplit(address)
    query = [*urllib.parse.parse_qsl(parts.query), ("schema", schema)]
    return parts._replace(query=urllib.parse.urlencode(query)).geturl()


async def measure(few: str, many: str, options: argparse.Namespace) -> list[tuple[str, list[float], list[float]]]:
    """The seconds of each call, with few and with many tabs."""
    async with hatbox.open(few) as small_profile, hatbox.open(many) as large_profile:
        small, large = await filled(small_profile, FEW), await filled(large_profile, options.many)
        results = []
        for name, call in CALLS.items():
            taken: tuple[list[float], list[float]] = ([], [])
            for number in range(options.rounds + 5):
                for window, times in ((small, taken[0]), (large, taken[1])):
                    seconds = await call(window)
                    if number >= 5:  # the first calls prepare statements and fill caches
                        times.append(seconds)
            results.append((name, *taken))
        return results


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


def quick(times: list[float]) -> float:
    """The tenth percentile."""
    return statistics.quantiles(times, n=10)[0]


def times_table(found: list[tuple[str, list[float], list[float]]], many: int) -> Table:
    """The tenth percentiles and medians, in milliseconds."""
    table = Table(title="Milliseconds, p10 (median)", title_justify="left")
    for heading in ("", f"{FEW} tabs", f"{many:,} tabs"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, small, large in found:
        table.add_row(
            name, *(f"{quick(times) * 1000:.2f} ({statistics.median(times) * 1000:.2f})" for times in (small, large))
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
