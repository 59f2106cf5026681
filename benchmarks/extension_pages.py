"""Pages of extensions in Chromium: an awaited call, and the time until a popup is drawn, each with its peer in one run.

    python -m benchmarks.extension_pages

The peers: a bare `Runtime.evaluate` for a call; the same popup with a stub that answers from recorded data for drawing.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Final

from playwright.async_api import BrowserContext, Page, Route
from rich.console import Console

import hatbox
from benchmarks.bars import Bar, bars_table
from hatbox.extensions.extension import Extension
from hatbox.extensions.pages.extension_window import ExtensionWindow

CALLS: Final = 300
ROUNDS: Final = 7
POPUPS: Final = 20
MANIFEST: Final = {
    "manifest_version": 2,
    "name": "bench",
    "version": "1",
    "permissions": ["contextualIdentities", "cookies", "tabs", "storage"],
    "background": {"scripts": ["background.js"]},
    "browser_action": {"default_popup": "popup.html"},
}
POPUP: Final = """<!doctype html><html><head><link rel=stylesheet href=popup.css></head>
<body><ul></ul><script src=popup.js></script></body></html>"""
SCRIPT: Final = """(async () => {
  const list = document.querySelector("ul");
  const [identities, tabs, state, answer] = await Promise.all([
    browser.contextualIdentities.query({}), browser.tabs.query({}),
    browser.storage.local.get(null), browser.runtime.sendMessage("hello"),
  ]);
  for (const {name} of identities) list.append(Object.assign(document.createElement("li"), {textContent: name}));
  document.title = `${tabs.length} ${answer} ${Object.keys(state).length}`;
  document.body.dataset.drawn = "yes";
})();"""
FILES: Final = {
    "manifest.json": json.dumps(MANIFEST),
    "background.js": "browser.runtime.onMessage.addListener(async message => message);",
    "popup.html": POPUP,
    "popup.css": "body { width: 300px; font: 14px sans-serif }",
    "popup.js": SCRIPT,
}
DRAWN: Final = "[data-drawn=yes]"


async def measure() -> list[Bar]:
    """The ratios and their bars."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "bench"
        folder.mkdir()
        for path, text in FILES.items():
            (folder / path).write_text(text, "utf-8")
        async with hatbox.open(Path(name) / "profile.db") as profile, profile.chromium(headless=True) as runner:
            extension = await profile.extensions.start(folder)
            window = await extension.open_page("popup.html", kind="POPUP")
            rounds = [(await _bare(window), await _calls(window)) for _ in range(ROUNDS)]
            await window.close()
            assert runner.engine.running is not None
            stub = await runner.engine.running.env.launched.browser.new_context()
            await _serve_stub(stub, await _recorded(extension))
            drawn = [(await _draw_stub(stub), await _draw(extension)) for _ in range(POPUPS)]
    bare, call = (min(each) for each in zip(*rounds, strict=True))  # the quietest round of each
    first, own = (median(each) for each in zip(*drawn, strict=True))
    print(f"Runtime.evaluate {bare * 1e3:.2f} ms, awaited call {call * 1e3:.2f} ms")
    print(f"popup with a stub {first * 1e3:.0f} ms, popup {own * 1e3:.0f} ms")
    return [
        ("an awaited call / Runtime.evaluate", call / bare, "<=", 2),
        ("popup drawn / with a stub", own / first, "<=", 2),
    ]


async def _bare(window: ExtensionWindow) -> float:
    session, times = window.documents.session, []
    for _ in range(CALLS):
        started = time.perf_counter()
        await session.send("Runtime.evaluate", {"expression": "1"})
        times.append(time.perf_counter() - started)
    return median(times)


async def _calls(window: ExtensionWindow) -> float:
    """The median of an awaited call, by the clock of the page."""
    script = f"""async () => {{
        const times = [];
        for (let i = 0; i < {CALLS}; i++) {{
            const started = performance.now();
            await browser.contextualIdentities.query({{}});
            times.push(performance.now() - started);
        }}
        return times;
    }}"""
    times: list[float] = await window.page.evaluate(script)
    return median(times) / 1000


async def _draw(extension: Extension) -> float:
    windows = extension.browser_pages.windows()
    url = f"{extension.manifest.base_url}popup.html"
    started = time.perf_counter()
    window = await windows.open(url, "POPUP", load=False)
    await window.page.goto(windows.resources.files.urls.page_url(url), wait_until="commit")
    await window.page.wait_for_selector(DRAWN)
    elapsed = time.perf_counter() - started
    await window.close()
    return elapsed


async def _recorded(extension: Extension) -> dict[str, Any]:
    browser = extension.browser
    return {
        "contextualIdentities.query": await browser.contextualIdentities.query({}),
        "tabs.query": await browser.tabs.query({}),
        "storage.local.get": {},
        "runtime.sendMessage": "hello",
    }


async def _serve_stub(context: BrowserContext, recorded: dict[str, Any]) -> None:
    async def answer(route: Route) -> None:
        path = route.request.url.rpartition("/")[2]
        kind = {"html": "text/html", "css": "text/css", "js": "text/javascript"}[path.rpartition(".")[2]]
        await route.fulfill(body=FILES[path], content_type=kind)

    await context.route("**/*", answer)
    await context.add_init_script(f"""{{
        const recorded = {json.dumps(recorded)};
        const answer = path => async () => structuredClone(recorded[path]);
        globalThis.browser = {{
            contextualIdentities: {{query: answer("contextualIdentities.query")}},
            tabs: {{query: answer("tabs.query")}},
            storage: {{local: {{get: answer("storage.local.get")}}}},
            runtime: {{sendMessage: answer("runtime.sendMessage")}},
        }};
    }}""")


async def _draw_stub(context: BrowserContext) -> float:
    started = time.perf_counter()
    page: Page = await context.new_page()
    await page.goto("https://bench.invalid/popup.html", wait_until="commit")
    await page.wait_for_selector(DRAWN)
    elapsed = time.perf_counter() - started
    await page.close()
    return elapsed


def main() -> int:
    """Print the bars. The exit status is the number of missed ones."""
    bars = asyncio.run(measure())
    Console().print(bars_table(bars))
    return sum(ratio > bar for _, ratio, _, bar in bars)


if __name__ == "__main__":
    sys.exit(main())
