"""`hatbox mcp --http` in processes of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from typer import BadParameter

import hatbox
from hatbox.cli.commands.mcp import mcp
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.mcp.agent_session import AgentSession
from tests.mcp.agent_client import Agent, agent, http_agent
from tests.site import Site


@contextlib.asynccontextmanager
async def command(profile: Path, *options: str) -> AsyncIterator[tuple[dict[str, Any], asyncio.subprocess.Process]]:
    """The printed line of a server, and its process."""
    hosts = () if {"--host", "--grant"} & set(options) else ("--host", "<all_urls>")
    arguments = ["-m", "hatbox", "mcp", "--http", "--json", *options, *hosts, "--profile", str(profile)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=pipe, stderr=pipe)
    assert process.stdout is not None
    try:
        yield json.loads(await process.stdout.readline()), process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


@pytest.mark.process
def test_agents_over_stdio_and_http_are_signed_in_as_their_own_identities(tmp_path: Path) -> None:
    async def run() -> None:
        path = tmp_path / "profile.db"
        await _create(path)
        with Site() as site:
            async with (
                command(path, "--identity", "Work") as (served, process),
                http_agent(served["url"], served["token"]) as first,
                http_agent(served["url"], served["token"]) as second,
                agent(path, "--identity", "Personal") as personal,
            ):
                assert served["event"] == "ready"
                assert served["url"].startswith("http://127.0.0.1:")
                users = {"Work": [first, second], "Personal": [personal]}
                await asyncio.gather(*(_sign_in(each[0], site, user) for user, each in users.items()))
                await asyncio.gather(*(_use(each, site, user) for user, several in users.items() for each in several))
                assert not site.mixed
                async with hatbox.open(path) as profile:
                    await profile.grants.revoke(served["grant"])
                    output, errors = await asyncio.wait_for(process.communicate(), 30)
                    assert await profile.running_engine("Work") is None
                assert process.returncode == 1
                assert b"has ended" in errors
                assert served["token"].encode() not in output + errors
                assert "Personal" in await personal.call("identity")

    asyncio.run(run())


async def _sign_in(agent: Agent, site: Site, user: str) -> None:
    await agent.call("browser_navigate", url=site.url("/login", user=user))


async def _use(agent: Agent, site: Site, user: str) -> None:
    for _ in range(3):
        await agent.call("browser_navigate", url=site.url("/me", as_=user))
        assert f"]: {user}\n" in await agent.call("browser_snapshot")
        assert user in await agent.call("fetch", url=site.url("/me", as_=user))


def test_the_command_says_which_options_belong_together(tmp_path: Path) -> None:
    asyncio.run(_create(tmp_path / "profile.db"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CommandError, match="another program"):
            mcp(identity="Work", http=True, port=port, profile=str(tmp_path / "profile.db"))
        with pytest.raises(BadParameter, match="only with --http"):
            mcp(identity="Work", port=port, profile=str(tmp_path / "profile.db"))


async def _create(path: Path) -> None:
    async with hatbox.open(path):
        pass


def test_a_grant_that_is_revoked_at_once_gets_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def revoked(session: AgentSession) -> AgentSession:
        await entered(session)
        await session.profile.grants.revoke(session.grant_id)
        await session.ended
        return session

    entered = AgentSession.__aenter__
    monkeypatch.setattr(AgentSession, "__aenter__", revoked)
    asyncio.run(_create(tmp_path / "profile.db"))
    with pytest.raises(CommandError, match="has ended"):
        mcp(identity="Work", http=True, profile=str(tmp_path / "profile.db"))
