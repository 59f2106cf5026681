"""What the identities API costs, beside bare SQLite and beside real Firefox: `python -m benchmarks.identities`.

One run, on one machine, each figure next to what it is compared with. "bare" is the standard library's `sqlite3` on a
copy of the same file, writing the same rows with the same durability, in the simplest loop there is; it takes turns
with Hatbox, round by round, so that a noisy neighbour hits both alike, and the median of the rounds counts. Firefox is
left out where none is installed.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from benchmarks.firefox_identities import measure_firefox
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.tables.schema import HEAD, IDENTITIES

Times = dict[str, float]
"""Microseconds for one call."""

SMALL, MIDDLE, LARGE = "4", "10,000", "1,000,000"
CALLS = ("get", "query by name", "create", "update", "remove")
BARE = "sqlite3"
FIREFOX, JOB_OFF = "Firefox", "Firefox, its recommendation job off"
COLORS = ("red", "green", "blue")
DETAILS = {"name": "Some client", "color": "blue", "icon": "briefcase"}


def measure(folder: Path, middle: int, large: int, firefox_calls: int, **counts: int) -> Measured:
    """All figures."""
    sizes = {SMALL: 4, MIDDLE: middle, LARGE: large}
    times = {name: _measure_size(folder / name, sizes[name], **counts) for name in sizes}
    firefox = measure_firefox(middle, firefox_calls)
    small = times[SMALL]
    figures = {f"get, {SMALL} identities": (small["get"], small["bare get"])}
    for call in CALLS:
        ours = times[MIDDLE][call]
        figures[call] = (ours, times[MIDDLE][f"bare {call}"])
        figures[f"{call}, 1,000 at once"] = (times[MIDDLE][f"{call}, at once"], ours)
        if firefox is not None:
            figures[f"{call}, to Firefox"] = (ours, firefox[0][call])
    if firefox is not None:
        figures["create, to Firefox without its job"] = (times[MIDDLE]["create"], firefox[1]["create"])
    for call in ("get", "query by name"):
        figures[f"{call}, {LARGE} identities"] = (times[LARGE][call], small[call])
    return figures


def _measure_size(folder: Path, size: int, rounds: int, calls: int, at_once: int, settle: int, warm_up: int) -> Times:
    """Our times and the bare ones for a profile of this size."""
    folder.mkdir()
    path, bare_path = folder / "profile.db", folder / "bare.db"
    asyncio.run(_fill(path, size))
    shutil.copyfile(path, bare_path)
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        bare = _bare(bare_path, size, calls, settle, warm_up)
        ours = asyncio.run(_ours(path, size, calls, at_once, settle, warm_up))
        for name, microseconds in {**bare, **ours}.items():
            taken.setdefault(name, []).append(microseconds)
    return {name: statistics.median(each) for name, each in taken.items()}


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


async def _ours(path: Path, size: int, calls: int, at_once: int, settle: int, warm_up: int) -> Times:
    async with hatbox.open(path) as profile:
        api = profile.browser(permissions=["contextualIdentities"]).contextualIdentities
        chosen = [random.randint(1, size) for _ in range(max(calls, at_once, warm_up))]
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
        for _ in range(settle):  # until the journal has its size: growing a file makes each fsync slower
            await api.update(ids[0], changes[0])
        times: Times = {}
        for name, call in calls_of.items():
            for way, count in ((_sequence, warm_up), (_sequence, calls), (_at_once, at_once)):
                microseconds, answers = await way(call, count)
                times[name if way is _sequence else f"{name}, at once"] = microseconds
                if name == "create":
                    made += [answer["cookieStoreId"] for answer in answers]
        return times


async def _sequence(call: Callable[[int], Awaitable[Any]], count: int) -> tuple[float, list[Any]]:
    begun = time.perf_counter()
    answers = [await call(index) for index in range(count)]
    return (time.perf_counter() - begun) / count * 1e6, answers


async def _at_once(call: Callable[[int], Awaitable[Any]], count: int) -> tuple[float, list[Any]]:
    begun = time.perf_counter()
    answers = await asyncio.gather(*[call(index) for index in range(count)])
    return (time.perf_counter() - begun) / count * 1e6, answers


def _bare(path: Path, size: int, calls: int, settle: int, warm_up: int) -> Times:
    """The same row work in a plain loop: a statement for a read; for a change its row and its row in the log."""
    connection = sqlite3.connect(path, isolation_level=None)
    execute = connection.execute
    execute("PRAGMA synchronous = FULL")
    chosen = [random.randint(1, size) for _ in range(max(calls, warm_up))]
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
    for _ in range(settle):
        calls_of["update"](0)
    times: Times = {}
    for name, call in calls_of.items():
        for index in range(warm_up):
            call(index)
        begun = time.perf_counter()
        for index in range(calls):
            call(index)
        times[f"bare {name}"] = (time.perf_counter() - begun) / calls * 1e6
    execute(f"DELETE FROM identities WHERE id > {size}")
    connection.close()
    return times


BENCHMARK = Benchmark(
    measure,
    [
        Figure(f"get, {SMALL} identities", "µs", BARE, at_most=6),
        *(Figure(call, "µs", BARE, at_most=2 if call == "create" else None) for call in CALLS),
        *(
            Figure(f"{call}, 1,000 at once", "µs", "one after the other", at_least=8 if call == "create" else None)
            for call in CALLS
        ),
        *(
            Figure(f"{call}, {LARGE} identities", "µs", f"{SMALL} identities", at_most=2)
            for call in ("get", "query by name")
        ),
        *(
            Figure(f"{call}, to Firefox", "µs", FIREFOX, at_least=bar)
            for call, bar in (("get", 8), ("query by name", 1000), ("create", 50), ("update", 8), ("remove", 8))
        ),
        Figure("create, to Firefox without its job", "µs", JOB_OFF, at_least=3),
    ],
    middle=(10_000, 20),
    large=(1_000_000, 100),
    rounds=(7, 1),
    calls=(400, 5),
    firefox_calls=(500, 10),
    at_once=(1000, 10),
    settle=(600, 1),
    warm_up=(50, 1),
)

if __name__ == "__main__":
    BENCHMARK.main()
