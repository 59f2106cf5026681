"""A person signs in at the request of an agent, which must not see how: the client of the SDK, and Chromium."""

from __future__ import annotations

import asyncio
import contextlib
import re
from pathlib import Path
from typing import Any, Literal

import mcp.types as types
import pytest
from mcp import Client

import hatbox
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from hatbox.mcp.server import AgentServer
from hatbox.mcp.tool_output import ToolFailed
from hatbox.mcp.tool_table import TOOLS
from tests.engines.chromium import shared_driver
from tests.engines.chromium.person import pages_of_person, press, strip_text
from tests.mcp.agent_client import Agent, agent, sdk, serving
from tests.mcp.agent_site import AgentSite
from tests.mcp.sign_in_site import SignInSite
from tests.waiting import until, until_awaited

PASSWORD = "hunter2marker"
MODES = ("legacy", "2026-07-28")
MADE_UP: dict[str, dict[str, Any]] = {
    "browser_click": {"target": "e1"},
    "browser_drag": {"startTarget": "e1", "endTarget": "e2"},
    "browser_fill_form": {"fields": [{"target": "e1", "value": "x"}]},
    "browser_find": {"text": "x"},
    "browser_handle_dialog": {"accept": True},
    "browser_hover": {"target": "e1"},
    "browser_press_key": {"key": "a"},
    "browser_select_option": {"target": "e1", "values": ["x"]},
    "browser_type": {"target": "e1", "text": "x"},
    "browser_wait_for": {"time": 0},
}


def person_runner(session: AgentSession) -> ChromiumRunner:
    """The browser with windows."""
    (found,) = [each for each in session.profile._engines if each._is_running]
    assert isinstance(found, ChromiumRunner)
    return found


@pytest.mark.usefixtures("display")
@pytest.mark.parametrize("headless", [True, False])
def test_a_person_signs_in_and_the_agent_sees_only_the_result(tmp_path: Path, headless: bool) -> None:
    async def run() -> None:
        seen: list[str] = []
        with SignInSite() as site:
            async with (
                serving(tmp_path / "profile.db", AgentOptions(headless=headless), ["127.0.0.1"]) as (server, session),
                Client(sdk(server, session), mode="legacy") as client,
            ):
                work = Agent(client)
                seen.append(await work.call("browser_navigate", url=site.url("/account")))
                assert "Please sign in" in seen[-1]
                refused = await work.fail("ask_person", message="Sign in", url=site.url("/login", "localhost"))
                assert "not allowed" in refused
                asked = await work.call("ask_person", message="Sign in", url=site.url("/login"), wait=0)
                assert asked.startswith("waiting:")
                assert "open already" in await work.fail("ask_person", message="Again", url=site.url("/login"))
                await _sign_in(session, site)
                seen += await _try_all(client, site)
                tabs = str([each for each in await session.profile.tabs.query() if each.url != site.url("/account")])
                activity = str(await session.profile.activity_log.query())
                waiting = asyncio.ensure_future(work.call("ask_person_wait", wait=60))
                (page, *_) = pages_of_person(person_runner(session))
                await press(page, "Done")
                seen.append(await waiting)
                assert seen[-1].startswith("done:")
                if not headless:
                    await work.call("browser_navigate", url=site.url("/account"))
                seen.append(await work.call("browser_snapshot"))
                assert "Hello ann" in seen[-1]
                assert "stored: local" in seen[-1]
                listed = await work.call("browser_tabs", action="list")
                assert "0: (current)" in listed
                assert "1:" not in listed.replace("127.0.0.1:", "")
                for text in (*seen, listed, tabs, activity):
                    assert PASSWORD not in text
                    assert "/welcome" not in text
        assert site.passwords == [PASSWORD]
        assert ("localhost", "/popup") in site.paths  # the hosts of the grant do not limit the person

    shared_driver.run(asyncio.wait_for(run(), 90))


async def _sign_in(session: AgentSession, site: SignInSite) -> None:
    (page,) = pages_of_person(person_runner(session))
    await page.locator("#elsewhere").click()
    await page.wait_for_url("**/popup")
    await page.goto(site.url("/login"))
    await page.locator("[name=user]").fill("ann")
    await page.locator("#password").fill(PASSWORD)
    await page.locator("#popup").click()
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/welcome**")


async def _try_all(client: Client, site: SignInSite) -> list[str]:
    """Call every tool while the person is at the window; returns what the agent gets."""
    seen = []
    for tool in TOOLS:
        if tool.name in ("identity", "ask_person", "ask_person_wait", "browser_file_upload"):
            continue
        schema = tool.arguments.__struct_fields__
        given = MADE_UP.get(tool.name, {"url": site.url("/account")} if "url" in schema else {})
        for action in ("list", "new", "select", "close") if tool.name == "browser_tabs" else ("",):
            arguments = given | ({"action": action, "index": 0} if action else {})
            result = await client.call_tool(tool.name, arguments)
            seen.append(str(result.content))
            assert result.is_error, tool.name
            assert "ask_person_wait" in seen[-1]
    return seen


