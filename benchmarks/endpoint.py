"""A Playwright program of 200 steps: through an endpoint, and directly through a debugging port.

    python -m benchmarks.endpoint [--runs 5]

Both browsers run at the same time, and the runs alternate, so that both see the same load of the machine.
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
from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization, authorize_token
from hatbox.engines.chromium.launch import find_browser, flags
from tests.site import Site

GOTO, CLICK, EVALUATE = 20, 100, 80
BAR = 1.35


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


async def other_identity(runner: Any, site: Site) -> float:
    """Seconds to open a page of another identity."""
    started = time.perf_counter()
    page = await runner.new_page("Personal", site.url("/page/2"))
    seconds = time.perf_counter() - started
    await page.close()
    return seconds


async def measure(runs: int, folder: Path, site: Site) -> None:
    """Print the medians and the bar."""
    command = [str(find_browser()), *flags(headless=True)[0], "--headless=new", "--no-sandbox", "--disable-gpu"]
    options = ["--remote-debugging-port=0", f"--user-data-dir={folder / 'direct'}", "about:blank"]
    direct_times, endpoint_times, alone, beside = [], [], [], []
    with subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL) as process:  # noqa: ASYNC220
        port_file = folder / "direct" / "DevToolsActivePort"
        while not (port_file.exists() and "\n" in port_file.read_text()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        port = port_file.read_text().splitlines()[0]
        async with hatbox.open(folder / "profile.db") as profile, profile.chromium(headless=True) as runner:
            endpoint = await runner.open_endpoint("Work", authorize_token("token", TokenAuthorization()))
            await other_identity(runner, site)
            alone = [await other_identity(runner, site) for _ in range(runs)]
            async with async_playwright() as playwright:
                direct = await playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
                through = await playwright.chromium.connect_over_cdp(endpoint.url("token"))
                await asyncio.gather(program(direct, site), program(through, site))  # both are warm
                for _ in range(runs):
                    direct_times.append(await program(direct, site))
                    endpoint_times.append(await program(through, site))
                    beside.append(await other_identity(runner, site))
        process.kill()
    first, second = statistics.median(direct_times), statistics.median(endpoint_times)
    console = Console()
    console.print(f"200 steps, median of {runs}: debugging port {first:.2f} s, endpoint {second:.2f} s")
    without, with_client = statistics.median(alone) * 1000, statistics.median(beside) * 1000
    console.print(f"A new page of another identity: {without:.0f} ms, with a client connected {with_client:.0f} ms")
    console.print(bars_table([("endpoint / debugging port", second / first, "<=", BAR)]))


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with Site() as site, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asyncio.run(measure(runs, Path(folder), site))


if __name__ == "__main__":
    main()
