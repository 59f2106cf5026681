"""A client that cancels a call: the message of the protocol ends the action."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from mcp import Client

from hatbox.mcp.server import sdk_server
from tests.mcp.agent_client import reference
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.waiting import until, until_awaited

pytestmark = pytest.mark.browser


def test_a_cancelled_click_is_not_performed_later(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        target = reference(await call("browser_navigate", url=site.url("/disabled")), "Delete")
        log = call.session.profile.activity_log

        async def is_cancelled() -> bool:
            return ("browser_click", "cancelled") in [(each.action, each.outcome) for each in await log.query()]

        tab = await call.session.pages.current()
        server = sdk_server(call.session, "0", call.server.list_tools, call.server.call_tool)
        async with Client(server) as client:
            clicking = asyncio.ensure_future(client.call_tool("browser_click", {"target": target}))
            await until(lambda: tab._may_hold_keys)  # Playwright waits until the button is enabled
            clicking.cancel()
            await until_awaited(is_cancelled)
        await tab.page.locator("button").evaluate("each => each.disabled = false")
        assert "Page title: Disabled" in await call("browser_wait_for", time=1)  # Playwright tries twice a second
        assert "Page title: Deleted" in await call("browser_click", target=target)

    run(tmp_path, test)
