"""What encryption costs: the same calls on a plain and on an encrypted SQLite profile, in turn, in one run.

    python -m benchmarks.encryption

Times are the best of several rounds.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from hatbox.maintenance import Key, change_profile_key
from hatbox.store.base import CookieRow, Transaction

VALUE = "v" * 100
NAMES = ("plain", "encrypted")


async def measure(folder: Path, rounds: int, cookies: int, calls: int) -> Measured:
    """Measure each call in turn on both profiles."""
    for name in ("HATBOX_KEY", "HATBOX_KEY_FILE"):
        os.environ.pop(name, None)
    key = Key.generate()
    paths = {name: folder / f"{name}.db" for name in NAMES}
    rows = [row(number, "/") for number in range(cookies)]
    for path in paths.values():
        async with hatbox.open(path) as profile:
            await profile.store.write(lambda transaction: transaction.cookies.put(2, rows))
    started = perf_counter()
    change_profile_key(paths["encrypted"], None, key)
    encrypting = perf_counter() - started
    best: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        for name, path in paths.items():
            if name == "encrypted":
                os.environ["HATBOX_KEY"] = key.text
            async with hatbox.open(path) as profile:
                for label, call in CASES.items():
                    started = perf_counter()
                    count = await call(profile, rows, calls)
                    seconds = (perf_counter() - started) / count
                    best[label, name] = min(best.get((label, name), seconds), seconds)
            os.environ.pop("HATBOX_KEY", None)
    figures = {label: (best[label, "encrypted"] * 1e6, best[label, "plain"] * 1e6) for label in CASES}
    return {**figures, "encrypt a profile of 3,000 cookies": encrypting * 1e3}


def row(number: int, path: str) -> CookieRow:
    """One cookie."""
    return (f"{number}.example", 1, path, "session", "", VALUE, 1, 1, "lax", 2e9, number, 1e9, 1e9)


async def load(profile: hatbox.Profile, rows: list[CookieRow], _: int) -> int:
    """Load all cookies of a store."""
    assert len(await profile.store.read(lambda each: each.cookies.load(2))) == len(rows)
    return len(rows)


async def put_one(profile: hatbox.Profile, rows: list[CookieRow], calls: int) -> int:
    """Store cookies, each in a commit with a row in the change log."""

    def work(transaction: Transaction) -> None:
        transaction.cookies.put(3, rows[:1])
        transaction.changes.append("topic", b'"changed"')

    for _ in range(calls):
        await profile.store.write(work)
    return calls


async def put_many(profile: hatbox.Profile, rows: list[CookieRow], _: int) -> int:
    """Store cookies in one commit."""
    await profile.store.write(lambda each: each.cookies.put(4, rows))
    return len(rows)


async def get_identity(profile: hatbox.Profile, _rows: list[CookieRow], calls: int) -> int:
    """Read what is not encrypted."""
    for _ in range(calls):
        await profile.identities.get("firefox-container-2")
    return calls


CASES: dict[str, Callable[[hatbox.Profile, list[CookieRow], int], Awaitable[int]]] = {
    "load a cookie of 3,000": load,
    "store a cookie, with its commit": put_one,
    "store a cookie, 3,000 in a commit": put_many,
    "get an identity, which is not encrypted": get_identity,
}
"""What is measured. Each returns how often it was done."""

BENCHMARK = Benchmark(
    measure,
    [*(Figure(label, "µs", "plain profile") for label in CASES), Figure("encrypt a profile of 3,000 cookies", "ms")],
    rounds=(7, 1),
    cookies=(3000, 10),  # about as many as a store can have
    calls=(100, 2),
)

if __name__ == "__main__":
    BENCHMARK.main()
