"""What a real browser costs under Hatbox, beside plain Playwright that does the same: `python -m benchmarks.tabs`.

One run, against a site on the loopback address. The two open the same state (cookies, localStorage, IndexedDB) by
turns, in the same Chromium with the same flags, and the medians count: ours is timed until the tab is complete in the
profile, Playwright's from `new_context(storage_state=...)` until the page has loaded. Memory is what this process and
all below it gain by identities that are signed in (PSS), ours beside Playwright with its own flags. Linux only.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from benchmarks.memory import memory_of, with_children
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.launch import find_browser, launch
from tests.engines.program import Program
from tests.site import Site
from tests.waiting import until_awaited

USER = "Work"
STORE_ID = "firefox-container-2"  # Work's
OTHER = "Personal"
COOKIES = 20
PATIENCE = 20.0


# A page that notes when it first sees a cookie.
LOOK_OUT = """pair => {
  window.seen = new Promise((resolve) => {
    const look = () => {
      if (document.cookie.split("; ").includes(pair)) resolve(Date.now());
      else setTimeout(look, 2);
    };
    look();
  });
  return null;
}"""


PLAIN, STORAGE = "opening an identity that has 21 cookies", "the same with localStorage and IndexedDB"
DELAYS = {
    "a cookie set by a server is in the store": 1000,
    "a cookie set by a script is in the store": 1000,
    "the same on a page that is not secure": 1000,
    "a cookie of the store is in the page": 1000,
    "`hide` in another process has closed the page": 200,
}
"""Milliseconds, at most."""


async def measure(folder: Path, rounds: int, memory: int, crowd: int, times: int, calm: float) -> Measured:
    """All of it, one after the other: never two things that are measured at once."""
    with Site() as site:
        seconds, weight, right = await open_crowd(site, folder / "crowd.db", crowd, calm)
        figures: dict[str, float | tuple[float, float]] = {
            **await opening(site, folder / "opening.db", rounds),
            "memory of an identity that is signed in": (
                await weight_of_hatbox(site, folder / "memory.db", memory, calm) / 1e6,
                await weight_of_playwright(site, memory, calm) / 1e6,
            ),
            "100 identities at once: opened": seconds,
            "100 identities at once: memory of each": weight / 1e6,
            "100 identities at once: not signed in as themselves": crowd - right,
            **await delays(site, folder / "delays.db", times),
        }
        assert not site.mixed, site.mixed
        return figures


# ---------------------------------------------------------------------------------------------------------- opening


async def opening(site: Site, path: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """The medians of the milliseconds in which we and Playwright open one identity."""
    async with contextlib.AsyncExitStack() as stack:
        launched = await launch(None, headless=True)
        stack.push_async_callback(launched.stop)
        profile = await stack.enter_async_context(hatbox.open(path))
        engine = await stack.enter_async_context(profile.chromium(headless=True))
        medians = {}
        for what, storage in ((PLAIN, False), (STORAGE, True)):
            context = await launched.browser.new_context()
            page = await context.new_page()
            await page.goto(site.url("/login", user="Bare"))
            await fill(site, page, "Bare", storage=storage)
            state = await context.storage_state(indexed_db=True)
            await context.close()
            page = await engine.new_page(USER, site.url("/login", user=USER))
            await fill(site, page, USER, storage=storage)
            await put_away(profile, engine)
            sides = (
                partial(open_ours, site, profile, engine, storage=storage),
                partial(open_bare, site, launched.browser, state, storage=storage),
            )
            taken: tuple[list[float], list[float]] = ([], [])
            for number in range(rounds + 1):
                for side in (0, 1) if number % 2 else (1, 0):
                    seconds = await sides[side]()
                    if number:  # the first warms up
                        taken[side].append(seconds * 1000)
            medians[what] = statistics.median(taken[0]), statistics.median(taken[1])
        return medians


async def open_bare(site: Site, browser: Browser, state: Any, *, storage: bool) -> float:
    """Playwright, on its own."""
    begun = time.perf_counter()
    context = await browser.new_context(storage_state=state)
    page = await context.new_page()
    await page.goto(site.url("/me", as_="Bare"))
    taken = time.perf_counter() - begun
    await check(site, page, "Bare", storage=storage)
    await context.close()
    return taken


async def open_ours(site: Site, profile: hatbox.Profile, engine: ChromiumRunner, *, storage: bool) -> float:
    """Hatbox: a tab of the profile."""
    begun = time.perf_counter()
    page = await engine.new_page(USER, site.url("/me", as_=USER))
    taken = time.perf_counter() - begun
    await check(site, page, USER, storage=storage)
    await put_away(profile, engine)
    return taken


async def fill(site: Site, page: Page, user: str, *, storage: bool) -> None:
    """Give an identity what it is to have."""
    lines = [f"cookie{number}={user}-{number}; Path=/; Max-Age=86400" for number in range(COOKIES)]
    await page.goto(site.url("/me", as_=user, set=lines))
    if storage:
        await page.goto(site.url("/storage", write=f"{user}-kept", as_=user))
        await stored(page, user)


async def check(site: Site, page: Page, user: str, *, storage: bool) -> None:
    """See that an identity has it."""
    assert await page.title() == f"Signed in as {user}", await page.title()
    assert len(site.requests("/me")[-1].cookies) == COOKIES + 1
    if storage:
        await page.goto(site.url("/storage", as_=user))
        await stored(page, user)


async def stored(page: Page, user: str) -> None:
    """Wait until the page has said that both kinds of storage have what is this user's."""
    await page.wait_for_function(f"document.title === 'local {user}-kept, indexed {user}-kept'", polling=20)


