"""What a background page in Chromium costs: an awaited call against a bare Runtime.evaluate, its start against Deno.

    python -m benchmarks.background_pages [--rounds 20]

The figures of each bar are measured by turns in one run. Only their ratios mean something on another machine.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

import hatbox
from benchmarks.bars import Bar, bars_table
from hatbox.extensions.background_place import BACKGROUND_PLACES
from hatbox.extensions.extension import Extension
from hatbox.extensions.pages.background_page import BackgroundPage

MANIFEST = """{"manifest_version": 2, "name": "Page", "version": "1", "permissions": ["storage"],
  "browser_specific_settings": {"gecko": {"id": "page@site.example"}}, "background": {"page": "page.html"}}"""
CALLS = 25
AWAITED = f"""(async () => {{
    const times = [];
    for (let i = 0; i < {CALLS}; i++) {{
        const start = performance.now();
        await browser.runtime.getPlatformInfo();
        times.push(performance.now() - start);
    }}
    return times;
}})()"""
AT_ONCE = """(async () => {
    const start = performance.now();
    await Promise.all(Array.from({length: 1000}, () => browser.runtime.getPlatformInfo()));
    return performance.now() - start;
})()"""


def main() -> None:
    """Print the figures and the bars, and exit with 1 if a bar is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    bars = asyncio.run(measure(parser.parse_args().rounds))
    Console().print(bars_table(bars))
    sys.exit(any(ratio > bar for _, ratio, _, bar in bars))


async def measure(rounds: int) -> list[Bar]:
    """Measure in a new profile, with a headless Chromium."""
    with tempfile.TemporaryDirectory() as folder:
        page = write_extension(Path(folder, "page"))
        async with hatbox.open(Path(folder, "profile.db")) as profile, profile.chromium(headless=True):
            extension = await profile.extensions.start(page)
            bars = await measure_calls(extension, rounds)
            await profile.extensions.stop(extension)
            for place in BACKGROUND_PLACES * 3:
                start = time.perf_counter()
                extension = await profile.extensions.start(page, background=place)
                print(f"start in {place}: {(time.perf_counter() - start) * 1000:.0f} ms")
                await profile.extensions.stop(extension)
            return bars


def write_extension(folder: Path) -> Path:
    """An extension with an empty background page."""
    folder.mkdir()
    (folder / "manifest.json").write_text(MANIFEST)
    (folder / "page.html").write_text("<!doctype html><script src=page.js></script>")
    (folder / "page.js").write_text("")
    return folder


async def measure_calls(extension: Extension, rounds: int) -> list[Bar]:
    """Measure awaited calls and bare evaluations by turns."""
    page = extension.runtime
    assert isinstance(page, BackgroundPage)
    bare: list[float] = []
    awaited: list[float] = []
    at_once: list[float] = []
    for _ in range(rounds):
        for _ in range(CALLS):
            start = time.perf_counter()
            await page.session.send("Runtime.evaluate", {"expression": "1"})
            bare.append((time.perf_counter() - start) * 1000)
        awaited += await extension.evaluate(AWAITED)
        at_once.append(await extension.evaluate(AT_ONCE))
    evaluate, call = statistics.median(bare), statistics.median(awaited)
    print(f"Runtime.evaluate {evaluate:.2f} ms, awaited call {call:.2f} ms")
    print(f"1,000 calls at once {statistics.median(at_once):.0f} ms")
    return [("awaited call of a background page / bare Runtime.evaluate", call / evaluate, "<=", 2)]


if __name__ == "__main__":
    main()
