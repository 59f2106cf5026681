"""What the identities API costs, beside bare SQLite and beside real Firefox: `python -m benchmarks.identities`.

One run, on one machine, each figure next to what it is compared with. "bare" is the standard library's `sqlite3` on a
copy of the same file, writing the same rows with the same durability, in the simplest loop there is; it takes turns
with Hatbox, round by round, so that a noisy neighbour hits both alike, and the median of the rounds counts. Firefox is
left out where none is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import hatbox
from benchmarks.bars import Bar, bars_table
from benchmarks.firefox_identities import FirefoxFigures, measure_firefox
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.tables.schema import HEAD, IDENTITIES

Figures = dict[str, float]  # microseconds for one call

SIZES = (4, 10_000, 1_000_000)
CALLS = ("get", "query by name", "create", "update", "remove")
AT_ONCE = 1_000
WARM_UP = 50
SETTLE = 600
COLORS = ("red", "green", "blue")
DETAILS = {"name": "Some client", "color": "blue", "icon": "briefcase"}


def main() -> None:
    """Measure, print the tables, and say of each bar whether it is met."""
    parser = argparse.ArgumentParser(description="What the identities API costs.")
    parser.add_argument("--rounds", type=int, default=7, help="how often each figure is taken")
    parser.add_argument("--calls", type=int, default=400, help="awaited calls in one round")
    parser.add_argument("--no-firefox", action="store_true", help="do not measure Firefox")
    options = parser.parse_args()
    console = Console(width=130)
    ours = {size: measure(size, options.rounds, options.calls) for size in SIZES}
    firefox = {} if options.no_firefox else measure_firefox(SIZES[:2])
    print_figures(console, ours, firefox)
    print_bars(console, ours, firefox)


def measure(size: int, rounds: int, calls: int) -> Figures:
    """Our figures and the bare ones for a profile of this size."""
    with tempfile.TemporaryDirectory(prefix="hatbox-benchmark-") as folder:
        path = Path(folder) / "profile.db"
        asyncio.run(_fill(path, size))
        bare_path = Path(folder) / "bare.db"
        shutil.copyfile(path, bare_path)
        taken: dict[str, list[float]] = {}
        for _ in range(rounds):
            for name, figure in {**_bare(bare_path, size, calls), **asyncio.run(_ours(path, size, calls))}.items():
                taken.setdefault(name, []).append(figure)
        return {name: statistics.median(figures) for name, figures in taken.items()}


async def _fill(path: Path, size: int) -> None:
    async with hatbox.open(path):
        pass
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("DELETE FROM identities")
        numbers = range(1, size + 1)
        SqliteRows(connection, IDENTITIES).put(
            (number, _name(number), "briefcase", "blue", 0, number << 20, str(number)) for number in numbers
        )
        SqliteRows(connection, HEAD).update((1,), {"identities": max(size, 5)})
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _name(number: int) -> str:
    return f"Client {number:07}"


async def _ours(path: Path, size: int, calls: int) -> Figures:
    async with hatbox.open(path) as profile:
        api = profile.browser(permissions=["contextualIdentities"]).contextualIdentities
        chosen = [random.randint(1, size) for _ in range(max(calls, AT_ONCE))]
        ids = [f"firefox-container-{number}" for number in chosen]
        names: list[Any] = [{"name": _name(number)} for number in chosen]
        changes: Any = [{"color": random.choice(COLORS)} for _ in chosen]
        details: Any = DETAILS
        made: list[str] = []
        calls_of: dict[str, Callable[[int], Awaitable[Any]]] = {
            "get": lambda i: api.get(ids[i]),
            "query by name": lambda i: api.query(names[i]),
            "update": lambda i: api.update(ids[i], changes[i]),
            "create": lambda _: api.create(details),
            "remove": lambda _: api.remove(made.pop()),
        }
        for _ in range(SETTLE):  # until the journal has its size: growing a file makes each fsync slower
            await api.update(ids[0], changes[0])
        figures: Figures = {}
        for name, call in calls_of.items():
            for way, count in ((_sequence, WARM_UP), (_sequence, calls), (_at_once, AT_ONCE)):
                figure, answers = await way(call, count)
                figures[name if way is _sequence else f"{name}, at once"] = figure
                if name == "create":
                    made += [answer["cookieStoreId"] for answer in answers]
        return figures


async def _sequence(call: Callable[[int], Awaitable[Any]], count: int) -> tuple[float, list[Any]]:
    begun = time.perf_counter()
    answers = [await call(index) for index in range(count)]
    return (time.perf_counter() - begun) / count * 1e6, answers


async def _at_once(call: Callable[[int], Awaitable[Any]], count: int) -> tuple[float, list[Any]]:
    begun = time.perf_counter()
    answers = await asyncio.gather(*[call(index) for index in range(count)])
    return (time.perf_counter() - begun) / count * 1e6, answers


def _bare(path: Path, size: int, calls: int) -> Figures:
    """The same row work in a plain loop: a statement for a read; for a change its row and its row in the log."""
    connection = sqlite3.connect(path, isolation_level=None)
    execute = connection.execute
    execute("PRAGMA synchronous = FULL")
    chosen = [random.randint(1, size) for _ in range(calls)]
    row = "SELECT id, name, icon, color, hidden FROM identities"
    log = b'[["identities.updated",{"name":"Client 0000001","icon":"briefcase","color":"blue","cookieStoreId":"1"}]]'
    made: list[int] = []

    def durable(statement: str, values: tuple[Any, ...]) -> int:
        execute("BEGIN IMMEDIATE")
        number = execute(statement, values).lastrowid
        execute(
            "INSERT INTO changes (at, logged, changes, program, process, machine, checksum) "
            "VALUES (0, 0, ?, '', 0, '', 0)",
            (log,),
        )
        execute("COMMIT")
        return number or 0

    insert = (
        "INSERT INTO identities (name, icon, color, hidden, position, uuid, checksum) VALUES (?, ?, ?, 0, ?, '', 0)"
    )
    update = "UPDATE identities SET color = ? WHERE id = ?"
    calls_of: dict[str, Callable[[int], Any]] = {
        "get": lambda i: execute(f"{row} WHERE id = ?", (chosen[i],)).fetchone(),
        "query by name": lambda i: execute(f"{row} WHERE name = ?", (_name(chosen[i]),)).fetchall(),
        "update": lambda i: durable(update, (random.choice(COLORS), chosen[i])),
        "create": lambda i: made.append(durable(insert, ("Some client", "briefcase", "blue", (size + i) << 20))),
        "remove": lambda _: durable("DELETE FROM identities WHERE id = ?", (made.pop(),)),
    }
    for _ in range(SETTLE):
        calls_of["update"](0)
    figures: Figures = {}
    for name, call in calls_of.items():
        for index in range(WARM_UP):
            call(index)
        begun = time.perf_counter()
        for index in range(calls):
            call(index)
        figures[f"bare {name}"] = (time.perf_counter() - begun) / calls * 1e6
    execute(f"DELETE FROM identities WHERE id > {size}")
    connection.close()
    return figures


def print_figures(console: Console, ours: dict[int, Figures], firefox: dict[int, FirefoxFigures]) -> None:
    """A table for each size: microseconds for one call."""
    for size, figures in ours.items():
        table = Table(title=f"{size:,} identities, µs a call", title_justify="left")
        for heading in ("call", "bare", "Hatbox", f"{AT_ONCE:,} at once", "Firefox as shipped", "Firefox, job off"):
            table.add_column(heading, justify="left" if heading == "call" else "right")
        for call in CALLS:
            shipped, job_off = (each.get(call) for each in firefox.get(size, ({}, {})))
            cells = [figures[f"bare {call}"], figures[call], figures[f"{call}, at once"], shipped, job_off]
            table.add_row(call, *["-" if cell is None else f"{cell:,.1f}" for cell in cells])
        console.print(table)


def print_bars(console: Console, ours: dict[int, Figures], firefox: dict[int, FirefoxFigures]) -> None:
    """Each bar, what was measured, and whether it is met."""
    small, middle, large = (ours[size] for size in SIZES)
    bars: list[Bar] = [
        ("get: bare SELECTs that one costs, 4 identities", small["get"] / small["bare get"], "<=", 6),
        ("get: 1,000,000 identities against 4", large["get"] / small["get"], "<=", 2),
        ("query by name: 1,000,000 identities against 4", large["query by name"] / small["query by name"], "<=", 2),
        ("create: bare durable inserts that one costs", small["create"] / small["bare create"], "<=", 2),
        ("create: 1,000 at once against 1,000 in sequence", small["create"] / small["create, at once"], ">=", 8),
    ]
    if 10_000 in firefox:
        shipped, job_off = firefox[10_000]
        bars += [
            (f"{call}: Firefox against Hatbox, 10,000 identities", shipped[call] / middle[call], ">=", bar)
            for call, bar in (("get", 8), ("update", 8), ("remove", 8), ("query by name", 1000), ("create", 50))
        ]
        bars.append(
            ("create: Firefox without its recommendation job, 10,000", job_off["create"] / middle["create"], ">=", 3)
        )
    console.print(bars_table(bars))


if __name__ == "__main__":
    main()
