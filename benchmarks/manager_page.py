"""The manager page: until it is interactive, until a change of another process is shown, and the memory of its server.

    python -m benchmarks.manager_page

The peers, in the same run: a static page with the same elements, style sheets and bytes of script, from a bare
Starlette with uvicorn; and the memory of that server. A change is timed from its commit in another process to the DOM.
With 10,000 identities, the list is scrolled, and a static list of the same cards (manager_scrolling.py).
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from asyncio.subprocess import PIPE, Process
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, Final

from playwright.async_api import Browser, Page, async_playwright

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from benchmarks.manager_scrolling import scroll_frames
from benchmarks.memory import memory_of
from hatbox.engines.chromium.launch import find_browser
from hatbox.identities.changes import create
from hatbox.ui.static_files import StaticFiles

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hatbox.store.base import Transaction

CARD: Final = "main [role=listitem]"
BARE_SERVER: Final = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles

async def echo(socket):
    await socket.accept()
    async for text in socket.iter_text():
        await socket.send_text(text)

app = Starlette(routes=[WebSocketRoute("/socket", echo), Mount("/", StaticFiles(directory=sys.argv[1], html=True))])
print("ready", flush=True)
uvicorn.run(app, port=int(sys.argv[2]), log_level="error")
"""
WRITER: Final = """
import asyncio, sys, time, hatbox

async def main():
    async with hatbox.open(sys.argv[1]) as profile:
        for line in sys.stdin:
            identity, name = line.split()
            await profile.identities.update(identity, name=name)
            print(time.time() * 1000, flush=True)

asyncio.run(main())
"""
# Notes when the page is interactive and when each name appears. Interactive: everything is loaded and the last card of
# the window is drawn, so that a click is handled at once. Both pages are measured in the same way.
OBSERVER: Final = f"""
const seen = globalThis.seenNames = new Map();
const drawn = () => requestAnimationFrame(() => setTimeout(() => {{ globalThis.interactive ??= performance.now(); }}));
const check = () => {{
  const cards = document.querySelectorAll("{CARD}");
  const isWhole = cards.length >= globalThis.expectedCards && document.readyState === "complete";
  if (isWhole && !globalThis.interactive) drawn();
  for (const card of cards) for (const [name] of card.textContent.matchAll(/changed-[0-9]+/g)) {{
    if (!seen.has(name)) seen.set(name, Date.now());
  }}
}};
new MutationObserver(check).observe(document, {{childList: true, subtree: true, characterData: true}});
addEventListener("load", () => setTimeout(check));
globalThis.until = find => new Promise(done => {{
  const timer = setInterval(() => {{ const found = find(); if (found) {{ clearInterval(timer); done(found); }} }}, 5);
}});
"""


async def measure(
    folder: Path, few: int, many: int, loads: int, changes: int, first_cards: int, frames: int
) -> Measured:
    """All figures."""
    figures = await _measure_few(folder, few, loads, changes)
    return {**figures, **await _measure_many(folder / "many.db", many, first_cards, frames)}


async def _measure_few(folder: Path, count: int, loads: int, changes: int) -> dict[str, float | tuple[float, float]]:
    ids = await _make_profile(folder / "profile.db", count)
    async with async_playwright() as playwright, _manager(folder / "profile.db") as (server, link):
        browser = await playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        page = await (await browser.new_context(viewport={"width": 1440, "height": 900})).new_page()
        await page.add_init_script(OBSERVER)
        await page.goto(link)
        await page.wait_for_selector(CARD)
        url = page.url
        (folder / "site").mkdir()
        await _write_static_page(folder / "site", page)
        async with _bare_server(folder / "site") as (bare, bare_url):
            interactive, static = await _loads(browser, page, url, bare_url, loads)
            delays = await _delays(folder / "profile.db", page, ids, changes)
            memory, bare_memory = memory_of([server.pid]), memory_of([bare.pid])
        await browser.close()
    return {
        "interactive": (median(interactive), median(static)),
        "a change of another process is shown, median": median(delays),
        "a change of another process is shown, 95 % within": quantiles(delays, n=20)[-1],
        "memory of the server": (memory / 1e6, bare_memory / 1e6),
    }


async def _measure_many(
    path: Path, count: int, first_cards: int, frames: int
) -> dict[str, float | tuple[float, float]]:
    """Scrolling, and the first card, with many identities."""
    await _make_profile(path, count)
    async with async_playwright() as playwright, _manager(path) as (_, link):
        browser = await playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        page = await (await browser.new_context(viewport={"width": 1440, "height": 900})).new_page()
        await page.goto(link)
        await page.wait_for_selector(CARD)
        url = page.url
        first = [await _first_card(browser, url, page) for _ in range(first_cards)]
        own, static = await scroll_frames(page, frames)
        await browser.close()
    return {
        "a frame while 10,000 identities scroll": (median(own), median(static)),
        "the first card with 10,000 identities": median(first) / 1000,
    }


