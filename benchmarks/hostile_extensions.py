"""Hostile pages and extensions: how long others wait while one of them floods the program.

    python -m benchmarks.hostile_extensions

One browser, one flood after the other, each for some seconds. Measured at the same time: the longest time in which the
event loop was at work without a pause, and how long an API call of Python and an awaited call of another extension's
page take. The loop's time counts only while its thread was running, so that other programs do not matter. A figure is
the largest of the loop's time and of what the medians of the calls are longer than without a flood. The floods "busy"
use a processor and no part of Hatbox: what others wait then is due to Chromium and the number of processors.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

from playwright.async_api import Page

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from benchmarks.extension_folder import write_extension
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.extensions.extension import Extension
from hatbox.testing.site import LoopbackSite

_STEP: Final = 0.005  # seconds
_LONGEST: Final = 10.0  # seconds; a call that takes longer counts as this
QUIET: Final = "nothing"
SINGLE_CALLS: Final = "99 % of the calls of another page, in the worst of the floods"
_BUSY: Final = "setInterval(() => { const end = performance.now() + 50; while (performance.now() < end); }, 0);"
_EVERY: Final = "setInterval(() => { for (let i = 0; i < %d; i++) { %s } }, 0);"
_PAGES: Final[Mapping[str, str]] = {
    "popup: busy": _BUSY,
    "popup: calls": _EVERY % (500, "browser.tabs.query({});"),
    "popup: messages": _EVERY % (500, "browser.runtime.sendMessage(i).catch(() => {});"),
    "popup: console": _EVERY % (5000, "console.log(i);"),
    "popup: storage": _EVERY % (100, "localStorage.setItem('x', Math.random());"),
    "popup: large messages": _EVERY % (1, "browser.runtime.sendMessage('x'.repeat(1 << 20)).catch(() => {});"),
    "popup: never answers": "for (;;);",
}
_SCRIPTS: Final[Mapping[str, str]] = {
    "content script: busy": _BUSY,
    "content script: messages": _EVERY % (500, "browser.runtime.sendMessage(i).catch(() => {});"),
    "content script: storage": _EVERY % (100, "browser.storage.local.set({x: i});"),
    "content script: never answers": "setTimeout(() => { for (;;); }, 500);",
}
_WEB: Final[Mapping[str, str]] = {
    "web page: files of an extension": _EVERY % (50, "new Image().src = `BASEnone${Math.random()}`;"),
    "web page: frames": _EVERY
    % (5, "const f = document.createElement('iframe'); document.body.append(f); f.remove();"),
    "web page: messages": _EVERY % (500, "postMessage(i, '*');"),
}
_BACKGROUNDS: Final[Mapping[str, str]] = {
    "background: calls": _EVERY % (500, "browser.tabs.query({});"),
    "background: storage": _EVERY % (100, "browser.storage.local.set({x: i});"),
}
FLOODS: Final = (*_PAGES, *_SCRIPTS, *_WEB, *_BACKGROUNDS)


class Delays(NamedTuple):
    """What others have waited, in milliseconds."""

    loop: float
    """The longest work of the event loop without a pause."""
    python: list[float]
    page: list[float]


def make_extension(folder: Path, name: str, files: Mapping[str, str], background: str = "") -> Path:
    """An extension with all permissions that floods need."""
    return write_extension(
        folder / name,
        {"background.js": background, **files},
        permissions=["storage", "tabs", "<all_urls>"],
        web_accessible_resources=["listed/*"],
    )


async def observe(seconds: float, profile: hatbox.Profile, calm: Page) -> Delays:
    """Measure for some seconds."""
    delays = Delays(0.0, [], [])
    longest = 0.0
    stop = asyncio.get_running_loop().time() + seconds

    def is_over() -> bool:
        return asyncio.get_running_loop().time() >= stop

    async def of_python() -> None:
        while not delays.python or not is_over():
            start = time.perf_counter()
            await profile.identities.query()
            delays.python.append((time.perf_counter() - start) * 1000)
            await asyncio.sleep(_STEP)

    async def of_page() -> None:
        while not delays.page or not is_over():
            start = time.perf_counter()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LONGEST):
                    await calm.evaluate("browser.runtime.getPlatformInfo().then(() => 0)")
            delays.page.append((time.perf_counter() - start) * 1000)
            await asyncio.sleep(_STEP)

    async def of_loop() -> None:
        nonlocal longest
        while not is_over():
            start, worked = time.perf_counter(), time.thread_time()
            await asyncio.sleep(_STEP)
            late = time.perf_counter() - start - _STEP
            longest = max(longest, min(late, time.thread_time() - worked))

    gc.collect()
    await asyncio.gather(of_python(), of_page(), of_loop())
    return delays._replace(loop=longest * 1000)


@contextlib.asynccontextmanager
async def popup_flood(extension: Extension, folder: Path, script: str) -> AsyncIterator[None]:
    """A popup that floods. The page of an endless loop never finishes loading."""
    (folder / "popup.js").write_text(f"setTimeout(() => {{ {script} }}, 100);", "utf-8")
    window = await extension.open_page("popup.html", kind="POPUP")
    try:
        yield
    finally:
        await window.close()


@contextlib.asynccontextmanager
async def page_flood(chrome: ChromiumRunner, url: str, run: Any) -> AsyncIterator[None]:
    """A web page that floods, or whose content script does."""
    page = await chrome.new_page("Work", url)
    try:
        await run(page)
        yield
    finally:
        await page.close()


@contextlib.asynccontextmanager
async def background_flood(profile: hatbox.Profile, package: Path) -> AsyncIterator[None]:
    """A background that floods."""
    extension = await profile.extensions.start(package, on_log=lambda _: None)
    try:
        yield
    finally:
        await extension.stop()


async def measure(folder: Path, seconds: float, flood: str) -> Measured:
    """How much longer others wait than without a flood: the event loop, a call of Python, a call of another page."""
    found = await delays_of_floods(folder, seconds, flood)
    quiet = found.pop(QUIET)
    figures = {
        kind: max(
            delays.loop, median(delays.python) - median(quiet.python), median(delays.page) - median(quiet.page), 0.0
        )
        for kind, delays in found.items()
    }
    return {**figures, SINGLE_CALLS: max(quantile(delays.page, 0.99) for delays in found.values())}


async def delays_of_floods(folder: Path, seconds: float, part: str) -> dict[str, Delays]:
    """Measure the floods whose name contains `part`."""
    found: dict[str, Delays] = {}
    with LoopbackSite() as site:
        hostile_folder = make_extension(
            folder, "hostile", {"popup.html": "<script src=popup.js></script>", "popup.js": ""}
        )
        async with (
            hatbox.open(folder / "profile.db") as profile,
            profile.chromium(headless=True) as chrome,
        ):
            hostile = await profile.extensions.start(hostile_folder, on_log=lambda _: None)
            other = await profile.extensions.start(make_extension(folder, "calm", {"page.html": "<p>calm"}))
            calm = (await other.open_page("page.html")).page

            async def inject(page: Page, script: str) -> None:
                tab = next(tab for tab in chrome.engine.tabs if chrome.engine.page_of(tab) is page)
                code = json.dumps({"code": f"{script}; 0"})
                await hostile.evaluate(f"await browser.tabs.executeScript({tab}, {code})")

            def flooded(kind: str) -> contextlib.AbstractAsyncContextManager[None]:
                if kind in _PAGES:
                    return popup_flood(hostile, hostile_folder, _PAGES[kind])
                if kind in _SCRIPTS:
                    return page_flood(chrome, site.url("/"), lambda page: inject(page, _SCRIPTS[kind]))
                if kind in _WEB:
                    text = f"() => {{ {_WEB[kind].replace('BASE', hostile.manifest.base_url)} }}"
                    return page_flood(chrome, site.url("/"), lambda page: page.evaluate(text))
                flooding = make_extension(folder, kind.partition(": ")[2], {}, _BACKGROUNDS[kind])
                return background_flood(profile, flooding)

            gc.freeze()  # as `hatbox run` does
            found[QUIET] = await observe(seconds, profile, calm)
            for kind in FLOODS:
                if part in kind:
                    async with flooded(kind):
                        found[kind] = await observe(seconds, profile, calm)
    return found


def quantile(values: list[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


BENCHMARK = Benchmark(
    measure,
    [*(Figure(kind, "ms", at_most=50) for kind in FLOODS), Figure(SINGLE_CALLS, "ms")],
    seconds=(5.0, 0.02),
    flood=("", ""),  # only those whose name contains this
)

if __name__ == "__main__":
    BENCHMARK.main()
