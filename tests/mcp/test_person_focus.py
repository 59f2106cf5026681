"""No page of an agent gets the keys that a person presses at a window of a request. The keys are those of a display."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page

import hatbox
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from hatbox.mcp.server import AgentServer
from hatbox.mcp.tool_output import ToolFailed
from tests.engines.chromium import shared_driver
from tests.engines.chromium.desktop import Keyboard
from tests.engines.chromium.person import pages_of_person, strip_text
from tests.engines.chromium.real import run_timers
from tests.mcp.agent_client import reference
from tests.threaded_site import PageHandler, ThreadedSite
from tests.waiting import until, until_awaited

LOGIN = "<title>Sign in</title><input type=password autofocus>"
AGENT = """<title>Agent</title><label>Search <input autofocus></label><button>Continue</button>
<a href=/agent target=_blank>Other</a><script>
addEventListener("keydown", (event) => fetch("/key/" + event.key), true);
document.querySelector("button").onclick = () => setInterval(() => window.open("/agent"), 100);</script>"""


class _Site(ThreadedSite):
    """A form for a person, and a page of an agent that reports its keys and opens popups."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.keys: list[str] = []
        """The keys that pages of agents got."""


class _Handler(PageHandler):
    def respond(self) -> None:
        path = urlsplit(self.path).path
        if path.startswith("/key/"):
            self.server.site.keys.append(path)  # type: ignore[attr-defined]
        self.send_page({"/login": LOGIN, "/agent": AGENT}.get(path, ""))


async def _call(session: AgentSession, tool: str, **arguments: Any) -> str:
    return (await AgentServer(session, "0").call(tool, arguments)).text


def _person_page(session: AgentSession) -> Page:
    (runner,) = [each for each in session.profile._engines if each._is_running]
    assert isinstance(runner, ChromiumRunner)
    (page,) = pages_of_person(runner)
    return page


async def _type(keyboard: Keyboard, page: Page, keys: str, text: str) -> None:
    """Press keys, and wait until the field of a page has this text."""
    field = page.locator("input")
    await until_awaited(lambda: field.evaluate("(each) => document.hasFocus() && document.activeElement === each"))
    keyboard.type(keys)

    async def has_text() -> bool:
        return await field.input_value() == text

    await until_awaited(has_text)


async def _type_into_blank(keyboard: Keyboard, page: Page, keys: str) -> None:
    """Press keys at an empty page, and wait until it has them."""
    await until_awaited(lambda: page.evaluate("document.hasFocus()"))
    await page.evaluate("keys = ''; addEventListener('keydown', (event) => { keys += event.key; })")
    keyboard.type(keys)

    async def has_keys() -> bool:
        return bool(await page.evaluate("keys") == keys)

    await until_awaited(has_keys)


def test_with_windows_no_agent_gets_the_keys_of_a_person(tmp_path: Path, desktop: Keyboard) -> None:
    async def run() -> None:
        with _Site() as site:
            async with (
                hatbox.open(tmp_path / "profile.db") as profile,
                AgentSession(
                    profile, await profile.identities.find("Work"), AgentOptions(headless=False), hosts=["127.0.0.1"]
                ) as session,
                session.sibling() as sibling,
            ):
                shown = await _call(session, "browser_navigate", url=site.url("/agent"))
                await _call(sibling, "browser_navigate", url=site.url("/agent"))
                await _call(session, "browser_click", target=reference(shown, "Continue"))
                asked = await _call(session, "ask_person", message="Sign in", url=site.url("/login"), wait=0)
                assert asked.startswith("waiting:")
                page = _person_page(session)
                await _type(desktop, page, "first", "first")
                for tool in ("browser_navigate", "fetch"):
                    with pytest.raises(ToolFailed, match="a person uses this identity"):
                        await _call(sibling, tool, url=site.url("/agent"))
                with pytest.raises(ToolFailed, match="a person uses this identity"):
                    await _call(sibling, "ask_person", message="Sign in", url=site.url("/login"))
                assert not session.pages.tabs
                assert not sibling.pages.tabs
                await run_timers(page, 5, 100)  # a popup of a page that is still open has come by now
                await _type(desktop, page, "second", "firstsecond")
                ended = await _call(session, "ask_person_wait", end=True, wait=0)
                assert ended.startswith("waiting: the request has ended")
                await until(lambda: page.is_closed())
                blank = _person_page(session)
                assert "Close this window" in await strip_text(blank)
                await _type_into_blank(desktop, blank, "third")
                with pytest.raises(ToolFailed, match="ask_person_wait"):
                    await _call(session, "browser_snapshot")
                assert site.keys == []
                await blank.close()
                assert (await _call(session, "ask_person_wait", end=True, wait=60)).startswith("ended:")
                for each in (session, sibling):
                    assert "Search" in await _call(each, "browser_snapshot")
                    assert "first" not in await _call(each, "browser_snapshot")
                await until_awaited(lambda: session.pages.tabs[-1].page.evaluate("1"))
                desktop.type("x")
                await until(lambda: site.keys)  # the site sees keys at pages of agents

    shared_driver.run(asyncio.wait_for(run(), 120))


def test_an_agent_in_the_browser_of_a_person_does_not_get_the_keys(tmp_path: Path, desktop: Keyboard) -> None:
    async def run() -> None:
        path = tmp_path / "profile.db"
        with _Site() as site:
            async with (
                hatbox.open(path) as own,
                own.chromium(identities="Work") as runner,
                hatbox.open(path) as profile,
            ):
                page = await runner.new_page("Work", site.url("/login"), keep=True)
                await _type(desktop, page, "first", "first")
                async with AgentSession(
                    profile, await profile.identities.find("Work"), AgentOptions(), hosts=["<all_urls>"]
                ) as session:
                    shown = await _call(session, "browser_navigate", url=site.url("/agent"))
                    await _type(desktop, page, "second", "firstsecond")
                    await _call(session, "browser_tabs", action="new", url=site.url("/agent"))
                    await _call(session, "browser_tabs", action="select", index=0)
                    for tab in session.pages.tabs:
                        await tab.page.bring_to_front()
                    await _type(desktop, page, "third", "firstsecondthird")
                    (active,) = [each.url for each in await profile.tabs.query() if each.active]
                    assert active == site.url("/login")
                    shown = await _call(session, "browser_snapshot")
                    await _call(session, "browser_type", target=reference(shown, "Search"), text="typed by the agent")
                    assert "typed by the agent" in await _call(session, "browser_snapshot")
                    await _call(session, "browser_take_screenshot")
                    await _call(session, "browser_click", target=reference(shown, "Other"))
                    await until(lambda: len(session.pages.tabs) == 3)
                    await _type(desktop, page, "x", "firstsecondthirdx")
                    await _call(session, "ask_person", message="Sign in", url=site.url("/login"), wait=0)
                    assert [each.url for each in await profile.tabs.query()] == [site.url("/login")]
                    (asked,) = pages_of_person(runner)
                    await _type(desktop, asked, "first", "first")
                    await _call(session, "ask_person_wait", end=True, wait=0)
                    await until(lambda: asked.is_closed())
                    (blank,) = pages_of_person(runner)
                    await _type_into_blank(desktop, blank, "second")
                    await blank.close()
                    assert (await _call(session, "ask_person_wait", wait=0)).startswith(("waiting:", "ended:"))
                    await until(lambda: len(session.pages.tabs) == 3)
                    await _type(desktop, page, "y", "firstsecondthirdxy")
                assert site.keys == []

    shared_driver.run(asyncio.wait_for(run(), 120))
