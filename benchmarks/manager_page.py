"""The manager page: until it is interactive, until a change of another process is shown, and the memory of its server.

    python -m benchmarks.manager_page [IDENTITIES]

The peers, in the same run: a static page with the same elements, style sheets and bytes of script, from a bare
Starlette with uvicorn; and the memory of that server. A change is timed from its commit in another process to the DOM.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, Final

from playwright.async_api import Browser, Page, async_playwright
from rich.console import Console

import hatbox
from benchmarks.bars import Bar, bars_table
from benchmarks.memory import memory_of
from hatbox.engines.chromium.launch import find_browser

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LOADS: Final = 20
CHANGES: Final = 100
CARD: Final = "main [role=listitem]"
STATIC: Final = Path(hatbox.__file__).parent / "ui" / "static"
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
# Notes when the first card is drawn, and in which frame each name appears.
OBSERVER: Final = f"""
const seen = globalThis.seenNames = new Map();
new MutationObserver(() => {{
  const cards = document.querySelectorAll("{CARD}");
  if (cards.length && !globalThis.firstCard) requestAnimationFrame(time => {{ globalThis.firstCard ??= time; }});
  for (const card of cards) for (const [name] of card.textContent.matchAll(/changed-[0-9]+/g)) {{
    if (!seen.has(name)) seen.set(name, Date.now());
  }}
}}).observe(document, {{childList: true, subtree: true, characterData: true}});
globalThis.until = find => new Promise(done => {{
  const timer = setInterval(() => {{ const found = find(); if (found) {{ clearInterval(timer); done(found); }} }}, 5);
}});
"""


async def measure(count: int) -> tuple[list[Bar], list[str]]:
    """All bars, and the figures behind them."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
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
                loads, static_loads = await _loads(browser, page, url, bare_url)
                delays = await _delays(folder / "profile.db", page, ids)
                memory, bare_memory = memory_of([server.pid]), memory_of([bare.pid])
            await browser.close()
    p95 = quantiles(delays, n=20)[-1]
    figures = [
        f"{count:,} identities; interactive: {median(loads):.0f} ms, static page {median(static_loads):.0f} ms",
        f"change shown: median {median(delays):.0f} ms, 95 % within {p95:.0f} ms, longest {max(delays):.0f} ms",
        f"memory: {memory / 2**20:.1f} MB, bare Starlette and uvicorn {bare_memory / 2**20:.1f} MB",
    ]
    return [
        ("interactive, to a static page", median(loads) / median(static_loads), "<=", 2),
        ("change shown, ms at 95 %", p95, "<=", 200),
        ("memory, to bare Starlette and uvicorn", memory / bare_memory, "<=", 1.5),
    ], figures


async def _make_profile(path: Path, count: int) -> list[str]:
    async with hatbox.open(path) as profile:
        for number in range(4, count):
            await profile.identities.create(f"Account {number:05}")
        return [each.cookie_store_id for each in await profile.identities.query()]


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
    """The page as it is drawn, with its style sheets in one file and its scripts as bytes that do nothing."""
    loaded: list[str] = await page.evaluate("performance.getEntriesByType('resource').map(each => each.name)")
    names = [url.rpartition("/")[2] for url in loaded]
    files = [path for path in STATIC.rglob("*") if path.is_file() and path.name in names]
    styles = "\n".join(path.read_text() for path in files if path.suffix == ".css")
    size = sum(path.stat().st_size for path in files if path.suffix in (".js", ".svg"))
    body = await page.evaluate("document.getElementById('app').outerHTML")
    (folder / "style.css").write_text(styles)
    (folder / "script.js").write_text(f"globalThis.text = {json.dumps('x' * size)};\n")
    links = '<link rel="stylesheet" href="style.css"><script type="module" src="script.js"></script>'
    head = f"<!doctype html><html lang=en><head><meta charset=utf-8>{links}</head>"
    (folder / "index.html").write_text(f"{head}<body>{body}</body></html>")


async def _loads(browser: Browser, opened: Page, url: str, static_url: str) -> tuple[list[float], list[float]]:
    """Times until both pages are interactive, in turns, without anything cached."""
    cookies = await opened.context.cookies()
    loads: list[float] = []
    static_loads: list[float] = []
    for _ in range(LOADS):
        for address, into in ((url, loads), (static_url, static_loads)):
            context = await browser.new_context(viewport={"width": 1440, "height": 900})
            await context.add_cookies([_as_param(each) for each in cookies])
            page = await context.new_page()
            await page.add_init_script(OBSERVER)
            await page.goto(address)
            into.append(await page.evaluate("until(() => document.readyState === 'complete' && globalThis.firstCard)"))
            await context.close()
    return loads, static_loads


def _as_param(cookie: Any) -> Any:
    return {key: cookie[key] for key in ("name", "value", "domain", "path", "httpOnly", "sameSite")}


async def _delays(profile: Path, page: Page, ids: list[str]) -> list[float]:
    """Milliseconds from the commit of another process to the page."""
    writer = await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, str(profile), stdin=PIPE, stdout=PIPE)
    assert writer.stdin is not None
    assert writer.stdout is not None
    delays = []
    for number in range(CHANGES):
        name = f"changed-{time.time_ns()}"
        writer.stdin.write(f"{ids[number % min(len(ids), 12)]} {name}\n".encode())
        committed = float(await writer.stdout.readline())
        shown: float = await page.evaluate("name => until(() => seenNames.get(name))", name)
        delays.append(max(0.0, shown - committed))
    writer.stdin.close()
    await writer.wait()
    return delays


if __name__ == "__main__":
    bars, figures = asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 30))
    console = Console(width=120)
    for line in figures:
        console.print(line)
    console.print(bars_table(bars))
