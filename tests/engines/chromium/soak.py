"""Random use of a real Chromium: hide, show, open, close, navigate and kill, at random times, all from one seed.

test_soak.py runs it for a few seconds with fixed seeds. `python -m tests.engines.chromium.soak --minutes 30` runs it
longer and prints the seed; `--seed N` repeats the same steps. If it is stuck it prints what every task waits for.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import hatbox
from hatbox.engines import engine_supervisor
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from tests.engines.chromium.real import browser_process
from tests.site import Site

T = TypeVar("T")

WORK, PERSONAL = "firefox-container-2", "firefox-container-1"
LIMIT_SECONDS = 60.0  # a check that takes longer hangs, also on a busy machine
MOST_TABS = 6
STEPS_BETWEEN_CHECKS = 6
PAUSES = (0.0, 0.0, 0.01, 0.05, 0.1, 0.2, 0.4)  # so that steps meet loads in all their states
PLACES = ("/page/1", "/page/2", "/page/3", "/long", "/storage", "/download", "/status/204")
TITLES = {"/page/1": "Page 1", "/page/2": "Page 2", "/page/3": "Page 3", "/long": "Long"}
SITE_DATA = "local V, indexed V"


class Soak:
    """Random steps on one profile, and the expected tabs after them."""

    def __init__(self, profile: hatbox.Profile, runner: ChromiumRunner, site: Site, seed: int) -> None:
        self.steps: list[str] = []
        """The steps so far."""
        self.difference = ""
        """The difference from the expected tabs that the latest check waits to disappear."""
        self.pages = ""
        """The state of every page when a check failed."""
        self._profile = profile
        self._runner = runner
        self._site = site
        self._random = random.Random(seed)
        self._urls: dict[int, str] = {}  # of each tab; empty if it depends on the order of two loads
        self._hidden: set[str] = set()
        self._stores: dict[int, str] = {}

    async def start(self) -> None:
        """Write site data in both identities, so that opening their contexts is slow and navigates more."""
        for store in (WORK, PERSONAL):
            page = await within(
                self._runner.new_page(store, self._site.url("/storage", write="V"), keep=True), "the first page"
            )
            await within(page.wait_for_function("title => document.title === title", arg=SITE_DATA), "site data")
        for tab in await self._profile.tabs.query():
            self._urls[tab.id], self._stores[tab.id] = tab.url, tab.cookie_store_id

    async def run(self, seconds: float) -> None:
        """Run steps for this time. Check the tabs at random and at the end."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for _ in range(STEPS_BETWEEN_CHECKS):
                await self._step()
            await self.check()

    async def _step(self) -> None:
        kinds: dict[Callable[[], Awaitable[str]], int] = {
            self._hide: 5,
            self._show: 6,
            self._navigate: 5,
            self._open: 3,
            self._close: 2,
            self._kill: 1,
        }
        step = self._random.choices(list(kinds), list(kinds.values()))[0]
        pause = self._random.choice(PAUSES)
        self.steps.append(f"{step.__name__.strip('_')} …")
        self.steps[-1] = f"{await within(step(), self.steps[-1])}, then {pause:g} s"
        await asyncio.sleep(pause)

    async def _hide(self) -> str:
        store = self._random.choice([WORK, PERSONAL])
        await self._profile.identities.hide(store)
        self._hidden.add(store)
        return f"hide {store}"

    async def _show(self) -> str:
        store = self._random.choice([WORK, PERSONAL])
        await self._profile.identities.show(store)
        self._hidden.discard(store)
        return f"show {store}"

    async def _open(self) -> str:
        store, place = self._random.choice([WORK, PERSONAL]), self._random.choice(PLACES)
        if len(self._urls) >= MOST_TABS:
            return "open nothing"
        tab = await self._profile.tabs.open(store, self._site.url(place))
        self._hidden.discard(store)  # a tab that opens shows its identity
        self._stores[tab.id] = store
        self._urls[tab.id] = self._site.url(place) if _is_page(place) else "about:blank"
        return f"open {place} in {store} as tab {tab.id}"

    async def _close(self) -> str:
        if len(self._urls) < 2:
            return "close nothing"
        tab_id = self._random.choice(sorted(self._urls))
        await self._profile.tabs.close([tab_id])
        del self._urls[tab_id]
        return f"close tab {tab_id}"

    async def _navigate(self) -> str:
        tab_id, place = self._random.choice(sorted(self._urls)), self._random.choice(PLACES)
        await self._profile.tabs.navigate(tab_id, self._site.url(place))
        self._urls[tab_id] = self._site.url(place) if _is_page(place) else ""
        return f"navigate tab {tab_id} to {place}"

    async def _kill(self) -> str:
        running = self._runner.engine.running
        if running is None or not running.env.launched.browser.is_connected():
            return "kill nothing"
        with contextlib.suppress(Exception):  # it may end before it responds
            os.kill(await browser_process(self._runner), signal.SIGKILL)
        return "kill the browser"

    async def check(self) -> None:
        """Every visible tab has a page that has loaded, no hidden one has, and none was lost."""
        self.steps.append("check")
        try:
            await within(self._check(), "check")
        except AssertionError:
            running = self._runner.engine.running
            live = running.pages.items() if running else ()
            flags = {
                tab_id: {name: each for name, each in vars(page).items() if isinstance(each, bool)}
                for tab_id, page in live
            }
            self.pages = "\n".join(f"tab {tab_id}: {each}" for tab_id, each in flags.items())
            raise

    async def _check(self) -> None:
        while difference := await self._difference():  # a killed browser is being restarted
            self.difference = difference
            await asyncio.sleep(0.05)
        self.difference = ""

    async def _difference(self) -> str:
        """The difference from the expected tabs; empty if there is none."""
        await self._runner.wait_until_settled()
        tabs = {tab.id: tab for tab in await self._profile.tabs.query()}
        assert tabs.keys() == self._urls.keys(), f"tabs {sorted(tabs)}, and not {sorted(self._urls)}"
        visible = {tab_id for tab_id in tabs if self._stores[tab_id] not in self._hidden}
        assert {tab.id for tab in tabs.values() if not tab.hidden} == visible
        for tab_id in visible:
            await self._runner.wait_until_loaded(tab_id)
        if self._runner.engine.tabs != visible:
            return f"pages of {sorted(self._runner.engine.tabs)}, and not of {sorted(visible)}"
        for tab_id in visible:
            if why := await self._tab_differs(tab_id):
                return f"tab {tab_id}: {why}"
        return ""

    async def _tab_differs(self, tab_id: int) -> str:
        tab, url = await self._profile.tabs.get(tab_id), self._urls[tab_id]
        if tab.loading or tab.error:
            return f"loading {tab.pending_url}, {tab.error}"
        if url and tab.url != url:
            return f"it is at {tab.url}, and not at {url}"
        title = TITLES.get(tab.url.removeprefix(self._site.url("")))
        page = self._runner.engine.page_of(tab_id)
        if title is None or page is None:
            return ""
        return "" if tab.title == title == await page.title() else f"its title is {tab.title!r}, and not {title!r}"

    async def check_restart(self, runner: ChromiumRunner) -> None:
        """The next engine shows the same tabs, with the site data of both identities."""
        self._runner = runner
        await self.check()
        for store in (WORK, PERSONAL):
            page = await within(runner.new_page(store, self._site.url("/storage"), keep=True), "site data")
            await within(page.wait_for_function("title => document.title === title", arg=SITE_DATA), "site data")


