"""Grants: a check of a grant from the cache, against an empty function call in the same run.

    python -m benchmarks.grants

A running connection checks its grant for each call. Times are CPU time, the best of several rounds. The profile has
1,000 grants, and the process has verified all of them. Then cookies.getAll() of the API with a grant, against the
same call of a script with permissions: 10 cookies. The last line is the time from a revocation in one open profile
until a connection ends in another one, through the change log.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Final

from rich.console import Console

import hatbox
from benchmarks.bars import Bar, bars_table
from hatbox.api.browser import Browser

GRANTS: Final = 1000
ROUNDS: Final = 7
CALLS: Final = 100  # of each grant in a round
REVOCATIONS: Final = 10
API_CALLS: Final = 200  # in a round
API_COOKIES: Final = 10
MAX_MICROSECONDS: Final = 5.0
MAX_SECONDS: Final = 1.0


def empty(grant_id: str) -> str:
    """The peer."""
    return grant_id


def per_call(function: Callable[[str], object], ids: Sequence[str]) -> float:
    """The CPU time of one call, in microseconds: the best of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = process_time()
        for _ in range(CALLS):
            for each in ids:
                function(each)
        best = min(best, process_time() - start)
    return best / CALLS / len(ids) * 1e6


async def per_api_call(browser: Browser, store: str) -> float:
    """The CPU time of one call of the API, in microseconds."""
    start = process_time()
    for _ in range(API_CALLS):
        await browser.cookies.getAll({"storeId": store})
    return (process_time() - start) / API_CALLS * 1e6


async def api_calls(profile: hatbox.Profile) -> tuple[float, float]:
    """The time of a call with a grant, and of one with permissions, in microseconds."""
    store = (await profile.identities.find("Work")).cookie_store_id
    script = profile.browser(["cookies", "<all_urls>"])
    for number in range(API_COOKIES):
        await script.cookies.set({"url": "https://site.example/", "name": f"c{number}", "value": "1", "storeId": store})
    _, token = await profile.grants.create(identities="Work", hosts=["*.site.example"], actions=["cookieValues"])
    granted = await profile.browser(grant=token)
    rounds = [(await per_api_call(granted, store), await per_api_call(script, store)) for _ in range(ROUNDS)]
    return min(each[0] for each in rounds), min(each[1] for each in rounds)


async def revocation_seconds(here: hatbox.Profile, there: hatbox.Profile) -> float:
    """The time until a connection ends in another profile object, as it would in another process."""
    seconds = []
    for _ in range(REVOCATIONS):
        grant, token = await here.grants.create(identities="Work", duration=None)
        await there.grants.verify(token)
        ended = there.grants.ended(grant.id)
        start = perf_counter()
        await here.grants.revoke(grant.id)
        await ended
        seconds.append(perf_counter() - start)
    return median(seconds)


async def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.db"
        async with hatbox.open(path) as here, hatbox.open(path) as there:
            revoking = await revocation_seconds(here, there)
            made = [here.grants.create(identities="Work", duration=3600) for _ in range(GRANTS - REVOCATIONS - 1)]
            ids = [grant.id for grant, _ in await asyncio.gather(*made)]
            granted, script = await api_calls(here)
            peer = per_call(empty, ids)
            check = per_call(here.grants.check, ids)
    console = Console()
    console.print(f"Check of a grant: {check:.2f} µs. An empty function: {peer:.2f} µs, {check / peer:.1f} times less.")
    console.print(f"cookies.getAll() with a grant: {granted:.0f} µs. With permissions: {script:.0f} µs.")
    console.print(f"From a revocation to the end of a connection elsewhere: {revoking * 1000:.0f} ms (median).")
    bars: list[Bar] = [
        ("a check from the cache, µs", check, "<=", MAX_MICROSECONDS),
        ("revocation elsewhere, s", revoking, "<=", MAX_SECONDS),
    ]
    console.print(bars_table(bars))


if __name__ == "__main__":
    asyncio.run(main())
