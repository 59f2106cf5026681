"""A killed host: changes made in its browser are in the profile, and its browser ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import hatbox
from tests.engines.chromium.real import WITHIN, value, with_browser
from tests.site import Site
from tests.waiting import until_awaited

ROOT = Path(__file__).parents[3]

HOST = """
import asyncio, json, sys
import hatbox
from tests.engines.chromium.real import browser_process

async def main(path, browser, keep, *urls):
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", urls[0], keep=keep == "keep")
        for url in urls[1:]:
            await page.goto(url)
            await page.wait_for_function("document.title !== 'Storage'")
        print(json.dumps(await browser_process(runner)), flush=True)
        await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


@contextlib.contextmanager
def start(*arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", HOST, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as host:
        try:
            yield host
        finally:
            host.kill()


def is_running(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@with_browser
async def test_a_killed_host_loses_neither_the_login_nor_site_data(browser: str, path: Path, site: Site) -> None:
    urls = [site.url("/login", user="Work"), site.url("/storage", write="V"), site.url("/page/1")]
    with start(path, browser, "keep", *urls) as host:
        chromium = json.loads(await asyncio.to_thread(host.stdout.readline))  # type: ignore[union-attr]
        async with hatbox.open(path) as profile:
            await until_awaited(lambda: value(profile, "Work", "session"))

            async def is_saved() -> bool:
                rows = await profile.tabs.read(lambda each: each.site_data.load(2))
                tabs = await profile.tabs.query("Work")
                return any(b"V" in data for _, data in rows) and tabs[0].title == "Page 1"

            await until_awaited(is_saved)
            os.kill(host.pid, signal.SIGKILL)
            await asyncio.to_thread(host.wait, WITHIN)

            async def has_ended() -> bool:
                return not is_running(chromium)

            await until_awaited(has_ended)
            async with profile.chromium(headless=True, browser=browser) as runner:
                (tab,) = await profile.tabs.query("Work")
                page = await runner.page(tab.id)
                assert await page.title() == "Page 1"
                await page.goto(site.url("/me"))
                assert await page.title() == "Signed in as Work"
                await page.goto(site.url("/storage"))
                await page.wait_for_function("document.title === 'local V, indexed V'")
