"""Content scripts: a page load with none, one and five, and a message of a content script.

    python -m benchmarks.content_scripts

Four browsers run at once: without extensions, with one extension that has a content script of 20 KB, with five, and
with five whose scripts use `browser` while the page loads. Their loads alternate in random order, so that the load of
the machine affects all alike. Two sites alternate, so each load is in a new process, where nothing is compiled yet.
Milliseconds are medians of the time that a program waits; CPU time is the mean of all processes of the browser (Linux).
Only the ratios mean something on another machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import sys
import tempfile
from pathlib import Path
from statistics import mean, median
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
_USES_BROWSER: Final = f"{_SCRIPT}browser.runtime.onMessage.addListener(() => {{}});\n"
VARIANTS: Final = {
    "none": (0, _SCRIPT),
    "one": (1, _SCRIPT),
    "five": (5, _SCRIPT),
    "five that use browser": (5, _USES_BROWSER),
}
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


def make_extension(folder: Path, name: str, script: str) -> Path:
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
    (made / "content.js").write_text(script, "utf-8")
    return made


async def start(
    stack: contextlib.AsyncExitStack, folder: Path, count: int, script: str = _SCRIPT
) -> tuple[hatbox.Profile, ChromiumRunner]:
    """A browser with this many extensions that have this content script."""
    profile = await stack.enter_async_context(hatbox.open(folder / "profile.db"))
    for number in range(count):
        await profile.extensions.start(make_extension(folder, f"extension-{number}", script))
    return profile, await stack.enter_async_context(profile.chromium(headless=True))


class Loads:
    """The loads of one browser."""

    def __init__(self, page: Page, pid: int) -> None:
        self.page = page
        self.times: list[float] = []
        self.cpu: list[float] = []
        self._pid = pid

    async def load(self, url: str, *, record: bool) -> None:
        """Load a page, and add the milliseconds."""
        before, begin = cpu_time(self._pid), perf_counter()
        await self.page.goto(url)
        took = (perf_counter() - begin) * 1000
        if record:
            self.times.append(took)
            self.cpu.append(cpu_time(self._pid) - before)


async def measure(console: Console, loads: int) -> list[Bar]:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as name, LoopbackSite() as site:
        async with contextlib.AsyncExitStack() as stack:
            site.page("/", _BODY)
            browsers = {
                variant: await start(stack, Path(name) / variant, count, script)
                for variant, (count, script) in VARIANTS.items()
            }
            measured = {
                variant: Loads(await chrome.new_page("Work", site.url("/")), _pid(chrome))
                for variant, (_, chrome) in browsers.items()
            }
            for index in range(loads + 5):
                for variant in random.sample([*VARIANTS], len(VARIANTS)):
                    url = site.url("/", f"{'ab'[index % 2]}.localhost")
                    await measured[variant].load(url, record=index >= 5)
            for variant, each in measured.items():
                mark = await each.page.evaluate("document.documentElement.dataset.ran")
                assert mark == (None if variant == "none" else "42"), (variant, mark)
            page = measured["one"].page
            call = await in_content_script(*browsers["one"], page)
            bare = await evaluations(await page.context.new_cdp_session(page))
    table = Table(title=f"One page load, median of {loads}", title_justify="left")
    for heading in ("content scripts", "ms", "ratio", "CPU ms", "ratio"):
        table.add_column(heading, justify="left" if heading == "content scripts" else "right")
    ratios, base = {}, measured["none"]
    for variant, each in measured.items():
        ratios[variant] = median(each.times) / median(base.times)
        cpu = (f"{mean(each.cpu):.0f}", f"{mean(each.cpu) / mean(base.cpu):.2f}") if any(base.cpu) else ("", "")
        table.add_row(variant, f"{median(each.times):.1f}", f"{ratios[variant]:.2f}", *cpu)
    console.print(table)
    console.print(
        f"storage.local.get() of a content script: {call:.2f} ms; Runtime.evaluate of Playwright: {bare:.2f} ms"
    )
    return [
        ("one content script / none", ratios["one"], "<=", 1.15),
        ("five content scripts / none", ratios["five"], "<=", 1.4),
    ]


def cpu_time(pid: int) -> float:
    """The CPU milliseconds of a process and its descendants, ended ones included; 0 where /proc does not exist."""
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            child = int(path.parent.name)
            parents[child], used[child] = int(fields[1]), sum(map(int, fields[11:15]))
    ticks = sum(used[each] for each in parents if pid in _lineage(each, parents))
    return ticks * 1000 / os.sysconf("SC_CLK_TCK") if used else 0


def _lineage(pid: int, parents: dict[int, int]) -> list[int]:
    found = [pid]
    while (parent := parents.get(found[-1], 0)) > 0:
        found.append(parent)
    return found


def _pid(chrome: ChromiumRunner) -> int:
    assert chrome.engine.running is not None
    return chrome.engine.running.env.launched.pid


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
