"""Content scripts: a page load with none, one and five, and a message of a content script.

    python -m benchmarks.content_scripts

Three browsers run at once: without extensions, with one extension that has a content script of 20 KB, and with five.
Their loads alternate in random order, so that the load of the machine affects all alike. Milliseconds are medians; only
the ratios mean something on another machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

from playwright.async_api import Page
from rich.console import Console
from rich.table import Table

import hatbox
from benchmarks.bars import Bar, bars_table
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.testing.site import LoopbackSite

LOADS: Final = 60
CALLS: Final = 200
_BODY: Final = "".join(f"<p id=p{number}>A paragraph of text, {number}.</p>" for number in range(200))
_FILLER: Final = "".join(f"function filler{number}(a) {{ return a * {number}; }}\n" for number in range(450))
_SCRIPT: Final = f"{_FILLER}document.documentElement.dataset.ran = filler7(6);\n"
_BACKGROUND: Final = "browser.runtime.onMessage.addListener(message => Promise.resolve(message));"
_MEASURE: Final = f"""(async () => {{
  const times = [];
  for (let call = 0; call < {CALLS}; call++) {{
    const start = performance.now();
    await browser.storage.local.get("key");
    times.push(performance.now() - start);
  }}
  return times.sort((a, b) => a - b)[{CALLS // 2}];
}})()"""


def make_extension(folder: Path, name: str) -> Path:
    """An extension with one content script."""
    made = folder / name
    made.mkdir(parents=True)
    manifest = {
        "manifest_version": 2,
        "name": name,
        "version": "1",
        "permissions": ["storage", "<all_urls>"],
        "background": {"scripts": ["background.js"]},
        "browser_specific_settings": {"gecko": {"id": f"{name}@example.org"}},
        "content_scripts": [{"matches": ["<all_urls>"], "js": ["content.js"], "run_at": "document_start"}],
    }
    (made / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (made / "background.js").write_text(_BACKGROUND, "utf-8")
    (made / "content.js").write_text(_SCRIPT, "utf-8")
    return made


async def start(stack: contextlib.AsyncExitStack, folder: Path, count: int) -> tuple[hatbox.Profile, ChromiumRunner]:
    """A browser with this many extensions."""
    profile = await stack.enter_async_context(hatbox.open(folder / "profile.db"))
    for number in range(count):
        await profile.extensions.start(make_extension(folder, f"extension-{number}"))
    return profile, await stack.enter_async_context(profile.chromium(headless=True))


async def load(page: Page, url: str) -> float:
    """The milliseconds of one load."""
    begin = perf_counter()
    await page.goto(url)
    return (perf_counter() - begin) * 1000


async def measure(console: Console, loads: int) -> list[Bar]:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as name, LoopbackSite() as site:
        async with contextlib.AsyncExitStack() as stack:
            site.page("/", _BODY)
            counts, folder = (0, 1, 5), Path(name)
            browsers = {count: await start(stack, folder / str(count), count) for count in counts}
            pages = {count: await each.new_page("Work", site.url("/")) for count, (_, each) in browsers.items()}
            times: dict[int, list[float]] = {count: [] for count in counts}
            for index in range(loads + 5):
                for count in random.sample(counts, len(counts)):
                    took = await load(pages[count], site.url("/", f"{'ab'[index % 2]}.localhost"))
                    if index >= 5:
                        times[count].append(took)
            marks = {
                count: await page.evaluate("document.documentElement.dataset.ran") for count, page in pages.items()
            }
            assert marks == {0: None, 1: "42", 5: "42"}, marks
            call = await in_content_script(browsers[1][0], browsers[1][1], pages[1])
            session = await pages[1].context.new_cdp_session(pages[1])
            bare = await evaluations(session)
    table = Table(title=f"One page load, median of {loads}, ms", title_justify="left")
    for heading in ("content scripts", "load", "ratio"):
        table.add_column(heading, justify="right")
    medians = {count: median(each) for count, each in times.items()}
    for count, value in medians.items():
        table.add_row(str(count), f"{value:.1f}", f"{value / medians[0]:.2f}")
    console.print(table)
    console.print(
        f"storage.local.get() of a content script: {call:.2f} ms; Runtime.evaluate of Playwright: {bare:.2f} ms"
    )
    return [
        ("one content script / none", medians[1] / medians[0], "<=", 1.15),
        ("five content scripts / none", medians[5] / medians[0], "<=", 1.4),
    ]


async def in_content_script(profile: hatbox.Profile, chrome: ChromiumRunner, page: Page) -> float:
    """The median of an awaited call in a content script, in milliseconds."""
    tab = next(tab for tab in chrome.engine.tabs if chrome.engine.page_of(tab) is page)
    extension = profile.extensions.running[0]
    code = json.dumps({"code": _MEASURE})
    return float((await extension.evaluate(f"(await browser.tabs.executeScript({tab}, {code}))"))[0])


async def evaluations(session: object) -> float:
    """The median of Runtime.evaluate through Playwright, in milliseconds."""
    times = []
    for _ in range(CALLS):
        begin = perf_counter()
        await session.send("Runtime.evaluate", {"expression": "1"})  # type: ignore[attr-defined]
        times.append((perf_counter() - begin) * 1000)
    return median(times)


def main() -> None:
    """Measure and print."""
    console = Console()
    loads = int(sys.argv[1]) if len(sys.argv) > 1 else LOADS
    console.print(bars_table(asyncio.run(measure(console, loads))))


if __name__ == "__main__":
    main()
