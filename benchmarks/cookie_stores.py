"""Opening many cookie stores, beside reading the same rows with bare sqlite3: `python -m benchmarks.cookie_stores`.

10,000 identities with 20 cookies each, in one profile. The two take turns, and the median of the rounds counts. Asking
each store for one Cookie header, which fills its jar, is told apart: most stores of a large profile are never asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

import hatbox
from hatbox.store.base import CookieRow
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.tables.cookie_table import SqlCookieTable
from hatbox.store.tables.schema import COOKIES as COOKIE_TABLE
from hatbox.store.tables.schema import IDENTITIES

STORES = range(6, 10_006)
COOKIES = 20
ROUNDS = 5
BAR = 2.0
ROW = (
    "domain, host_only, path, name, partition, "
    "value, secure, http_only, same_site, expires, sequence, created, last_access"
)


def main() -> int:
    """Measure, print, and say by the exit status whether the bar holds."""
    with tempfile.TemporaryDirectory(prefix="hatbox-benchmark-") as folder:
        path = Path(folder) / "profile.db"
        asyncio.run(_fill(path))
        rounds = [(_bare(path), *asyncio.run(_ours(path))) for _ in range(ROUNDS)]
    bare, opened, asked = (statistics.median(figures) for figures in zip(*rounds, strict=True))
    print(f"{len(STORES):,} stores of {COOKIES} cookies: bare {bare:.2f} s, opened {opened:.2f} s, asked {asked:.2f} s")
    print(f"opening them: {opened / bare:.2f} times the bare reading (bar: at most {BAR:g})")
    print(f"opening them and asking each for one header: {asked / bare:.2f} times")
    return 0 if opened / bare <= BAR else 1


async def _fill(path: Path) -> None:
    async with hatbox.open(path):
        pass
    expires = time.time() + 1e7
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        SqliteRows(connection, IDENTITIES).put(
            (number, f"Client {number}", "pet", "blue", 0, number << 20, str(number)) for number in STORES
        )
        cookies = SqlCookieTable(SqliteRows(connection, COOKIE_TABLE))
        for number in STORES:
            cookies.put(number, (_row(number, index, expires) for index in range(COOKIES)))


def _row(number: int, index: int, expires: float) -> CookieRow:
    site, name, value = f"site{index // 5}.example", f"name{index}", f"value {number} {index}"
    return (site, 1, "/", name, "", value, 1, 0, "lax", expires, index, 0.0, 0.0)


def _bare(path: Path) -> float:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        begun = time.perf_counter()
        read = [
            connection.execute(f"SELECT {ROW} FROM cookies WHERE store = ?", (number,)).fetchall() for number in STORES
        ]
        taken = time.perf_counter() - begun
    assert len(read) == len(STORES)
    return taken


async def _ours(path: Path) -> tuple[float, float]:
    async with hatbox.open(path) as profile:
        begun = time.perf_counter()
        stores = [await profile.cookies.open(f"firefox-container-{number}") for number in STORES]
        opened = time.perf_counter() - begun
        for store in stores:
            assert await store.header("https://site1.example/")
        return opened, time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())
