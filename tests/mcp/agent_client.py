"""The client of the SDK, connected to `hatbox mcp` in a process of its own, or to a server in that of the test."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

import hatbox
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from hatbox.mcp.server import AgentServer, sdk_server

__all__ = ["Agent", "agent", "http_agent", "reference", "sdk", "serving"]


class Agent:
    """An agent that calls tools."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> str:
        """The text that a tool returns. Asserts that it does not fail."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return _text(result)

    async def fail(self, tool: str, **arguments: Any) -> str:
        """The message of a tool that fails."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.content
        return _text(result)

    async def tools(self) -> dict[str, Any]:
        """The offered tools by name."""
        return {each.name: each for each in (await self.client.list_tools()).tools}


def reference(snapshot: str, label: str) -> str:
    """The reference of the element with this name."""
    found = re.search(rf'"{re.escape(label)}"[^\n]*?\[ref=(\w+)\]', snapshot)
    assert found, snapshot
    return found[1]


def _text(result: Any) -> str:
    return "\n".join(each.text for each in result.content if each.type == "text")


@contextlib.asynccontextmanager
async def agent(profile: Path, *options: str, **environment: str) -> AsyncIterator[Agent]:
    """An agent of `hatbox mcp` with these options. Without --host and --grant, it may use the sites of tests."""
    if not {"--host", "--grant"} & set(options):
        options = (*options, "--host", "<all_urls>")
    arguments = ["-m", "hatbox", "mcp", *options, "--profile", str(profile)]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ, **environment})
    async with Client(stdio_client(parameters)) as client:
        yield Agent(client)


@contextlib.asynccontextmanager
async def http_agent(url: str, token: str, mode: str = "auto") -> AsyncIterator[Agent]:
    """An agent of a server with streamable HTTP. `mode` is that of Client."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        create_mcp_http_client(headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield Agent(client)


@contextlib.asynccontextmanager
async def serving(
    profile: Path, options: AgentOptions | None = None, hosts: list[str] | None = None
) -> AsyncIterator[tuple[AgentServer, AgentSession]]:
    """A server for the identity Work in the process of the test. Default: all hosts, so that it may share a browser."""
    async with hatbox.open(profile) as opened:
        identity = await opened.identities.find("Work")
        async with AgentSession(opened, identity, options or AgentOptions(), hosts=hosts or ["<all_urls>"]) as session:
            yield AgentServer(session, "0"), session


def sdk(server: AgentServer, session: AgentSession) -> Any:
    """What a client of the SDK connects to."""
    return sdk_server(session, "0", server.list_tools, server.call_tool)
