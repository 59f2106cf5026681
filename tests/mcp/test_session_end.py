"""The session of an agent ends soon, whatever its pages and its browser do."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.engines.chromium.real import browser_process
from tests.engines.chromium.test_processes import is_running
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.waiting import until

pytestmark = pytest.mark.browser

LIMIT = 20.0  # the limits of the session are 3 s for its pages, 8 s for the browser and 3 s for Playwright's driver


async def opened(call: Caller, site: AgentSite) -> Page:
    await call("browser_navigate", url=site.url("/form"))
    return (await call.session.pages.current()).page


async def lost(**_: object) -> None:
    await asyncio.Event().wait()


def test_a_session_ends_whose_page_chromium_does_not_close(tmp_path: Path) -> None:
    """As if a navigation commits at the same time: Playwright's close() never returns."""

    async def test(call: Caller, site: AgentSite) -> None:
        page = await opened(call, site)
        page.close = lost  # type: ignore[method-assign]
        await asyncio.wait_for(call.session.close(), LIMIT)
        assert page.is_closed()

    run(tmp_path, test)


def test_a_tab_is_closed_although_chromium_has_lost_the_first_request(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        page = await opened(call, site)
        page.close = lost  # type: ignore[method-assign]
        assert "No tab is open" in await asyncio.wait_for(call("browser_tabs", action="close"), LIMIT)
        assert page.is_closed()

    run(tmp_path, test)


def test_a_session_ends_whose_page_is_in_an_endless_loop(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        page = await opened(call, site)
        await page.evaluate(
            "addEventListener('beforeunload', e => e.preventDefault()); setTimeout(() => { for (;;); })"
        )
        await asyncio.wait_for(call.session.close(), LIMIT)
        assert page.is_closed()

    run(tmp_path, test)


def test_a_session_ends_whose_browser_is_stopped(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        await call("browser_navigate", url=site.url("/form"))
        runner = call.session.browser._runner
        assert runner is not None
        process = await browser_process(runner)
        os.kill(process, signal.SIGSTOP)
        try:
            await asyncio.wait_for(call.session.close(), LIMIT)
            await until(lambda: not is_running(process))
        finally:
            if is_running(process):
                os.kill(process, signal.SIGKILL)

    run(tmp_path, test, runs=asyncio.run)
