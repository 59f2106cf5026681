"""The server over standard input and output, without a browser."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest
from mcp import MCPError

import hatbox
from tests.mcp.agent_client import agent
from tests.mcp.agent_site import AgentSite
from tests.waiting import until_awaited

pytestmark = pytest.mark.process

ENTERING = {
    *("browser_click", "browser_type", "browser_fill_form", "browser_select_option", "browser_press_key"),
    *("browser_hover", "browser_drag"),
}


async def create(folder: Path) -> Path:
    async with hatbox.open(folder / "profile.db"):
        return folder / "profile.db"


def test_a_read_only_agent_fetches_and_enters_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        path = await create(tmp_path)
        with AgentSite() as site:
            async with agent(path, "--identity", "Work", "--host", "127.0.0.1", "--read-only") as work:
                tools = await work.tools()
                assert not ENTERING & set(tools)
                assert "browser_evaluate" not in tools
                assert "browser_file_upload" not in tools
                assert "Read-only" in await work.call("identity")
                assert "read-only" in await work.fail("fetch", url=site.url("/set"), method="POST")
                assert "does not exist here" in await work.fail("browser_click", target="e1")
                assert (await work.call("signed_in", url=site.url("/who"))).startswith("no")
                fetched = await work.call("fetch", url=site.url("/set"))
                assert "x-other: shown" in fetched
                assert "cookie-value" not in fetched
                assert "set-cookie" not in fetched.lower()
                assert (await work.call("signed_in", url=site.url("/who"))).startswith("yes")
                for url in (site.url("/secret", "localhost"), site.url("/redirect")):
                    assert "localhost" in await work.fail("fetch", url=url)
                assert "Cookie" in await work.fail("fetch", url=site.url("/who"), headers={"Cookie": "a=b"})
            assert {host for host, _ in site.requests} == {"127.0.0.1"}
            assert not [each for each in site.requests if each[1].startswith("/secret")]

    asyncio.run(run())


def test_revoking_the_grant_ends_the_server(tmp_path: Path) -> None:
    async def run() -> None:
        path = await create(tmp_path)
        command = [sys.executable, "-m", "hatbox", "mcp", "--identity", "Work", "--profile", str(path)]
        pipe = asyncio.subprocess.PIPE
        server = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
        async with hatbox.open(path) as profile:
            grants = await until_awaited(profile.grants.list)
            await profile.grants.revoke(grants[0].id)
        _, errors = await server.communicate()
        assert server.returncode == 1
        assert re.search(rf"grant {grants[0].id} has ended", errors.decode())

    asyncio.run(run())


@pytest.mark.smoke
def test_a_server_with_a_token_has_the_limits_of_its_grant(tmp_path: Path) -> None:
    async def run() -> None:
        path = await create(tmp_path)
        async with hatbox.open(path) as profile:
            grant, token = await profile.grants.create(identities="Work", hosts=["127.0.0.1"])
            options = ["--identity", "Work", "--grant", "AGENT_TOKEN"]
            with AgentSite() as site:
                async with agent(path, *options, AGENT_TOKEN=token) as work:
                    assert token not in await work.call("identity")
                    assert "Status: 200" in await work.call("fetch", url=site.url("/set"))
                    assert "action pages" in await work.fail("browser_navigate", url=site.url("/form"))
            assert (await profile.grants.verify(token)).id == grant.id  # it stays valid
            with pytest.raises((MCPError, ExceptionGroup)):
                async with agent(path, "--identity", "Personal", *options[2:], AGENT_TOKEN=token):
                    pass

    asyncio.run(run())