async def put_away(profile: hatbox.Profile, engine: ChromiumRunner) -> None:
    """Close all tabs, and with them the contexts."""
    await profile.tabs.close([tab.id for tab in await profile.tabs.query()])
    await engine.wait_until_settled()


# ----------------------------------------------------------------------------------------------------------- memory


async def weight_of_playwright(site: Site, count: int, calm: float) -> float:
    """Bytes for each identity, with the flags that Playwright uses by default."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_browser(), headless=True)

        async def sign_in(user: str) -> None:
            page = await (await browser.new_context()).new_page()
            await page.goto(site.url("/login", user=user, as_=user))
            assert await page.title() == f"Signed in as {user}"

        try:
            return await weight_of_each(count, sign_in, calm)
        finally:
            await browser.close()


async def weight_of_hatbox(site: Site, path: Path, count: int, calm: float) -> float:
    """Bytes for each identity, as we start the browser."""
    async with hatbox.open(path) as profile, profile.chromium(headless=True) as engine:

        async def sign_in(user: str) -> None:
            await profile.identities.create(user, color="blue", icon="pet")
            page = await engine.new_page(user, site.url("/login", user=user, as_=user))
            assert await page.title() == f"Signed in as {user}"

        return await weight_of_each(count, sign_in, calm)


async def weight_of_each(count: int, sign_in: Callable[[str], Awaitable[None]], calm: float) -> float:
    """Bytes that each of so many identities adds to those that are there. The first is not counted: it warms up."""
    await sign_in("first")
    await asyncio.sleep(calm)
    before = memory_of(with_children(os.getpid()))
    for number in range(count):
        await sign_in(f"client{number}")
    await asyncio.sleep(calm)
    return (memory_of(with_children(os.getpid())) - before) / count


# ------------------------------------------------------------------------------------------------------------ crowd


async def open_crowd(site: Site, path: Path, count: int, calm: float) -> tuple[float, float, int]:
    """Many identities at once: seconds until all are open, bytes for each, and how many are who they should be."""
    users = [f"client{number}" for number in range(count)]
    async with hatbox.open(path) as profile:
        for user in users:
            await profile.identities.create(user, color="blue", icon="pet")
            async with profile.httpx(user, follow_redirects=True) as client:  # the browser has to find this
                await client.get(site.url("/login", user=user, as_=user))
        async with profile.chromium(headless=True) as engine:
            before, begun = memory_of(with_children(os.getpid())), time.perf_counter()
            tabs = [
                await profile.tabs.open(user, site.url("/storage", write=f"{user}-kept", as_=user)) for user in users
            ]
            pages = await asyncio.gather(*(engine.page(tab.id) for tab in tabs))
            seconds = time.perf_counter() - begun
            await asyncio.sleep(calm)
            weight = (memory_of(with_children(os.getpid())) - before) / count
            right = [await is_right(site, page, user) for page, user in zip(pages, users, strict=True)]
            return seconds, weight, sum(right)


async def is_right(site: Site, page: Page, user: str) -> bool:
    """Whether the site takes the page for this user, and the page has what is this user's and no more."""
    await page.goto(site.url("/storage", as_=user))
    await stored(page, user)
    await page.goto(site.url("/me", as_=user))
    kept = await page.evaluate("Object.entries(localStorage).join()")
    return await page.title() == f"Signed in as {user}" and kept == f"kept,{user}-kept"