async def _first_card(browser: Browser, url: str, opened: Page, cards: int = 1) -> float:
    """Milliseconds from the start of the navigation to the first cards, without anything cached."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    await context.add_cookies([_as_param(each) for each in await opened.context.cookies()])
    key = await opened.evaluate("sessionStorage.getItem('hatbox.key')")
    page = await context.new_page()
    await page.add_init_script(f"sessionStorage.setItem('hatbox.key', {json.dumps(key)});")
    await page.add_init_script(f"globalThis.expectedCards = {cards};{OBSERVER}")
    await page.goto(url)
    shown: float = await page.evaluate("until(() => globalThis.interactive)")
    await context.close()
    return shown


async def _make_profile(path: Path, count: int) -> list[str]:
    async with hatbox.open(path) as profile:
        await profile.store.write(lambda each: _create(each, count))
        return [each.cookie_store_id for each in await profile.identities.query()]


def _create(transaction: Transaction, count: int) -> None:
    for number in range(4, count):
        create(transaction, f"Account {number:05}", "blue", "fingerprint")


@asynccontextmanager
async def _manager(profile: Path) -> AsyncIterator[tuple[Process, str]]:
    """The command `hatbox ui`, and its link."""
    command = ("-m", "hatbox", "ui", "--no-open", "--stay", "--json", "--profile", str(profile))
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=PIPE)
    assert process.stdout is not None
    try:
        yield process, json.loads(await process.stdout.readline())["link"]
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def _bare_server(folder: Path) -> AsyncIterator[tuple[Process, str]]:
    port = random.randrange(20_000, 60_000)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BARE_SERVER, str(folder), str(port), stdout=PIPE
    )
    assert process.stdout is not None
    try:
        await process.stdout.readline()
        await _until_open(port)
        yield process, f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        await process.wait()


async def _until_open(port: int) -> None:
    for _ in range(300):
        try:
            (await asyncio.open_connection("127.0.0.1", port))[1].close()
        except OSError:
            await asyncio.sleep(0.1)
        else:
            return
    raise TimeoutError(f"the server did not open port {port}")


async def _write_static_page(folder: Path, page: Page) -> None:
    """The page as it is drawn, with its style sheet, and its scripts as bytes that do nothing."""
    loaded: list[str] = await page.evaluate("performance.getEntriesByType('resource').map(each => each.name)")
    files = [file for url in loaded if (file := StaticFiles().get(url.rpartition("/")[2]))]
    scripts, styles = (
        b"".join(each.content for each in files if kind in each.content_type) for kind in ("javascript", "css")
    )
    assert scripts
    assert styles
    body = await page.evaluate("document.body.outerHTML")
    (folder / "style.css").write_bytes(styles)
    (folder / "script.js").write_text(f"globalThis.text = {json.dumps('x' * len(scripts))};\n")
    links = '<link rel="stylesheet" href="style.css"><script type="module" src="script.js"></script>'
    head = f"<!doctype html><html lang=en><head><meta charset=utf-8>{links}</head>"
    (folder / "index.html").write_text(f"{head}{body}</html>")


async def _loads(
    browser: Browser, opened: Page, url: str, static_url: str, times: int
) -> tuple[list[float], list[float]]:
    """Times until both pages are interactive, in turns, without anything cached."""
    count = await opened.locator(CARD).count()
    loads: list[float] = []
    static_loads: list[float] = []
    for _ in range(times):
        for address, into in ((url, loads), (static_url, static_loads)):
            into.append(await _first_card(browser, address, opened, count))
    return loads, static_loads


def _as_param(cookie: Any) -> Any:
    return {key: cookie[key] for key in ("name", "value", "domain", "path", "httpOnly", "sameSite")}


async def _delays(profile: Path, page: Page, ids: list[str], changes: int) -> list[float]:
    """Milliseconds from the commit of another process to the page."""
    writer = await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, str(profile), stdin=PIPE, stdout=PIPE)
    assert writer.stdin is not None
    assert writer.stdout is not None
    delays = []
    for number in range(changes):
        name = f"changed-{time.time_ns()}"
        writer.stdin.write(f"{ids[number % min(len(ids), 12)]} {name}\n".encode())
        committed = float(await writer.stdout.readline())
        shown: float = await page.evaluate("name => until(() => seenNames.get(name))", name)
        delays.append(max(0.0, shown - committed))
    writer.stdin.close()
    await writer.wait()
    return delays


BENCHMARK = Benchmark(
    measure,
    [
        Figure("interactive", "ms", "static page", at_most=2),
        Figure("a change of another process is shown, median", "ms"),
        Figure("a change of another process is shown, 95 % within", "ms", at_most=200),
        Figure("memory of the server", "MB", "bare Starlette and uvicorn", at_most=1.5),
        Figure("a frame while 10,000 identities scroll", "ms", "static list of the same cards", at_most=2),
        Figure("the first card with 10,000 identities", "s", at_most=2),
    ],
    few=(30, 30),
    many=(10_000, 200),
    loads=(20, 1),
    changes=(100, 2),
    first_cards=(5, 1),
    frames=(120, 5),
)

if __name__ == "__main__":
    BENCHMARK.main()