def _is_page(place: str) -> bool:
    return place not in ("/download", "/status/204")


async def within(work: Awaitable[T], what: str) -> T:
    """The result. After the timeout, raises an error with the stack of every task."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait([task], timeout=LIMIT_SECONDS)
    if not done:
        tasks = waiting_tasks()
        task.cancel()
        raise AssertionError(f"stuck for {LIMIT_SECONDS:g} s in: {what}\n{tasks}")
    return task.result()


def waiting_tasks() -> str:
    """Every task of this loop and its stack, innermost call last."""
    return "\n".join(
        "\n    ".join([f"{task.get_name()}:", *_calls(task.get_coro())])
        for task in sorted(asyncio.all_tasks(), key=lambda each: each.get_name())
    )


def _calls(waits: Any) -> Iterator[str]:
    while waits is not None:
        frame = next(
            (getattr(waits, name) for name in ("cr_frame", "gi_frame", "ag_frame") if hasattr(waits, name)), None
        )
        if frame is None:
            return
        yield f"{frame.f_code.co_qualname} ({Path(frame.f_code.co_filename).name}:{frame.f_lineno})"
        waits = next(
            (getattr(waits, name) for name in ("cr_await", "gi_yieldfrom", "ag_await") if hasattr(waits, name)), None
        )


async def soak(path: Path, browser: str | None, seed: int, seconds: float) -> list[str]:
    """Run random steps on a new profile for this time; returns them. A failed AssertionError has them too."""
    with Site() as site:
        async with hatbox.open(path) as profile:
            run = None
            try:  # the engine is stopped first, so that the states do not change while they are read
                async with profile.chromium(headless=True, browser=browser) as runner:
                    run = Soak(profile, runner, site, seed)
                    await run.start()
                    await run.run(seconds)
                async with profile.chromium(headless=True, browser=browser) as runner:
                    await run.check_restart(runner)
            except BaseException as error:
                if run is not None:
                    states = "\n".join(map(str, await profile.tabs.query()))
                    heading = f"{run.difference}\n{states}\n{run.pages}\nseed {seed}, after these steps:"
                    error.add_note("\n".join([heading, *run.steps[-40:]]))
                raise
        assert not site.mixed
    return run.steps


def main() -> None:
    parser = argparse.ArgumentParser(description="Random use of a real Chromium.")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--browser")
    given = parser.parse_args()
    sys.stdout.write(f"seed {given.seed}\n")
    sys.stdout.flush()
    setattr(engine_supervisor, "_RESTART_DELAYS", (0.05,))  # noqa: B010 - it is Final; browsers are killed often here
    with tempfile.TemporaryDirectory() as folder:
        steps = asyncio.run(soak(Path(folder, "profile.db"), given.browser, given.seed, given.minutes * 60))
    sys.stdout.write(f"{len(steps)} steps, nothing was stuck or lost\n")


if __name__ == "__main__":
    main()
