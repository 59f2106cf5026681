"""A Playwright program of 200 steps: through an endpoint, and directly through a debugging port. And what another
identity notices of it: a new page without and with a client that is connected.

    python -m benchmarks.endpoint [--runs 5]

Both browsers run at the same time, and the runs alternate, so that all see the same load of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, async_playwright
from rich.console import Console

import hatbox
from benchmarks.bars import bars_table
from hatbox.engines.chromium.launch import find_browser, flags
from tests.site import Site

GOTO, CLICK, EVALUATE = 20, 100, 80
PAGES = 3  # of another identity, in each run
BAR, OTHERS_BAR = 1.35, 1.2


async def program(browser: Browser, site: Site) -> float:
    """Seconds of 200 steps in a new page of the first context."""
    page = await browser.contexts[0].new_page()
    started = time.perf_counter()
    for _ in range(GOTO):
        await page.goto(site.url("/page/1"))
        await page.evaluate("document.body.innerHTML = '<button>add</button>'; globalThis.count = 0;")
        await page.evaluate("document.querySelector('button').onclick = () => { count++ }")
        for _ in range(CLICK // GOTO):
            await page.click("button")
        for _ in range(EVALUATE // GOTO - 2):
            await page.evaluate("globalThis.count")
    seconds = time.perf_counter() - started
    await page.close()
    return seconds


async def other_identity(runner: Any, site: Site) -> list[float]:
    """Seconds to open pages of another identity, one after the other."""
    times = []
    for _ in range(PAGES):
        started = time.perf_counter()
        page = await runner.new_page("Personal", site.url("/page/2"))
        times.append(time.perf_counter() - started)
        await page.close()
    return times


async def measure(runs: int, folder: Path, site: Site) -> None:
    """Print the medians and the bar."""
    command = [str(find_browser()), *flags(headless=True)[0], "--headless=new", "--no-sandbox", "--disable-gpu"]
    options = ["--remote-debugging-port=0", f"--user-data-dir={folder / 'direct'}", "about:blank"]
    direct_times: list[float] = []
    endpoint_times: list[float] = []
    alone: list[float] = []
    beside: list[float] = []
    with subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL) as process:  # noqa: ASYNC220
        port_file = folder / "direct" / "DevToolsActivePort"
        while not (port_file.exists() and "\n" in port_file.read_text()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        port = port_file.read_text().splitlines()[0]
        async with hatbox.open(folder / "profile.db") as profile, profile.chromium(headless=True) as runner:
            endpoint = await runner.open_endpoint("Work")
            _, token = await profile.grants.create(identities="Work", actions=["pages", "cookieValues"])
            await other_identity(runner, site)
            async with async_playwright() as playwright:
                direct = await playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
                for number in range(runs + 1):
                    without = await other_identity(runner, site)
                    through = await playwright.chromium.connect_over_cdp(endpoint.url(token))
                    with_client = await other_identity(runner, site)
                    pair = await program(direct, site), await program(through, site)
                    await through.close()
                    if number:  # the first run warms up both browsers
                        direct_times.append(pair[0])
                        endpoint_times.append(pair[1])
                        alone += without
                        beside += with_client
        process.kill()
    first, second = statistics.median(direct_times), statistics.median(endpoint_times)
    others, others_beside = statistics.median(alone), statistics.median(beside)
    console = Console()
    console.print(f"200 steps, median of {runs}: debugging port {first:.2f} s, endpoint {second:.2f} s")
    shown = f"{others * 1000:.0f} ms, with a client connected {others_beside * 1000:.0f} ms"
    console.print(f"A new page of another identity, median of {len(alone)}: {shown}")
    bars = [
        ("endpoint / debugging port", second / first, "<=", BAR),
        ("new page of another identity, with / without a client", others_beside / others, "<=", OTHERS_BAR),
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
