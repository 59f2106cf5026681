"""What the settings of an identity cost a request: its Cookie header alone, and with the settings, in one run.

    python -m benchmarks.settings

The bar: reading the settings costs at most a tenth of what the Cookie header costs.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import hatbox
from hatbox.clients.identity_binding import IdentityBinding
from hatbox.cookies.request_urls import parse_request_url

CALLS: Final = 200
ROUNDS: Final = 100
BAR: Final = 0.1


async def measure() -> int:
    """Print the cost of both, and return whether the bar is met."""
    url = parse_request_url("https://site.example/")
    with tempfile.TemporaryDirectory() as folder:
        async with hatbox.open(Path(folder) / "profile.db") as profile:
            await profile.identities.set_settings("Work", proxy="socks5://127.0.0.1:9050", locale="de-DE")
            store = await profile.cookie_store("Work")
            await store.receive([f"name{number}=value; Secure" for number in range(20)], url)
            binding = IdentityBinding(profile.identities, profile.cookies, "Work")
            rounds = [
                (await _time(lambda: binding.header(url)), await _time(lambda: binding.request_state(url)))
                for _ in range(ROUNDS)
            ]
    header, both = (min(times) for times in zip(*rounds, strict=True))
    ratio = both / header - 1
    print(f"Cookie header {header * 1e6:.1f} µs, with settings {both * 1e6:.1f} µs: {ratio:+.1%} (bar: {BAR:.0%})")
    return int(ratio > BAR)


async def _time(call: Callable[[], Awaitable[Any]]) -> float:
    started = time.perf_counter()
    for _ in range(CALLS):
        await call()
    return (time.perf_counter() - started) / CALLS


if __name__ == "__main__":
    sys.exit(asyncio.run(measure()))
