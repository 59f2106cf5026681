"""A Playwright program of 200 steps: through an endpoint, and directly through a debugging port. And what another
identity notices of it: a new page without and with a client that is connected.

    python -m benchmarks.endpoint [--runs 5]

The endpoint is `hatbox endpoint` in a process of its own. Both browsers run at the same time, and the programs take
turns, so that all see the same load of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright
from rich.console import Console

import hatbox
from benchmarks.bars import bars_table
from hatbox.engines.chromium.launch import find_browser, flags
from tests.site import Site

GOTO, CLICK, EVALUATE = 20, 100, 80
PAGES = 3  # of another identity, in each run
BAR, OTHERS_BAR = 1.35, 1.2


async def programs(browsers: list[Browser], site: Site) -> list[float]:
    """Seconds of 200 steps in a new page of the first context of each browser.

    The programs take turns, ten steps at a time and each first in half of them, so that all see the same load.
    """
    pages = [await browser.contexts[0].new_page() for browser in browsers]
    seconds = [0.0] * len(pages)
    for number in range(GOTO):
        order = range(len(pages)) if number % 2 else reversed(range(len(pages)))
        for each in order:
            started = time.perf_counter()
            await steps(pages[each], site)
            seconds[each] += time.perf_counter() - started
    for page in pages:
        await page.close()
    return seconds


async def steps(page: Page, site: Site) -> None:
    """One load, and its part of the clicks and evaluations."""
    await page.goto(site.url("/page/1"))
    await page.evaluate("document.body.innerHTML = '<button>add</button>'; globalThis.count = 0;")
    await page.evaluate("document.querySelector('button').onclick = () => { count++ }")
    for _ in range(CLICK // GOTO):
        await page.click("button")
    for _ in range(EVALUATE // GOTO - 2):
        await page.evaluate("globalThis.count")


async def other_identity(runner: Any, site: Site) -> list[float]:
    """Seconds to open pages of another identity, one after the other."""
    times = []
    for _ in range(PAGES):
        started = time.perf_counter()
        page = await runner.new_page("Personal", site.url("/page/2"))
        times.append(time.perf_counter() - started)
        await page.close()
    return times


@asynccontextmanager
async def debugging_port(folder: Path) -> AsyncIterator[str]:
    """The address of a Chromium with a debugging port."""
    command = [str(find_browser()), *flags(headless=True)[0], "--headless=new", "--no-sandbox", "--disable-gpu"]
    options = ["--remote-debugging-port=0", f"--user-data-dir={folder / 'direct'}", "about:blank"]
    process = await asyncio.create_subprocess_exec(*command, *options, stderr=subprocess.DEVNULL)
    try:
        port_file = folder / "direct" / "DevToolsActivePort"
        while not (port_file.exists() and "\n" in port_file.read_text()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port_file.read_text().splitlines()[0]}"
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def endpoint_command(profile: Path) -> AsyncIterator[str]:
    """The address of `hatbox endpoint`, in a process of its own."""
    command = [sys.executable, "-m", "hatbox", "endpoint", "Work", "--headless", "--profile", str(profile)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


async def measure_programs(runs: int, folder: Path, site: Site) -> tuple[float, float]:
    """The medians of the debugging port and of the endpoint."""
    profile = folder / "endpoint.db"
    async with hatbox.open(profile):
        pass
    async with (
        debugging_port(folder) as port,
        endpoint_command(profile) as url,
        async_playwright() as playwright,
    ):
        browsers = [await playwright.chromium.connect_over_cdp(each) for each in (port, url)]
        await programs(browsers, site)  # warms up both
        times = [await programs(browsers, site) for _ in range(runs)]
    direct, endpoint = zip(*times, strict=True)
    return statistics.median(direct), statistics.median(endpoint)


async def measure_others(runs: int, folder: Path, site: Site) -> tuple[float, float]:
    """The medians of a new page of another identity, without and with a client."""
    alone: list[float] = []
    beside: list[float] = []
    async with (
        hatbox.open(folder / "others.db") as profile,
        profile.chromium(headless=True) as runner,
        async_playwright() as playwright,
    ):
        endpoint = await runner.open_endpoint("Work")
        _, token = await profile.grants.create(identities="Work", actions=["pages", "cookieValues"])
        await other_identity(runner, site)
        for _ in range(runs):
            alone += await other_identity(runner, site)
            client = await playwright.chromium.connect_over_cdp(endpoint.url(token))
            beside += await other_identity(runner, site)
            await client.close()
    return statistics.median(alone), statistics.median(beside)


async def measure(runs: int, folder: Path, site: Site) -> None:
    """Print the medians and the bars."""
    direct, endpoint = await measure_programs(runs, folder, site)
    alone, beside = await measure_others(runs, folder, site)
    console = Console()
    console.print(f"200 steps, median of {runs}: debugging port {direct:.2f} s, endpoint {endpoint:.2f} s")
    shown = f"{alone * 1000:.0f} ms, with a client connected {beside * 1000:.0f} ms"
    console.print(f"A new page of another identity, median of {runs * PAGES}: {shown}")
    bars = [
        ("endpoint / debugging port", endpoint / direct, "<=", BAR),
        ("new page of another identity, with / without a client", beside / alone, "<=", OTHERS_BAR),
    ]
    console.print(bars_table(bars))


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with Site() as site, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asyncio.run(measure(runs, Path(folder), site))


if __name__ == "__main__":
    main()
