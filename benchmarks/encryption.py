"""What encryption costs: the same calls on a plain and on an encrypted SQLite profile, in turn, in one run.

    python -m benchmarks.encryption [--rounds 7]

Times are the best of several rounds; only their ratios mean something on another machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter

import hatbox
from hatbox.maintenance import Key, change_profile_key
from hatbox.store.base import Transaction

COOKIES = 3000  # about as many as a store can have
CALLS = 100
VALUE = "v" * 100
NAMES = ("plain", "encrypted")


def main() -> None:
    """Print a table of all calls."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    for name in ("HATBOX_KEY", "HATBOX_KEY_FILE"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder), rounds))


async def run(folder: Path, rounds: int) -> None:
    """Measure each call in turn on both profiles."""
    key = Key.generate()
    paths = {name: folder / f"{name}.db" for name in NAMES}
    for path in paths.values():
        async with hatbox.open(path) as profile:
            await profile.store.write(fill)
    started = perf_counter()
    change_profile_key(paths["encrypted"], None, key)
    print(f"encrypt {COOKIES} cookies: {(perf_counter() - started) * 1000:.0f} ms")
    best: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        for name, path in paths.items():
            if name == "encrypted":
                os.environ["HATBOX_KEY"] = key.text
            async with hatbox.open(path) as profile:
                for label, (count, call) in CASES.items():
                    started = perf_counter()
                    await call(profile)
                    seconds = (perf_counter() - started) / count
                    best[label, name] = min(best.get((label, name), seconds), seconds)
            os.environ.pop("HATBOX_KEY", None)
    print(f"{'':36} {'plain':>10} {'encrypted':>10} {'ratio':>6}")
    for label in CASES:
        plain, encrypted = (best[label, name] * 1e6 for name in NAMES)
        print(f"{label:36} {plain:8.1f} µs {encrypted:8.1f} µs {encrypted / plain:6.2f}")


def fill(transaction: Transaction) -> None:
    """Fill the store of the identity 2."""
    transaction.cookies.put(2, [row(number, "/") for number in range(COOKIES)])


def row(number: int, path: str) -> tuple[str, int, str, str, str, str, int, int, str, float, int, float, float]:
    """One cookie."""
    return (f"{number}.example", 1, path, "session", "", VALUE, 1, 1, "lax", 2e9, number, 1e9, 1e9)


async def load(profile: hatbox.Profile) -> None:
    """Load all cookies of a store."""
    assert len(await profile.store.read(lambda each: each.cookies.load(2))) == COOKIES


async def put_one(profile: hatbox.Profile) -> None:
    """Store cookies, each in a commit with a row in the change log."""

    def work(transaction: Transaction) -> None:
        transaction.cookies.put(3, [row(1, "/")])
        transaction.changes.append("topic", b'"changed"')

    for _ in range(CALLS):
        await profile.store.write(work)


async def put_many(profile: hatbox.Profile) -> None:
    """Store cookies in one commit."""
    await profile.store.write(lambda each: each.cookies.put(4, [row(number, "/") for number in range(COOKIES)]))


async def get_identity(profile: hatbox.Profile) -> None:
    """Read what is not encrypted."""
    for _ in range(CALLS):
        await profile.identities.get("firefox-container-2")


CASES: dict[str, tuple[int, Callable[[hatbox.Profile], Awaitable[None]]]] = {
    "load a cookie": (COOKIES, load),
    "store a cookie, with its commit": (CALLS, put_one),
    "store a cookie, 3000 in a commit": (COOKIES, put_many),
    "get an identity": (CALLS, get_identity),
}


if __name__ == "__main__":
    main()
