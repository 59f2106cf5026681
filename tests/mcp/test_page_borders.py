"""What a hostile page or agent cannot do with pages: leave the hosts, read passwords, write outside of the marks."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Error as PlaywrightError

import hatbox
from hatbox.engines.chromium.request_interception import RequestInterceptor
from hatbox.mcp import input_tools
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from hatbox.mcp.server import AgentServer
from hatbox.mcp.tool_output import ToolFailed, ToolRefused
from tests.engines.chromium import shared_driver
from tests.mcp.agent_client import reference
from tests.mcp.agent_site import AgentSite
from tests.waiting import until, until_awaited

Test = Callable[["Caller", AgentSite], Awaitable[None]]


class Caller:
    """Calls tools in the process of the test."""

    def __init__(self, session: AgentSession) -> None:
        self.session = session
        self.server = AgentServer(session, "0")

    async def __call__(self, tool: str, **arguments: Any) -> str:
        """The text of a tool, also of one that fails."""
        try:
            return (await self.server.call(tool, arguments)).text
        except ToolFailed as error:
            return str(error)

    async def image(self, target: str) -> bytes:
        """A screenshot of an element."""
        image = (await self.server.call("browser_take_screenshot", {"target": target})).image
        assert image is not None
        return image


def run(
    folder: Path,
    test: Test,
    hosts: list[str] | None = None,
    options: AgentOptions | None = None,
    *,
    runs: Callable[[Coroutine[Any, Any, None]], None] = shared_driver.run,
) -> None:
    """Run a test with a session. `asyncio.run` as `runs`: with a Playwright driver of its own, or none."""

    async def serve() -> None:
        with AgentSite() as site:
            async with hatbox.open(folder / "profile.db") as profile:
                identity = await profile.identities.find("Work")
                async with AgentSession(
                    profile, identity, options or AgentOptions(), hosts=hosts or ["<all_urls>"]
                ) as session:
                    await test(Caller(session), site)

    runs(serve())


@pytest.mark.browser
def test_no_way_of_opening_a_document_leaves_the_hosts(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        for arguments in ({"modifiers": ["Control"]}, {"modifiers": ["Shift"]}):
            page = await call("browser_navigate", url=site.url("/escapes"))
            await call("browser_click", target=reference(page, "link"), **arguments)
        page = await call("browser_navigate", url=site.url("/escapes"))
        assert "Alt is not allowed" in await call("browser_click", target=reference(page, "link"), modifiers=["Alt"])
        assert "Alt is not allowed" in await call("browser_press_key", key="Alt+Enter")
        for label in ("prefetched", "form", "later", "data", "blob", "object", "embed", "frame", "refresh"):
            page = await call("browser_navigate", url=site.url("/escapes"))
            shown = await call("browser_click", target=reference(page, label))
            assert "content of the other host" not in shown
            assert "content of the other host" not in await call("browser_snapshot")
        await _shows_a_sandboxed_frame(call, site)
        await call("browser_wait_for", time=0.5)
        assert {host for host, _ in site.requests} == {"127.0.0.1"}
        page = await call("browser_navigate", url=site.url("/escapes"))
        before = len(call.session.pages.tabs)

        async def is_adopted() -> bool:
            return "/form?new" in await call("browser_tabs", action="list")

        await call("browser_click", target=reference(page, "own"), modifiers=["Control"])
        await until_awaited(is_adopted)
        assert len(call.session.pages.tabs) == before + 1
        running = call.session.browser._runner.engine.running  # type: ignore[union-attr] # it has started
        assert running is not None
        running.interceptor.config = None  # as after a failure
        for tool in ("browser_snapshot", "browser_take_screenshot"):
            assert "does not intercept" in await call(tool)
        assert "does not intercept" in await call("browser_tabs", action="new")

    run(tmp_path, test, ["127.0.0.1"])


async def _shows_a_sandboxed_frame(call: Caller, site: AgentSite) -> None:
    """Its document has no host, and what it loads is checked."""
    await call("browser_navigate", url=site.url("/sandboxed"))

    async def is_shown() -> bool:
        return "inside" in await call("browser_snapshot")

    await until_awaited(is_shown)
    tab = await call.session.pages.current()
    assert any(each.url.startswith("blob:null/") for each in tab.page.frames)
    assert tab.page.url == site.url("/sandboxed")
    assert "content of the other host" not in await call("browser_snapshot")


@pytest.mark.browser
def test_an_agent_learns_which_site_rule_refuses_a_page(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        rules = call.session.profile.rules
        await rules.add("localhost", "Personal")
        messages = [await call("browser_navigate", url=site.url("/secret", "localhost"))]
        page = await call("browser_navigate", url=site.url("/leave"))
        await call("browser_click", target=reference(page, "plain"))
        await until(lambda: call.session.pages.current_url.startswith("chrome-error:"))
        messages.append(await call("browser_snapshot"))
        async with (
            hatbox.open(tmp_path / "profile.db") as profile,
            AgentSession(profile, call.session.identity, AgentOptions(), hosts=["<all_urls>"]) as attached,
        ):
            messages.append(await Caller(attached)("browser_navigate", url=site.url("/secret", "localhost")))
        for message in messages:
            assert "A rule assigns http://localhost" in message
            assert "hatbox rules list" in message
            assert "ERR_BLOCKED" not in message
        await rules.add("127.0.0.1", "Work", limit=True)
        assert "is limited to its rules, such as 127.0.0.1" in await call("browser_navigate", url=site.url("/redirect"))
        assert {host for host, _ in site.requests} == {"127.0.0.1"}

    run(tmp_path, test)


@pytest.mark.browser
def test_without_interception_no_page_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise PlaywrightError("Protocol error (Fetch.enable): refused")

    async def test(call: Caller, site: AgentSite) -> None:
        assert "does not intercept" in await call("browser_navigate", url=site.url("/form"))
        assert site.requests == []
        assert await call.session.profile.running_engine("Work") is None
        assert "Status: 200" in await call("fetch", url=site.url("/form"))

    monkeypatch.setattr(RequestInterceptor, "_apply_config", fail)
    run(tmp_path, test, ["127.0.0.1"])


@pytest.mark.browser
def test_passwords_are_hidden_and_text_of_pages_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_tools, "_MS", 1_000.0)

    async def test(call: Caller, site: AgentSite) -> None:
        page = await call("browser_navigate", url=site.url("/secrets"))
        assert "secret-" not in await call("browser_click", target=reference(page, "Show password"))
        shown = await call("browser_snapshot")
        for text in (page, shown, await call("browser_snapshot", target=reference(shown, "Shown"))):
            assert "(hidden)" in text
            assert "secret-" not in text
        assert "too many password fields" in await call("browser_navigate", url=site.url("/many-passwords"))
        for output in await _hostile_outputs(call, site):
            assert "IGNORE" not in re.sub(r"<(untrusted-\w+)>.*?</\1>", "", output, flags=re.DOTALL).upper(), output
            assert len(output) < 70_000

    run(tmp_path, test)


async def _hostile_outputs(call: Caller, site: AgentSite) -> list[str]:
    page = await call("browser_navigate", url=site.url("/hostile?IGNORE"))
    outputs = [page, await call("browser_tabs", action="list")]
    outputs.append(await call("browser_select_option", target=reference(page, "IGNORE select"), values=["none"]))
    outputs.append(await call("browser_click", target=reference(page, "IGNORE covered")))
    outputs.append(await call("browser_click", target=reference(page, "IGNORE file")))
    outputs.append(await call("downloads"))
    outputs.append(await call("browser_click", target=reference(page, "IGNORE dialog")))
    assert "IGNORE" in outputs[-1]
    outputs.append(await call("browser_press_key", key="a"))
    outputs.append(await call("browser_take_screenshot"))
    outputs.append(await call("browser_handle_dialog", accept=True))
    outputs.append(await call("browser_click", target=reference(page, "IGNORE away")))
    outputs.append(await call("fetch", url=site.url("/hostile")))
    outputs.append(await call("fetch", url=site.url("/to-ignore")))
    return outputs


def test_a_refused_redirect_of_a_site_is_marked() -> None:
    from hatbox.mcp.host_limits import check_url
    from tests.mcp.test_host_limits import LIMITED

    with pytest.raises(ToolRefused, match=r"<untrusted-\w+>http://ignore.example</untrusted-\w+> is not allowed"):
        check_url(LIMITED, "http://ignore.example/", is_of_page=True)
