"""What removing to the trash and restoring cost, beside removing for ever: `python -m benchmarks.trash`.

One run: identities with cookies are removed for ever, removed to the trash, and restored, in turns, so that a noisy
neighbour hits all alike. All calls of one turn are in flight together, as in a program that removes many.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
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
    plain = figures["remove for ever"]
    table = Table("", "µs for each", "times", "bar")
    for name, figure in figures.items():
        table.add_row(name, f"{figure:.0f}", f"{figure / plain:.2f}", "" if figure is plain else f"{BAR:g}")
    Console(width=100).print(table)
    sys.exit(int(any(figure > BAR * plain for figure in figures.values())))


async def measure(address: str, identities: int, cookies: int, rounds: int) -> dict[str, float]:
    """The median of the rounds, in microseconds for each identity."""
    taken: dict[str, list[float]] = {"remove for ever": [], "remove to the trash": [], "restore": []}
    async with hatbox.open(address) as profile:
        await profile.set_settings(trash_bytes=2**40)
        others = [await fill(profile, identities // rounds, cookies) for _ in range(rounds)]
        for ids in others:  # half of them are in the trash meanwhile, and half are not
            await removing(profile, ids[::2], forever=False)
        for _ in range(rounds):
            plain, ids = [await fill(profile, identities // rounds, cookies) for _ in range(2)]
            await settle(profile)
            taken["remove for ever"].append(await removing(profile, plain, forever=True))
            await settle(profile)
            taken["remove to the trash"].append(await removing(profile, ids, forever=False))
            await settle(profile)
            started = time.perf_counter()
            await profile.trash.restore(ids)
            taken["restore"].append((time.perf_counter() - started) / len(ids))
            await removing(profile, ids, forever=True)
    return {name: statistics.median(figures) * 1e6 for name, figures in taken.items()}


async def removing(profile: hatbox.Profile, ids: Sequence[str], *, forever: bool) -> float:
    """Seconds for each identity."""
    started = time.perf_counter()
    await asyncio.gather(*(profile.identities.remove(each, forever=forever) for each in ids))
    return (time.perf_counter() - started) / len(ids)


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
