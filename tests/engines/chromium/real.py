"""Shared by tests with a real Chromium: a time limit, polling, and access to the running browser."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ParamSpec

import pytest

import hatbox
from hatbox.cookies import Cookie
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.running_browser import RunningBrowser
from tests.engines.chromium import shared_driver

P = ParamSpec("P")

LIMIT_SECONDS = 240  # a busy machine starts a browser slowly
WITHIN = 60.0  # seconds; a quiet machine needs a fraction of one


def with_browser(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test with a time limit, with the Playwright driver that all these tests share."""

    @functools.wraps(test)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        shared_driver.run(asyncio.wait_for(test(*arguments, **named), LIMIT_SECONDS))

    marked: Callable[P, None] = pytest.mark.browser(run)
    return marked


def with_own_driver(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test with a time limit, with its own driver, as programs have.

    Floods of messages end with the driver, and so does a program that was launched and does not answer: the shared
    driver, which runs on, waits half a minute for that.
    """

    @functools.wraps(test)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*arguments, **named), LIMIT_SECONDS))

    marked: Callable[P, None] = pytest.mark.browser(run)
    return marked


async def run_timers(page: Any, count: int, milliseconds: int) -> None:
    """Return after that many timers of a page, one after the other: other pages have run theirs meanwhile."""
    await page.evaluate(
        """([count, milliseconds]) => new Promise((done) => {
          const timer = setInterval(() => --count || (clearInterval(timer), done()), milliseconds);
        })""",
        [count, milliseconds],
    )


async def cookie(profile: hatbox.Profile, identity: str, name: str) -> Cookie | None:
    """The cookie of this name in an identity's store."""
    store = await profile.cookie_store(identity)
    return next((each for each in await store.cookies() if each.name == name), None)


async def value(profile: hatbox.Profile, identity: str, name: str) -> str | None:
    """The value of a cookie in an identity's store."""
    found = await cookie(profile, identity, name)
    return found.value if found else None


def running(runner: ChromiumRunner) -> RunningBrowser:
    """The parts of the running browser."""
    assert runner.engine.running is not None
    return runner.engine.running


async def browser_process(runner: ChromiumRunner) -> int:
    """The pid of the browser."""
    info = await running(runner).env.launched.session.send("SystemInfo.getProcessInfo")
    return next(int(each["id"]) for each in info["processInfo"] if each["type"] == "browser")


def command_line(process: int) -> list[str]:
    return Path(f"/proc/{process}/cmdline").read_text().split("\0")


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
