"""PDFs: an agent sees them in Chromium's viewer, and their links do not leave the hosts of the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.waiting import until, until_awaited

pytestmark = pytest.mark.browser


async def _viewer_is_shown(call: Caller) -> None:
    tab = await call.session.pages.current()
    await until(lambda: any(each.url.startswith("chrome-extension:") for each in tab.page.frames))


def test_an_agent_sees_a_pdf_and_a_page_with_one(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        shown = await call("browser_navigate", url=site.url("/pdf"))
        assert "The page shows a PDF" in shown
        assert "browser_take_screenshot" in shown
        await _viewer_is_shown(call)
        assert "The page shows a PDF" in await call("browser_snapshot")
        assert call.session.pages.current_url == site.url("/pdf")
        await call.server.call("browser_take_screenshot", {})
        assert "fetch" in shown
        await call("browser_navigate", url=site.url("/pdf-frame"))
        await _viewer_is_shown(call)
        shown = await call("browser_snapshot")
        assert "The page shows a PDF" in shown
        assert "around the report" in shown
        async with (
            hatbox.open(tmp_path / "profile.db") as profile,
            AgentSession(profile, call.session.identity, AgentOptions(), hosts=["<all_urls>"]) as attached,
        ):
            assert "The page shows a PDF" in await Caller(attached)("browser_navigate", url=site.url("/pdf"))

    run(tmp_path, test)


def test_links_of_a_pdf_do_not_leave_the_hosts(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        tabs = call.session.profile.tabs
        page = await call("browser_navigate", url=site.url("/pdf-frame"))
        await _viewer_is_shown(call)
        frame = page.partition("iframe [ref=")[2].partition("]")[0]
        for modifier in ("Control", "Shift"):
            before = len(await tabs.query())

            async def is_opened(before: int = before, modifier: str = modifier) -> bool:
                await call("browser_click", target=frame, modifiers=[modifier])  # the viewer is still loading at first
                return len(await tabs.query()) > before

            await until_awaited(is_opened)
        user = await tabs.open(call.session.identity.cookie_store_id, site.url("/form?user", "localhost"))
        await until(lambda: ("localhost", "/form?user") in site.requests)  # tabs of the user have no limit

        async def are_blocked() -> bool:
            return all("secret" not in each.url for each in await tabs.query() if each.id != user.id)

        assert await are_blocked()
        assert ("localhost", "/secret?pdf") not in site.requests
        assert "localhost" not in await call("browser_tabs", action="list")

    run(tmp_path, test, ["127.0.0.1"])