@pytest.fixture
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


@pytest.mark.usefixtures("no_display", "browser")
@pytest.mark.parametrize("mode", MODES)
def test_a_person_answers_in_the_client(tmp_path: Path, mode: str) -> None:
    async def run() -> None:
        asked: list[str] = []
        actions: list[Literal["accept", "decline", "cancel"]] = ["accept", "decline", "cancel"]

        async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
            asked.append(params.message)
            action = actions.pop(0)
            return types.ElicitResult(action=action, content={} if action == "accept" else None)

        async with (
            serving(tmp_path / "profile.db") as (server, session),
            Client(sdk(server, session), mode=mode, elicitation_callback=answer) as client,
        ):
            work = Agent(client)
            request = {"message": "Pass\n\nthe\u202e check", "url": "https://site.example/"}
            assert (await work.call("ask_person", **request)).startswith("done:")
            assert (await work.call("ask_person", **request)).startswith("refused:")
            assert (await work.call("ask_person", **request, wait=0.1)).startswith("needs_person:")
            assert await work.call("ask_person_wait", end=True) == "ended: the request was ended."  # it had no window
        assert len(asked) == 3
        assert all("Pass the check\nDo it" in each and "Work" in each for each in asked)

    shared_driver.run(asyncio.wait_for(run(), 60))


@pytest.mark.usefixtures("display")
@pytest.mark.parametrize("mode", MODES)
def test_an_answer_in_the_client_empties_the_window(tmp_path: Path, mode: str) -> None:
    async def run() -> None:
        async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
            return types.ElicitResult(action="accept", content={})

        with SignInSite() as site:
            async with (
                serving(tmp_path / "profile.db", AgentOptions(headless=False)) as (server, session),
                Client(sdk(server, session), mode=mode, elicitation_callback=answer) as client,
            ):
                work = Agent(client)
                told = await work.call("ask_person", message="Sign in", url=site.url("/login"), wait=3)
                assert told.startswith("waiting: the request has ended")
                await _close_empty_window(session)
                assert (await work.call("ask_person_wait", wait=60)).startswith("done:")

    shared_driver.run(asyncio.wait_for(run(), 180))


@pytest.mark.usefixtures("no_display", "browser")
@pytest.mark.parametrize("mode", MODES)
def test_without_a_display_the_agent_learns_what_the_user_can_do(tmp_path: Path, mode: str) -> None:
    async def run() -> None:
        reported: list[tuple[float, float | None, str | None]] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            reported.append((progress, total, message))

        async with (
            serving(tmp_path / "profile.db") as (server, session),
            Client(sdk(server, session), mode=mode) as client,
        ):
            work = Agent(client)
            assert "no request" in await work.fail("ask_person_wait")
            assert "specify url" in await work.fail("ask_person", message="Sign in")
            arguments = {"message": "Sign in", "url": "https://site.example/a b'c", "wait": 0.1}
            result = await client.call_tool("ask_person", arguments, progress_callback=on_progress)
            text = str(getattr(result.content[0], "text", ""))
            assert text.startswith("needs_person:")
            assert re.search(r"<(untrusted-\w+)>\nhatbox open 'Work' 'https://site.example/a%20b'\\''c'\n</\1>", text)
            assert reported
            assert "ask_person_wait" in await work.fail("fetch", url="https://site.example/")
            # The identity is free: another browser can serve it, and its end ends the request.
            async with hatbox.open(tmp_path / "profile.db") as other, other.http_engine(identities="Work"):
                assert (await work.call("ask_person_wait", wait=2)).startswith("needs_person:")
            assert (await work.call("ask_person_wait", wait=60)).startswith("closed:")
            with pytest.raises(ToolFailed, match="no request"):
                await server.call("ask_person_wait", {})
            for _ in range(9):
                await server.call("ask_person", arguments)
                session.person.answer("ended")
                await session.person.wait(60)
            with pytest.raises(ToolFailed, match="10 times"):
                await server.call("ask_person", arguments)

    shared_driver.run(asyncio.wait_for(run(), 60))


@pytest.mark.usefixtures("no_display", "browser")
def test_a_stored_display_that_does_not_exist_any_more_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with serving(tmp_path / "profile.db") as (server, session):
            asked = await server.call("ask_person", {"message": "Sign in", "url": "https://site.example/"})
            assert asked.text.startswith("needs_person:")
            assert "Does its display exist? DISPLAY=:987" in asked.text
            assert "hatbox open 'Work' 'https://site.example/'" in asked.text
            session.person.answer("ended")
            await session.person.wait(60)

    monkeypatch.setenv("DISPLAY", ":987")
    shared_driver.run(asyncio.wait_for(run(), 60))


