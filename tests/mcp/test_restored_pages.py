"""The tabs of agents are opened again after a person has used the identity. Without a browser."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from hatbox.mcp.server import AgentServer
from hatbox.mcp.tool_output import ToolFailed
from tests.store.in_loop import in_loop
from tests.waiting import until

URLS = [f"https://site.example/{number}" for number in range(3)]


class Context:
    """A browser context without cookies."""

    def __init__(self, page: Page) -> None:
        self.pages = [page]

    async def cookies(self) -> list[dict[str, Any]]:
        return []


class Page:
    """A page whose loads the test controls. It is its own main frame."""

    def __init__(self, runner: Runner) -> None:
        self.url = "about:blank"
        self.main_frame = self
        self.frames = [self]
        self.context = Context(self)
        self._runner = runner
        self._is_closed = False

    def on(self, *_: object) -> None:
        pass

    def is_closed(self) -> bool:
        return self._is_closed or self._runner.is_stopped

    async def goto(self, url: str, **_: object) -> None:
        self._runner.loading += 1
        await self._runner.may_load.wait()
        self.url = url

    async def close(self) -> None:
        self._is_closed = True


class Runner:
    """A browser with windows, of another program."""

    attached_to = object()
    has_windows = True
    has_clients = False

    def __init__(self, may_load: asyncio.Event, may_open: asyncio.Event) -> None:
        self.may_load = may_load
        self.may_open = may_open
        self.loading = 0
        self.opening = 0
        self.is_stopped = False

    async def __aenter__(self) -> Runner:
        return self

    async def wait_until_synced(self) -> None:
        pass

    async def wait_until_stopped(self) -> None:
        await asyncio.Event().wait()

    async def new_page(self, _: object) -> Page:
        self.opening += 1
        await self.may_open.wait()
        return Page(self)

    async def stop(self) -> None:
        self.is_stopped = True


class Agents:
    """Two agents of one server: the first has one tab, the second has three, of which the second one is current."""

    def __init__(self, first: AgentSession, second: AgentSession, runners: list[Runner]) -> None:
        self.first, self.second, self.runners = first, second, runners
        self.server = AgentServer(second, "0")

    async def open(self) -> None:
        for session, urls in ((self.first, URLS[:1]), (self.second, URLS)):
            for url in urls:
                await session.pages.open_tab()
                session.pages.select(len(session.pages.tabs) - 1)
                session.pages.tabs[-1].page.url = url  # type: ignore[misc]
        self.second.pages.select(1)

    async def ask(self) -> None:
        """A person uses the identity, and is done."""
        async with self.first.browser.suspended():
            pass

    async def asked(self) -> asyncio.Task[None]:
        """The same, until the first tab loads again."""
        before = len(self.runners)
        asking = asyncio.ensure_future(self.ask())
        await until(lambda: len(self.runners) > before and self.runners[-1].loading)
        return asking

    @property
    def urls(self) -> list[str]:
        return [each.page.url for each in self.second.pages.tabs]


@contextlib.asynccontextmanager
async def agents(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Agents]:
    runners: list[Runner] = []
    may_load, may_open = asyncio.Event(), asyncio.Event()
    may_open.set()

    def chromium(**_: Any) -> Runner:
        runners.append(Runner(may_load, may_open))
        return runners[-1]

    async with hatbox.open(folder / "profile.db") as profile:
        identity = await profile.identities.find("Work")
        monkeypatch.setattr(profile, "chromium", chromium)
        async with (
            AgentSession(profile, identity, AgentOptions(), hosts=["<all_urls>"]) as first,
            first.sibling() as second,
        ):
            found = Agents(first, second, runners)
            await found.open()
            yield found


@in_loop
async def test_tools_wait_until_the_tabs_are_open_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hatbox.mcp.agent_pages._RELOAD_SECONDS", 3600)
    async with agents(tmp_path, monkeypatch) as both:
        asking = await both.asked()
        for tool in ({"name": "browser_tabs", "arguments": {"action": "list"}}, {"name": "browser_snapshot"}):
            with pytest.raises(ToolFailed, match=r"loaded again.*Try again in some seconds"):
                await both.server.call(tool["name"], tool.get("arguments", {}))  # type: ignore[arg-type]
        with pytest.raises(ToolFailed, match="loaded again"):  # it would forget what is not loaded yet
            await both.ask()
        await until(lambda: both.runners[-1].loading == 4)  # at once: one site that does not answer costs one timeout
        both.runners[-1].may_load.set()
        await asking
        assert both.urls == [URLS[0], URLS[2], URLS[1]]  # the current one is the last one
        assert both.second.pages.current_url == URLS[1]
        assert f"2: (current) {URLS[1]}" in (await both.server.call("browser_tabs", {"action": "list"})).text


@in_loop
async def test_tabs_that_do_not_load_in_time_go_on_loading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hatbox.mcp.agent_pages._RELOAD_SECONDS", 0)
    async with agents(tmp_path, monkeypatch) as both:
        for _ in range(2):  # a tab that is loading is remembered with its address
            await both.ask()
            assert both.urls == ["about:blank"] * 3
            assert both.second.pages.are_loading
            assert "2: (current) about:blank" in (await both.server.call("browser_tabs", {"action": "list"})).text
        both.runners[-1].may_load.set()
        await until(lambda: not both.second.pages.are_loading)
        assert sorted(both.urls) == URLS


@in_loop
async def test_an_agent_that_leaves_while_its_tabs_open_again_leaves_no_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with agents(tmp_path, monkeypatch) as both:
        await both.first.pages.close()
        both.runners[-1].may_load.set()
        both.runners[-1].may_open.clear()
        asking = asyncio.ensure_future(both.ask())
        await until(lambda: len(both.runners) == 2 and both.runners[-1].opening)
        await both.second.close()
        both.runners[-1].may_open.set()
        await asking
        assert [each.is_stopped for each in both.runners] == [True, True]
        assert both.runners[-1].opening == 1
