"""A Playwright program of 200 steps: through an endpoint, and directly through a debugging port. And what another
identity notices of it: a new page without and with a client that is connected.

    python -m benchmarks.endpoint

The endpoint is `hatbox endpoint` in a process of its own. Both browsers run at the same time, and the programs take
turns, so that all see the same load of the machine.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from hatbox.engines.chromium.launch import find_browser, flags
from tests.site import Site

PAGES = 3  # of another identity, in each run


async def programs(browsers: list[Browser], site: Site, loads: int) -> list[float]:
    """Seconds of a program in a new page of the first context of each browser.

    The programs take turns, ten steps at a time and each first in half of them, so that all see the same load.
    """
    pages = [await browser.contexts[0].new_page() for browser in browsers]
    seconds = [0.0] * len(pages)
    for number in range(loads):
        order = range(len(pages)) if number % 2 else reversed(range(len(pages)))
        for each in order:
            started = time.perf_counter()
            await steps(pages[each], site)
            seconds[each] += time.perf_counter() - started
    for page in pages:
        await page.close()
    return seconds


async def steps(page: Page, site: Site) -> None:
    """A load, four evaluations and five clicks."""
    await page.goto(site.url("/page/1"))
    await page.evaluate("document.body.innerHTML = '<button>add</button>'; globalThis.count = 0;")
    await page.evaluate("document.querySelector('button').onclick = () => { count++ }")
    for _ in range(5):
        await page.click("button")
    for _ in range(2):
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


async def measure_programs(runs: int, loads: int, folder: Path, site: Site) -> tuple[float, float]:
    """The medians of the endpoint and of the debugging port."""
    profile = folder / "endpoint.db"
    async with hatbox.open(profile):
        pass
    async with (
        debugging_port(folder) as port,
        endpoint_command(profile) as url,
        async_playwright() as playwright,
    ):
        browsers = [await playwright.chromium.connect_over_cdp(each) for each in (port, url)]
        await programs(browsers, site, loads)  # warms up both
        times = [await programs(browsers, site, loads) for _ in range(runs)]
    direct, endpoint = zip(*times, strict=True)
    return statistics.median(endpoint), statistics.median(direct)


async def measure_others(runs: int, folder: Path, site: Site) -> tuple[float, float]:
    """The medians of a new page of another identity, with and without a client."""
    alone: list[float] = []
    beside: list[float] = []
    async with (
        hatbox.open(folder / "others.db") as profile,
        profile.chromium(headless=True) as runner,
        async_playwright() as playwright,
    ):
        endpoint = await runner.open_endpoint("Work")
        _, token = await profile.grants.create(
            identities="Work", actions=["pages", "cookieValues"], hosts=["<all_urls>"]
        )
        await other_identity(runner, site)
        for _ in range(runs):
            alone += await other_identity(runner, site)
            client = await playwright.chromium.connect_over_cdp(endpoint.url(token))
            beside += await other_identity(runner, site)
            await client.close()
    return statistics.median(beside), statistics.median(alone)


async def measure(folder: Path, runs: int, loads: int) -> Measured:
    """The medians."""
    with Site() as site:
        return {
            "a program of 200 steps": await measure_programs(runs, loads, folder, site),
            "a new page of another identity": await measure_others(runs, folder, site),
        }


BENCHMARK = Benchmark(
    measure,
    [
        Figure("a program of 200 steps", "s", "debugging port", at_most=1.35),
        Figure("a new page of another identity", "s", "without a client of the endpoint", at_most=1.2),
    ],
    runs=(5, 1),
    loads=(20, 1),  # each with nine more steps
)

if __name__ == "__main__":
    BENCHMARK.main()
