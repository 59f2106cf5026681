"""Content scripts: a page load with none, one and five, and a message of a content script.

    python -m benchmarks.content_scripts

Four browsers run at once: without extensions, with one extension that has a content script of 20 KB, with five, and
with five whose scripts use `browser` while the page loads. Their loads alternate in random order, so that the load of
the machine affects all alike. Two sites alternate, so each load is in a new process, where nothing is compiled yet.
Milliseconds are medians of the time that a program waits; CPU time is the mean of all processes of the browser (Linux).
"""

from __future__ import annotations

import contextlib
import json
import os
import random
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Final

from playwright.async_api import Page

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from benchmarks.extension_folder import write_extension
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.testing.site import LoopbackSite

NONE: Final = "none"
ONE: Final = "one content script"
_BODY: Final = "".join(f"<p id=p{number}>A paragraph of text, {number}.</p>" for number in range(200))
_FILLER: Final = "".join(f"function filler{number}(a) {{ return a * {number}; }}\n" for number in range(450))
_SCRIPT: Final = f"{_FILLER}document.documentElement.dataset.ran = filler7(6);\n"
_USES_BROWSER: Final = f"{_SCRIPT}browser.runtime.onMessage.addListener(() => {{}});\n"
VARIANTS: Final = {
    NONE: _SCRIPT,
    ONE: _SCRIPT,
    "five content scripts": _SCRIPT,
    "five that use `browser`": _USES_BROWSER,
}
_BACKGROUND: Final = "browser.runtime.onMessage.addListener(message => Promise.resolve(message));"
_MEASURE: Final = """(async () => {
  const times = [];
  for (let call = 0; call < %d; call++) {
    const start = performance.now();
    await browser.storage.local.get("key");
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[%d];
})()"""


def make_extension(folder: Path, name: str, script: str) -> Path:
    """An extension with one content script."""
    return write_extension(
        folder / name,
        {"background.js": _BACKGROUND, "content.js": script},
        permissions=["storage", "<all_urls>"],
        content_scripts=[{"matches": ["<all_urls>"], "js": ["content.js"], "run_at": "document_start"}],
    )


async def start(
    stack: contextlib.AsyncExitStack, folder: Path, count: int, script: str
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


async def measure(folder: Path, loads: int, calls: int, warm_up: int, five: int) -> Measured:
    """All figures."""
    with LoopbackSite() as site:
        async with contextlib.AsyncExitStack() as stack:
            site.page("/", _BODY)
            browsers = {
                variant: await start(stack, folder / variant, {NONE: 0, ONE: 1}.get(variant, five), script)
                for variant, script in VARIANTS.items()
            }
            measured = {
                variant: Loads(await chrome.new_page("Work", site.url("/")), _pid(chrome))
                for variant, (_, chrome) in browsers.items()
            }
            for index in range(warm_up + loads):
                for variant in random.sample([*VARIANTS], len(VARIANTS)):
                    url = site.url("/", f"{'ab'[index % 2]}.localhost")
                    await measured[variant].load(url, record=index >= warm_up)
            for variant, each in measured.items():
                mark = await each.page.evaluate("document.documentElement.dataset.ran")
                assert mark == (None if variant == NONE else "42"), (variant, mark)
            page = measured[ONE].page
            call = await in_content_script(*browsers[ONE], page, calls)
            bare = await evaluations(await page.context.new_cdp_session(page), calls)
    base = measured.pop(NONE)
    return {
        **{variant: (median(each.times), median(base.times)) for variant, each in measured.items()},
        **{f"{variant}, CPU time": (mean(each.cpu), mean(base.cpu)) for variant, each in measured.items()},
        "storage.local.get of a content script": (call, bare),
    }


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


async def in_content_script(profile: hatbox.Profile, chrome: ChromiumRunner, page: Page, calls: int) -> float:
    """The median of an awaited call in a content script, in milliseconds."""
    tab = next(tab for tab in chrome.engine.tabs if chrome.engine.page_of(tab) is page)
    extension = profile.extensions.running[0]
    code = json.dumps({"code": _MEASURE % (calls, calls // 2)})
    return float((await extension.evaluate(f"(await browser.tabs.executeScript({tab}, {code}))"))[0])


async def evaluations(session: object, calls: int) -> float:
    """The median of Runtime.evaluate through Playwright, in milliseconds."""
    times = []
    for _ in range(calls):
        begin = perf_counter()
        await session.send("Runtime.evaluate", {"expression": "1"})  # type: ignore[attr-defined]
        times.append((perf_counter() - begin) * 1000)
    return median(times)


BENCHMARK = Benchmark(
    measure,
    [
        Figure(ONE, "ms", NONE, at_most=1.15),
        Figure("five content scripts", "ms", NONE, at_most=1.4),
        Figure("five that use `browser`", "ms", NONE),
        *(Figure(f"{variant}, CPU time", "ms", NONE) for variant in VARIANTS if variant != NONE),
        Figure("storage.local.get of a content script", "ms", "Runtime.evaluate"),
    ],
    loads=(60, 2),
    calls=(200, 3),
    warm_up=(5, 0),
    five=(5, 2),
)

if __name__ == "__main__":
    BENCHMARK.main()