# ----------------------------------------------------------------------------------------------------------- delays


async def delays(site: Site, path: Path, times: int) -> dict[str, float]:
    """How soon what is done on one side is there on the other. The other side is another process, or could be."""
    async with (
        hatbox.open(path) as profile,
        hatbox.open(path) as other,
        profile.chromium(headless=True) as engine,
    ):
        page = await engine.new_page(USER, site.url("/login", user=USER))
        await (await engine.context(OTHER)).route("http://plain.example/", lambda route: route.fulfill(body="plain"))
        plain = await engine.new_page(OTHER, "http://plain.example/")
        set_by_server = "line => fetch('/me?set=' + encodeURIComponent(line)).then(() => Date.now())"
        set_by_script = "line => { document.cookie = line; return Date.now(); }"
        found = (
            await to_store(other, page, set_by_server, times),
            await to_store(other, page, set_by_script, times),
            await to_store(other, plain, set_by_script, times, OTHER),
            await to_browser(other, page, times),
            await hiding(profile, engine, path, times),
        )
    medians = {what: statistics.median(taken) for what, taken in zip(DELAYS, found, strict=True)}
    return {**medians, **{f"{what}, worst of 15": max(taken) for what, taken in zip(DELAYS, found, strict=True)}}


async def to_store(other: hatbox.Profile, page: Page, script: str, times: int, user: str = USER) -> list[float]:
    """Milliseconds from a cookie in the browser to the cookie on disk."""
    store = await other.cookie_store(user)

    async def moment(value: str) -> float:
        async def is_there() -> bool:
            return any(cookie.value == value for cookie in await store.cookies())

        await until_awaited(is_there)
        return time.time() * 1000

    taken = []
    for number in range(times):
        value = f"{user}-{number}{len(script)}"
        there = asyncio.create_task(moment(value))
        begun = await page.evaluate(script, f"beat={value}; path=/")
        taken.append(max(0, await there - begun))
    return taken


async def to_browser(other: hatbox.Profile, page: Page, times: int) -> list[float]:
    """Milliseconds from before a cookie is put into the store until a script of the page sees it."""
    store = await other.cookie_store(USER)
    taken = []
    for number in range(times):
        pair = f"wave={USER}-{number}"
        await page.evaluate(LOOK_OUT, pair)
        begun = time.time() * 1000
        await store.receive([f"{pair}; Path=/"], page.url)
        taken.append(await asyncio.wait_for(page.evaluate("window.seen"), PATIENCE) - begun)
    return taken


async def hiding(profile: hatbox.Profile, engine: ChromiumRunner, path: Path, times: int) -> list[float]:
    """Milliseconds from before `hide` in another process until the page is closed, what it keeps being saved."""
    (tab,) = await profile.tabs.query(USER)
    taken = []
    with await asyncio.to_thread(Program, path) as program:
        for _ in range(times):
            page = await engine.page(tab.id)
            closed = closing(page)
            answer = await asyncio.to_thread(program.call, "identities", "hide", STORE_ID)
            taken.append((await asyncio.wait_for(closed, PATIENCE) - answer.before) / 1e6)
            await engine.wait_until_settled()
            await profile.identities.show(STORE_ID)
    return taken


def closing(page: Page) -> asyncio.Future[int]:
    """When the page is closed, in nanoseconds of time.monotonic."""
    closed: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    page.once("close", lambda _: closed.set_result(time.monotonic_ns()))
    return closed


BENCHMARK = Benchmark(
    measure,
    [
        Figure(PLAIN, "ms", "Playwright", at_most=1.3),
        Figure(STORAGE, "ms", "Playwright", at_most=1.3),
        Figure("memory of an identity that is signed in", "MB", "Playwright", at_most=0.6),
        Figure("100 identities at once: opened", "s"),
        Figure("100 identities at once: memory of each", "MB"),
        Figure("100 identities at once: not signed in as themselves", at_most=0),
        *(Figure(what, "ms", at_most=limit) for what, limit in DELAYS.items()),
        *(Figure(f"{what}, worst of 15", "ms") for what in DELAYS),
    ],
    rounds=(25, 1),  # how often an identity is opened, by each of the two
    memory=(25, 1),  # identities that are weighed
    crowd=(100, 2),
    times=(15, 1),  # how often each delay is taken
    calm=(3.0, 0.0),  # seconds until processes that were started are there, and those that end are gone
)

if __name__ == "__main__":
    BENCHMARK.main()
