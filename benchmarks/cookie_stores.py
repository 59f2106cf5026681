"""Opening many cookie stores, beside reading the same rows with bare sqlite3: `python -m benchmarks.cookie_stores`.

10,000 identities with 20 cookies each, in one profile. The two take turns, and the median of the rounds counts. One
Cookie header of each store, which fills its jar, is a figure of its own: most stores of a large profile are not used.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import statistics
import time
from pathlib import Path

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from hatbox.store.base import CookieRow
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.tables.cookie_tables import SqlCookieTable
from hatbox.store.tables.schema import COOKIES as COOKIE_TABLE
from hatbox.store.tables.schema import IDENTITIES

COOKIES = 20
ROW = (
    "domain, host_only, path, name, partition, "
    "value, secure, http_only, same_site, expires, sequence, created, last_access"
)


def measure(folder: Path, stores: int, rounds: int) -> Measured:
    """All figures."""
    path, numbers = folder / "profile.db", range(6, 6 + stores)
    asyncio.run(_fill(path, numbers))
    times = [(_bare(path, numbers), *asyncio.run(_ours(path, numbers))) for _ in range(rounds)]
    bare, opened, requested = (statistics.median(seconds) for seconds in zip(*times, strict=True))
    return {"open 10,000 stores": (opened, bare), "open them, and one header of each": (requested, bare)}


async def _fill(path: Path, numbers: range) -> None:
    async with hatbox.open(path):
        pass
    expires = time.time() + 1e7
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        SqliteRows(connection, IDENTITIES).put(
            (number, f"Client {number}", "pet", "blue", 0, number << 20, str(number)) for number in numbers
        )
        cookies = SqlCookieTable(SqliteRows(connection, COOKIE_TABLE))
        for number in numbers:
            cookies.put(number, (_row(number, index, expires) for index in range(COOKIES)))


def _row(number: int, index: int, expires: float) -> CookieRow:
    site, name, value = f"site{index // 5}.example", f"name{index}", f"value {number} {index}"
    return (site, 1, "/", name, "", value, 1, 0, "lax", expires, index, 0.0, 0.0)


def _bare(path: Path, numbers: range) -> float:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        begun = time.perf_counter()
        read = [
            connection.execute(f"SELECT {ROW} FROM cookies WHERE store = ?", (number,)).fetchall() for number in numbers
        ]
        taken = time.perf_counter() - begun
    assert len(read) == len(numbers)
    return taken


async def _ours(path: Path, numbers: range) -> tuple[float, float]:
    async with hatbox.open(path) as profile:
        begun = time.perf_counter()
        stores = [await profile.cookies.open(f"firefox-container-{number}") for number in numbers]
        opened = time.perf_counter() - begun
        for store in stores:
            assert await store.header("https://site1.example/")
        return opened, time.perf_counter() - begun


BENCHMARK = Benchmark(
    measure,
    [
        Figure("open 10,000 stores", "s", "read with sqlite3", at_most=2),
        Figure("open them, and one header of each", "s", "read with sqlite3"),
    ],
    stores=(10_000, 10),
    rounds=(5, 1),
)

if __name__ == "__main__":
    BENCHMARK.main()
