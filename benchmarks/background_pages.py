"""What a background page in Chromium costs: an awaited call against a bare Runtime.evaluate, its start against Deno.

    python -m benchmarks.background_pages

The two sides of each figure take turns in one run.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from benchmarks.extension_folder import write_extension
from hatbox.extensions.background_place import BACKGROUND_PLACES
from hatbox.extensions.extension import Extension
from hatbox.extensions.pages.background_page import BackgroundPage

FILES = {"page.html": "<!doctype html><script src=page.js></script>", "page.js": ""}
AWAITED = """(async () => {
    const times = [];
    for (let i = 0; i < %d; i++) {
        const start = performance.now();
        await browser.runtime.getPlatformInfo();
        times.push(performance.now() - start);
    }
    return times;
})()"""
AT_ONCE = """(async () => {
    const start = performance.now();
    await Promise.all(Array.from({length: 1000}, () => browser.runtime.getPlatformInfo()));
    return performance.now() - start;
})()"""


async def measure(folder: Path, rounds: int, calls: int, starts: int) -> Measured:
    """Measure in a new profile, with a headless Chromium."""
    path = write_extension(folder / "page", FILES, permissions=["storage"], background={"page": "page.html"})
    times: dict[str, list[float]] = {place: [] for place in BACKGROUND_PLACES}
    async with hatbox.open(folder / "profile.db") as profile, profile.chromium(headless=True):
        extension = await profile.extensions.start(path)
        figures = await measure_calls(extension, rounds, calls)
        await profile.extensions.stop(extension)
        for place in BACKGROUND_PLACES * starts:
            start = time.perf_counter()
            extension = await profile.extensions.start(path, background_place=place)
            times[place].append((time.perf_counter() - start) * 1000)
            await profile.extensions.stop(extension)
    return {**figures, **{f"start of a background in {place}": min(each) for place, each in times.items()}}


async def measure_calls(extension: Extension, rounds: int, calls: int) -> dict[str, float | tuple[float, float]]:
    """Measure awaited calls and bare evaluations by turns."""
    page = extension.runtime
    assert isinstance(page, BackgroundPage)
    bare: list[float] = []
    awaited: list[float] = []
    at_once: list[float] = []
    for _ in range(rounds):
        for _ in range(calls):
            start = time.perf_counter()
            await page.session.send("Runtime.evaluate", {"expression": "1"})
            bare.append((time.perf_counter() - start) * 1000)
        awaited += await extension.evaluate(AWAITED % calls)
        at_once.append(await extension.evaluate(AT_ONCE))
    return {
        "awaited call of a background page": (statistics.median(awaited), statistics.median(bare)),
        "1,000 calls of a background page at once": statistics.median(at_once),
    }


BENCHMARK = Benchmark(
    measure,
    [
        Figure("awaited call of a background page", "ms", "Runtime.evaluate", at_most=2),
        Figure("1,000 calls of a background page at once", "ms"),
        *(Figure(f"start of a background in {place}", "ms") for place in BACKGROUND_PLACES),
    ],
    rounds=(20, 1),
    calls=(25, 2),
    starts=(3, 1),
)

if __name__ == "__main__":
    BENCHMARK.main()
