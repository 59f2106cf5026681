"""After a page or Playwright's driver has crashed, the agent gets an error that says so, and can open pages again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from tests.engines.chromium.real import browser_process, command_line, parent_of
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.waiting import until, until_awaited

pytestmark = pytest.mark.browser


async def _crash(page: Page) -> None:
    session = await page.context.new_cdp_session(page)
    with contextlib.suppress(PlaywrightError):
        await session.send("Page.crash")


def test_a_crashed_page_is_dropped(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        await call("browser_navigate", url=site.url("/form"))
        tab = await call.session.pages.current()
        crashing = asyncio.ensure_future(_crash(tab.page))
        await until(lambda: not tab.is_open)
        assert "the page has crashed" in await call("browser_snapshot")
        assert "no page is open" in await call("browser_snapshot")
        assert "No tab is open" in await call("browser_tabs", action="list")
        assert "Page title: Form" in await call("browser_navigate", url=site.url("/form"))
        await asyncio.wait({crashing})

    run(tmp_path, test)


@pytest.mark.parametrize("hosts", [None, ["127.0.0.1"]])
def test_the_end_of_the_driver_is_the_end_of_the_browser(tmp_path: Path, hosts: list[str] | None) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        await call("browser_navigate", url=site.url("/form"))
        tab = await call.session.pages.current()
        runner = call.session.browser._runner
        assert runner is not None
        driver = parent_of(await browser_process(runner))
        assert "run-driver" in command_line(driver)
        os.kill(driver, signal.SIGKILL)
        await until(lambda: not tab.is_open)
        assert "ended unexpectedly" in await call("browser_snapshot")

        async def is_back() -> bool:
            return "Page title: Form" in await call("browser_navigate", url=site.url("/form"))

        await until_awaited(is_back)

        async def are_lost_closed() -> bool:
            return len(await call.session.profile.tabs.query(identity="Work")) == 1

        await until_awaited(are_lost_closed)

    run(tmp_path, test, hosts, runs=asyncio.run)
