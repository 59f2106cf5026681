"""What removing to the trash and restoring cost, beside removing for ever: `python -m benchmarks.trash`.

Identities with cookies are removed for ever, removed to the trash, and restored, in turns. All calls of one turn are in
flight together, as in a program that removes many. The median of the rounds counts. The bar is for the CPU time of the
process, with all its threads: on a machine with other work, the elapsed time is mostly that of the others.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from hatbox.identities.changes import create
from hatbox.identity.ids import container_user_context_id
from hatbox.store.base import CookieRow, Transaction

FOREVER, TRASH, RESTORE = "remove for ever", "remove to the trash", "restore from the trash"


async def measure(folder: Path, identities: int, cookies: int, rounds: int, calm: float, profile: str) -> Measured:
    """The medians of the rounds, for each identity."""
    taken: dict[str, list[tuple[float, float]]] = {FOREVER: [], TRASH: [], RESTORE: []}
    async with hatbox.open(profile or folder / "profile.db") as opened:
        await opened.set_settings(trash_bytes=2**40)
        others = [await fill(opened, identities // rounds, cookies) for _ in range(rounds)]
        for ids in others:  # half of them are in the trash meanwhile, and half are not
            await remove(opened, ids[::2], forever=False)
        for _ in range(rounds):
            plain, ids = [await fill(opened, identities // rounds, cookies) for _ in range(2)]
            await settle(opened, calm)
            taken[FOREVER].append(await timed(remove(opened, plain, forever=True), len(plain)))
            await settle(opened, calm)
            taken[TRASH].append(await timed(remove(opened, ids, forever=False), len(ids)))
            await settle(opened, calm)
            taken[RESTORE].append(await timed(opened.trash.restore(ids), len(ids)))
            await remove(opened, ids, forever=True)
    medians = {name: [statistics.median(each) for each in zip(*times, strict=True)] for name, times in taken.items()}
    return {
        f"{name}, {kind}": (medians[name][place], medians[FOREVER][place])
        for name in (TRASH, RESTORE)
        for place, kind in enumerate(("CPU time", "elapsed"))
    }


async def timed(work: Awaitable[object], count: int) -> tuple[float, float]:
    """Microseconds for each of so many: CPU time, elapsed time."""
    cpu, started = time.process_time(), time.perf_counter()
    await work
    return (time.process_time() - cpu) / count * 1e6, (time.perf_counter() - started) / count * 1e6


async def remove(profile: hatbox.Profile, ids: Sequence[str], *, forever: bool) -> None:
    """Remove identities, all at once."""
    await asyncio.gather(*(profile.identities.remove(each, forever=forever) for each in ids))


async def settle(profile: hatbox.Profile, calm: float) -> None:
    """Wait until the store has pruned its log and truncated its files."""
    await profile.store.deliver_pending_changes()
    await asyncio.sleep(calm)


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


BENCHMARK = Benchmark(
    measure,
    [
        Figure(f"{TRASH}, CPU time", "µs", FOREVER, at_most=2),
        Figure(f"{RESTORE}, CPU time", "µs", FOREVER, at_most=2),
        Figure(f"{TRASH}, elapsed", "µs", FOREVER),
        Figure(f"{RESTORE}, elapsed", "µs", FOREVER),
    ],
    identities=(10_000, 4),  # in each of the figures, over all rounds
    cookies=(20, 2),
    rounds=(10, 1),
    calm=(1.5, 0.0),
    profile=("", ""),  # an address, for example of PostgreSQL
)

if __name__ == "__main__":
    BENCHMARK.main()
