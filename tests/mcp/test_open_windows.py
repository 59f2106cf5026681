"""An agent with limited hosts does not close the windows of a person."""

from __future__ import annotations

import asyncio
from pathlib import Path

import hatbox
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from tests.engines.chromium import shared_driver
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller


def test_an_agent_with_limited_hosts_leaves_the_windows_of_a_person_open(tmp_path: Path, display: None) -> None:
    async def run() -> None:
        path = tmp_path / "profile.db"
        with AgentSite() as site:
            async with (
                hatbox.open(path) as own,
                own.chromium() as runner,
                hatbox.open(path) as profile,
            ):
                page = await runner.new_page("Work", site.url("/form"), keep=True)
                for name, is_refused in (("Work", True), ("Personal", False)):
                    identity = await profile.identities.find(name)
                    async with AgentSession(profile, identity, AgentOptions(), hosts=["127.0.0.1"]) as session:
                        call = Caller(session)
                        shown = await call("browser_navigate", url=site.url("/form"))
                        assert ("needs a browser of its own" in shown) == is_refused
                        assert ("Ask the user to close it" in shown) == is_refused
                        assert ("Page title: Form" in shown) != is_refused
                        assert "Status: 200" in await call("fetch", url=site.url("/form"))
                assert await page.title() == "Form"

    shared_driver.run(asyncio.wait_for(run(), 120))
