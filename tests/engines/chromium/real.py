"""What tests with a real Chromium share: they end, they wait for what happens, and they know what runs."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import hatbox
from hatbox.cookies import Cookie
from hatbox.engines.chromium.chromium_runner import ChromiumRunner

P = ParamSpec("P")
T = TypeVar("T")

LIMIT_SECONDS = 90  # a busy machine needs a while to start a browser
WITHIN = 10.0  # seconds for what takes a fraction of one


def with_browser(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """An async test as a plain function."""

    @functools.wraps(test)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        asyncio.run(asyncio.wait_for(test(*arguments, **named), LIMIT_SECONDS))

    return run


async def until(check: Callable[[], Awaitable[T]], seconds: float = WITHIN) -> T:
    """Wait until something is so that tells nobody; returns what `check` gives then."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not (value := await check()):
        assert asyncio.get_running_loop().time() < deadline, "it has not happened"
        await asyncio.sleep(0.01)
    return value


async def cookie(profile: hatbox.Profile, identity: str, name: str) -> Cookie | None:
    """The cookie of this name in an identity's store."""
    store = await profile.cookie_store(identity)
    return next((each for each in await store.cookies() if each.name == name), None)


async def value(profile: hatbox.Profile, identity: str, name: str) -> str | None:
    """The value of a cookie in an identity's store."""
    found = await cookie(profile, identity, name)
    return found.value if found else None


async def browser_process(runner: ChromiumRunner) -> int:
    """The process of the browser."""
    launched = runner.engine._launched
    assert launched is not None
    info = await launched.session.send("SystemInfo.getProcessInfo")
    return next(int(each["id"]) for each in info["processInfo"] if each["type"] == "browser")


def command_line(process: int) -> list[str]:
    return Path(f"/proc/{process}/cmdline").read_text().split("\0")
