"""What removing to the trash and restoring cost, beside removing for ever: `python -m benchmarks.trash`.

One run: identities with cookies are removed for ever, removed to the trash, and restored, in turns. All calls of one
turn are in flight together, as in a program that removes many. The median of the rounds counts. The bar is for the CPU
time of the process, with all its threads: on a machine with other work, the elapsed time is mostly that of the others.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

import hatbox
from hatbox.identities.changes import create
from hatbox.identities.ids import container_user_context_id
from hatbox.store.base import CookieRow, Transaction

BAR = 2.0  # times as long as removing for ever


def main() -> None:
    """Measure, print the table, and exit with 1 if the bar is missed."""
    parser = argparse.ArgumentParser(description="What the trash costs.")
    parser.add_argument("--identities", type=int, default=10_000, help="in each of the figures, over all rounds")
    parser.add_argument("--cookies", type=int, default=20, help="of each identity")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--profile", help="an address, for example of PostgreSQL. Default: a new file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hatbox-benchmark-") as folder:
        address = options.profile or str(Path(folder) / "profile.db")
        figures = asyncio.run(measure(address, options.identities, options.cookies, options.rounds))
    plain, _ = figures["remove for ever"]
    table = Table("", "µs of CPU for each", "times", "bar", "µs elapsed")
    for name, (cpu, elapsed) in figures.items():
        table.add_row(name, f"{cpu:.0f}", f"{cpu / plain:.2f}", "" if cpu is plain else f"{BAR:g}", f"{elapsed:.0f}")
    Console(width=100).print(table)
    sys.exit(int(any(cpu > BAR * plain for cpu, _ in figures.values())))


async def measure(address: str, identities: int, cookies: int, rounds: int) -> dict[str, tuple[float, float]]:
    """The medians of the rounds, in microseconds for each identity: CPU time, elapsed time."""
    taken: dict[str, list[tuple[float, float]]] = {"remove for ever": [], "remove to the trash": [], "restore": []}
    async with hatbox.open(address) as profile:
        await profile.set_settings(trash_bytes=2**40)
        others = [await fill(profile, identities // rounds, cookies) for _ in range(rounds)]
        for ids in others:  # half of them are in the trash meanwhile, and half are not
            await remove(profile, ids[::2], forever=False)
        for _ in range(rounds):
            plain, ids = [await fill(profile, identities // rounds, cookies) for _ in range(2)]
            await settle(profile)
            taken["remove for ever"].append(await timed(remove(profile, plain, forever=True), len(plain)))
            await settle(profile)
            taken["remove to the trash"].append(await timed(remove(profile, ids, forever=False), len(ids)))
            await settle(profile)
            taken["restore"].append(await timed(profile.trash.restore(ids), len(ids)))
            await remove(profile, ids, forever=True)
    return {
        name: (statistics.median(cpu for cpu, _ in each), statistics.median(elapsed for _, elapsed in each))
        for name, each in taken.items()
    }


async def timed(work: Awaitable[object], count: int) -> tuple[float, float]:
    """Microseconds for each of so many: CPU time, elapsed time."""
    cpu, started = time.process_time(), time.perf_counter()
    await work
    return (time.process_time() - cpu) / count * 1e6, (time.perf_counter() - started) / count * 1e6


async def remove(profile: hatbox.Profile, ids: Sequence[str], *, forever: bool) -> None:
    """Remove identities, all at once."""
    await asyncio.gather(*(profile.identities.remove(each, forever=forever) for each in ids))


async def settle(profile: hatbox.Profile) -> None:
    """Wait until the store has pruned its log and truncated its files."""
    await profile.store.deliver_pending_changes()
    await asyncio.sleep(1.5)


async def fill(profile: hatbox.Profile, count: int, cookies: int) -> list[str]:
    """Create identities with cookies; returns their ids."""

    def put(transaction: Transaction) -> list[str]:
        ids = []
        for number in range(count):
            identity = create(transaction, f"Client {number}", "blue", "briefcase")
            transaction.cookies.put(container_user_context_id(identity.cookie_store_id) or 0, _rows(cookies))
            ids.append(identity.cookie_store_id)
        return ids

    return await profile.store.write(put)


def _rows(cookies: int) -> list[CookieRow]:
    return [
        (f"site{each}.example", 1, "/", f"session{each}", "", "v" * 32, 1, 1, "lax", 4e9, each, 1.7e9, 1.7e9)
        for each in range(cookies)
    ]


if __name__ == "__main__":
    main()