@pytest.mark.usefixtures("display")
def test_the_end_of_the_access_closes_the_window(tmp_path: Path) -> None:
    async def run() -> None:
        path = tmp_path / "profile.db"
        async with hatbox.open(path) as profile:
            with SignInSite() as site:
                with contextlib.suppress(Exception):
                    async with agent(path, "--identity", "Work") as work:
                        asked = await work.call("ask_person", message="Sign in", url=site.url("/login"), wait=0)
                        assert asked.startswith("waiting:")
                        engine = await profile.running_engine("Work")
                        assert engine is not None
                        assert engine.has_windows
                        await until(lambda: ("127.0.0.1", "/login") in site.paths)
                        (grant,) = await profile.grants.list()
                        await profile.grants.revoke(grant.id)

                        async def has_ended() -> bool:
                            return await profile.running_engine("Work") is None

                        await until_awaited(has_ended)
                assert ("127.0.0.1", "/login") in site.paths
                assert await profile.running_engine("Work") is None

    shared_driver.run(asyncio.wait_for(run(), 90))


async def _close_empty_window(session: AgentSession) -> None:
    """As the person does after a request has ended, without which visible pages do not open again."""
    await until(lambda: session.person.current is not None and session.person.current.is_ending)

    async def is_empty() -> bool:
        shown = pages_of_person(person_runner(session))
        return len(shown) == 1 and "Close this window" in await strip_text(shown[0])

    await until_awaited(is_empty)
    await pages_of_person(person_runner(session))[0].close()


@pytest.mark.usefixtures("display")
@pytest.mark.parametrize("headless", [True, False])
def test_a_request_without_an_answer_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, headless: bool) -> None:
    async def run() -> None:
        with SignInSite() as site:
            async with serving(tmp_path / "profile.db", AgentOptions(headless=headless)) as (server, session):
                await server.call("browser_navigate", {"url": site.url("/account")})
                await server.call("ask_person", {"message": "Sign in", "url": site.url("/login"), "wait": 0})
                if not headless:
                    await _close_empty_window(session)
                await until(lambda: session.person.current is None)
                outcome = await server.call("ask_person_wait", {"wait": 0})
                assert outcome.text.startswith("expired:")
                assert "The window is closed. Your pages were loaded again" in outcome.text
                assert "Please sign in" in (await server.call("browser_snapshot", {})).text
                assert not pages_of_person(person_runner(session))

    monkeypatch.setattr("hatbox.mcp.person_requests._LIMIT", 0.1)
    shared_driver.run(asyncio.wait_for(run(), 180))


@pytest.mark.usefixtures("display")
@pytest.mark.parametrize("headless", [True, False])
def test_an_agent_that_leaves_during_its_request_does_not_stop_the_others(tmp_path: Path, headless: bool) -> None:
    async def run() -> None:
        with SignInSite() as site:
            async with serving(tmp_path / "profile.db", AgentOptions(headless=headless)) as (server, session):
                await server.call("browser_navigate", {"url": site.url("/account")})
                async with session.sibling() as sibling:
                    asking = AgentServer(sibling, "0")
                    await asking.call("ask_person", {"message": "Sign in", "url": site.url("/login"), "wait": 0})
                    with pytest.raises(ToolFailed, match="a person uses this identity"):
                        await server.call("browser_snapshot", {})
                if not headless:
                    await _close_empty_window(sibling)
                await until(lambda: sibling.person.current is None)
                assert "Please sign in" in (await server.call("browser_snapshot", {})).text

    shared_driver.run(asyncio.wait_for(run(), 180))


@pytest.mark.usefixtures("no_display", "browser")
def test_a_site_that_does_not_answer_does_not_delay_the_end_of_a_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        with AgentSite() as site:
            site.release.set()
            async with (
                serving(tmp_path / "profile.db") as (asking, session),
                session.sibling() as sibling,
            ):
                other = AgentServer(sibling, "0")
                for path in ("/slow?0", "/slow?1", "/form"):
                    await other.call("browser_tabs", {"action": "new", "url": site.url(path)})
                await other.call("browser_tabs", {"action": "select", "index": 1})
                await asking.call("browser_navigate", {"url": site.url("/slow?2")})
                site.release.clear()
                await asking.call("ask_person", {"message": "Sign in", "url": site.url("/form"), "wait": 0})
                session.person.answer("done")
                await until(lambda: session.person.current is None)
                outcome = await asking.call("ask_person_wait", {"wait": 0})
                assert outcome.text.startswith("done:")
                assert "Some are not loaded yet" in outcome.text
                assert "2: (current) about:blank" in (await other.call("browser_tabs", {"action": "list"})).text
                site.release.set()
                await until(lambda: sibling.current_url == site.url("/slow?1"))  # the load went on
                await until(lambda: not sibling.pages.are_loading)
                assert "slow" in (await other.call("browser_snapshot", {})).text
                assert len(sibling.pages.tabs) == 3

    monkeypatch.setattr("hatbox.mcp.agent_pages._RELOAD_SECONDS", 0)
    shared_driver.run(asyncio.wait_for(run(), 90))
