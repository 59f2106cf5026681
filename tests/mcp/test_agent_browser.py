"""The browser of agents starts once, belongs to all of them, and is never left without an owner. Without a browser."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hatbox.errors import EngineError
from hatbox.mcp.agent_browser import AgentBrowser
from hatbox.mcp.tool_output import ToolRefused
from tests.store.in_loop import in_loop
from tests.waiting import until


class Runner:
    """An engine whose start the test controls."""

    attached_to = object()

    def __init__(self, *, error: Exception | None = None) -> None:
        self.may_start = asyncio.Event()
        self.is_entered = asyncio.Event()
        self.stopped = asyncio.Event()
        self.may_stop = asyncio.Event()
        self.may_stop.set()
        self.pages = 0
        self._error = error

    async def __aenter__(self) -> Runner:
        self.is_entered.set()
        await self.may_start.wait()
        if self._error is not None:
            raise self._error
        return self

    async def wait_until_synced(self) -> None:
        pass

    async def wait_until_stopped(self) -> None:
        await self.stopped.wait()

    async def new_page(self, _: object) -> object:
        self.pages += 1
        return object()

    async def stop(self) -> None:
        await self.may_stop.wait()
        self.stopped.set()


class User:
    """An agent without tabs."""

    tabs: tuple[()] = ()


def browser(*runners: Runner) -> AgentBrowser:
    left = list(runners)
    options = SimpleNamespace(headless=True, browser=None, downloads=None)
    profile = SimpleNamespace(chromium=lambda **_: left.pop(0))
    grant = SimpleNamespace(is_limited=False, allows_private_networks=True)
    return AgentBrowser(
        cast(Any, SimpleNamespace(profile=profile, options=options, identity=None, grant=lambda: grant))
    )


@in_loop
async def test_a_client_that_goes_away_during_the_start_leaves_no_browser() -> None:
    runner, user = Runner(), cast(Any, User())
    shared = browser(runner)
    call = asyncio.ensure_future(shared.new_page(user))
    await runner.is_entered.wait()
    call.cancel()
    await asyncio.wait([call])
    assert not runner.stopped.is_set()  # it may be needed by the next call
    await shared.release(user)
    assert runner.stopped.is_set()


@in_loop
async def test_the_browser_is_stopped_after_its_last_agent_and_started_again() -> None:
    first, second = Runner(), Runner()
    users = [cast(Any, User()) for _ in range(2)]
    shared = browser(first, second)
    first.may_start.set()
    second.may_start.set()
    await asyncio.gather(*(shared.new_page(each) for each in users))
    await shared.release(users[0])
    assert not first.stopped.is_set()
    await shared.release(users[1])
    assert first.stopped.is_set()
    await shared.new_page(users[0])
    second.stopped.set()  # the program that runs it has ended
    await until(lambda: shared._running is None)
    with pytest.raises(IndexError):  # so it would start a third one
        await shared.new_page(users[0])


@in_loop
async def test_a_failed_start_is_tried_again_and_a_closed_browser_is_not() -> None:
    failing, good = Runner(error=EngineError("no browser")), Runner()
    shared, user = browser(failing, good), cast(Any, User())
    failing.may_start.set()
    good.may_start.set()
    with pytest.raises(EngineError):
        await shared.new_page(user)
    assert failing.stopped.is_set()
    await shared.new_page(user)
    await shared.close()
    assert good.stopped.is_set()
    with pytest.raises(ToolRefused):
        await shared.new_page(user)


@in_loop
async def test_an_agent_that_leaves_while_the_browser_stops_starts_no_other_one() -> None:
    first, second = Runner(), Runner()
    users = [cast(Any, User()) for _ in range(2)]
    shared = browser(first, second)
    first.may_start.set()
    second.may_start.set()
    await shared.new_page(users[0])
    first.may_stop.clear()
    stopping = asyncio.ensure_future(shared.release(users[0]))
    await until(lambda: shared._stopping)
    call = asyncio.ensure_future(shared.new_page(users[1]))
    await until(lambda: users[1] in shared._users)
    leaving = asyncio.ensure_future(shared.release(users[1]))
    await until(lambda: not shared._users)
    first.may_stop.set()
    with pytest.raises(ToolRefused):
        await call
    await asyncio.gather(stopping, leaving)
    assert not second.is_entered.is_set()
