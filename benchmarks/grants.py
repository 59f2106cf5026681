"""Grants: a check of a grant from the cache, against an empty function call in the same run.

    python -m benchmarks.grants

A running connection checks its grant for each call. Times are CPU time, the best of several rounds. The profile has
1,000 grants, and the process has verified all of them. Then cookies.getAll() of the API with a grant, against the
same call of a script with permissions: 10 cookies. The last line is the time from a revocation in one open profile
until a connection ends in another one, through the change log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Final

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from hatbox.api.browser import Browser

API_COOKIES: Final = 10


def empty(grant_id: str) -> str:
    """The peer."""
    return grant_id


def per_call(function: Callable[[str], object], ids: Sequence[str], rounds: int, calls: int) -> float:
    """The CPU time of one call, in microseconds: the best of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = process_time()
        for _ in range(calls):
            for each in ids:
                function(each)
        best = min(best, process_time() - start)
    return best / calls / len(ids) * 1e6


async def per_api_call(browser: Browser, store: str, calls: int) -> float:
    """The CPU time of one call of the API, in microseconds."""
    start = process_time()
    for _ in range(calls):
        await browser.cookies.getAll({"storeId": store})
    return (process_time() - start) / calls * 1e6


async def api_calls(profile: hatbox.Profile, rounds: int, calls: int) -> tuple[float, float]:
    """The time of a call with a grant, and of one with permissions, in microseconds."""
    store = (await profile.identities.find("Work")).cookie_store_id
    script = profile.browser(["cookies", "<all_urls>"])
    for number in range(API_COOKIES):
        await script.cookies.set({"url": "https://site.example/", "name": f"c{number}", "value": "1", "storeId": store})
    _, token = await profile.grants.create(identities="Work", hosts=["*.site.example"], actions=["cookieValues"])
    granted = await profile.browser(grant=token)
    times = [
        (await per_api_call(granted, store, calls), await per_api_call(script, store, calls)) for _ in range(rounds)
    ]
    return min(each[0] for each in times), min(each[1] for each in times)


async def revocation_seconds(here: hatbox.Profile, there: hatbox.Profile, revocations: int) -> float:
    """The time until a connection ends in another profile object, as it would in another process."""
    seconds = []
    for _ in range(revocations):
        grant, token = await here.grants.create(identities="Work", duration=None)
        await there.grants.verify(token)
        ended = there.grants.ended(grant.id)
        start = perf_counter()
        await here.grants.revoke(grant.id)
        await ended
        seconds.append(perf_counter() - start)
    return median(seconds)


async def measure(folder: Path, grants: int, rounds: int, calls: int, revocations: int) -> Measured:
    """All figures."""
    path = folder / "profile.db"
    async with hatbox.open(path) as here, hatbox.open(path) as there:
        revoking = await revocation_seconds(here, there, revocations)
        made = [here.grants.create(identities="Work", duration=3600) for _ in range(grants)]
        ids = [grant.id for grant, _ in await asyncio.gather(*made)]
        api = await api_calls(here, rounds, 2 * calls)
        check = per_call(here.grants.check, ids, rounds, calls)
        return {
            "check of a grant": check,
            "check of a grant, to an empty function": (check, per_call(empty, ids, rounds, calls)),
            "cookies.getAll with a grant": api,
            "from a revocation to the end of a connection elsewhere": revoking,
        }


BENCHMARK = Benchmark(
    measure,
    [
        Figure("check of a grant", "µs", at_most=5),
        Figure("check of a grant, to an empty function", "µs", "empty function"),
        Figure("cookies.getAll with a grant", "µs", "with permissions"),
        Figure("from a revocation to the end of a connection elsewhere", "s", at_most=1),
    ],
    grants=(989, 3),  # with the others in the profile, 1,000
    rounds=(7, 1),
    calls=(100, 2),  # of each grant in a round
    revocations=(10, 1),
)

if __name__ == "__main__":
    BENCHMARK.main()
