"""Pages of extensions in Chromium: an awaited call, and the time until a popup is drawn, each with its peer in one run.

    python -m benchmarks.extension_pages

The peers: a bare `Runtime.evaluate` for a call; the same popup with a stub that answers from recorded data for drawing.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import median
from typing import Any, Final

from playwright.async_api import BrowserContext, Page, Route

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from benchmarks.extension_folder import write_extension
from hatbox.extensions.extension import Extension
from hatbox.extensions.pages.extension_window import ExtensionWindow

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
    "background.js": "browser.runtime.onMessage.addListener(async message => message);",
    "popup.html": POPUP,
    "popup.css": "body { width: 300px; font: 14px sans-serif }",
    "popup.js": SCRIPT,
}
DRAWN: Final = "[data-drawn=yes]"


async def measure(folder: Path, rounds: int, calls: int, popups: int) -> Measured:
    """All figures."""
    path = write_extension(
        folder / "bench",
        FILES,
        permissions=["contextualIdentities", "cookies", "tabs", "storage"],
        browser_action={"default_popup": "popup.html"},
    )
    async with hatbox.open(folder / "profile.db") as profile, profile.chromium(headless=True) as runner:
        extension = await profile.extensions.start(path)
        window = await extension.open_page("popup.html", kind="POPUP")
        times = [(await _calls(window, calls), await _bare(window, calls)) for _ in range(rounds)]
        await window.close()
        assert runner.engine.running is not None
        stub = await runner.engine.running.env.launched.browser.new_context()
        await _serve_stub(stub, await _recorded(extension))
        drawn = [(await _draw(extension), await _draw_stub(stub)) for _ in range(popups)]
    call, bare = (min(each) * 1e3 for each in zip(*times, strict=True))  # the quietest round of each
    own, first = (median(each) * 1e3 for each in zip(*drawn, strict=True))
    return {"awaited call of a page": (call, bare), "popup is drawn": (own, first)}


async def _bare(window: ExtensionWindow, calls: int) -> float:
    session, times = window.documents.session, []
    for _ in range(calls):
        started = time.perf_counter()
        await session.send("Runtime.evaluate", {"expression": "1"})
        times.append(time.perf_counter() - started)
    return median(times)


async def _calls(window: ExtensionWindow, calls: int) -> float:
    """The median of an awaited call, by the clock of the page."""
    script = f"""async () => {{
        const times = [];
        for (let i = 0; i < {calls}; i++) {{
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


BENCHMARK = Benchmark(
    measure,
    [
        Figure("awaited call of a page", "ms", "Runtime.evaluate", at_most=2),
        Figure("popup is drawn", "ms", "with recorded data", at_most=2),
    ],
    rounds=(7, 1),
    calls=(300, 2),
    popups=(20, 1),
)

if __name__ == "__main__":
    BENCHMARK.main()
