"""What the settings of an identity cost a request: its Cookie header alone, and with the settings, in one run.

    python -m benchmarks.settings

The bar: reading the settings costs at most a tenth of what the Cookie header costs.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from hatbox.clients.identity_binding import IdentityBinding
from hatbox.cookies.request_urls import parse_request_url


async def measure(folder: Path, rounds: int, calls: int) -> Measured:
    """Both, the best of the rounds."""
    url = parse_request_url("https://site.example/")
    async with hatbox.open(folder / "profile.db") as profile:
        await profile.identities.set_settings("Work", proxy="socks5://127.0.0.1:9050", locale="de-DE")
        store = await profile.cookie_store("Work")
        await store.receive([f"name{number}=value; Secure" for number in range(20)], url)
        binding = IdentityBinding(profile.identities, profile.cookies, "Work")
        times = [
            (await _time(lambda: binding.request_state(url), calls), await _time(lambda: binding.header(url), calls))
            for _ in range(rounds)
        ]
    both, header = (min(each) for each in zip(*times, strict=True))
    return {"Cookie header and settings": (both, header)}


async def _time(call: Callable[[], Awaitable[Any]], calls: int) -> float:
    """Microseconds of one call."""
    started = time.perf_counter()
    for _ in range(calls):
        await call()
    return (time.perf_counter() - started) / calls * 1e6


BENCHMARK = Benchmark(
    measure,
    [Figure("Cookie header and settings", "µs", "Cookie header", at_most=1.1)],
    rounds=(100, 1),
    calls=(200, 2),
)

if __name__ == "__main__":
    BENCHMARK.main()
