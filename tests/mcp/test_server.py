"""Calls of tools, without a transport and without a browser."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from hatbox.mcp.identity_tools import looks_signed_in
from hatbox.mcp.server import AgentServer
from hatbox.mcp.tool_output import ToolFailed
from hatbox.mcp.tool_table import TOOLS, offered_tools
from tests.site import Site


def run(
    folder: Path, test: Callable[[AgentServer, AgentSession], Awaitable[None]], hosts: list[str] | None = None
) -> None:
    async def serve() -> None:
        async with hatbox.open(folder / "profile.db") as profile:
            identity = await profile.identities.find("Work")
            async with AgentSession(profile, identity, AgentOptions(), hosts=hosts or ["<all_urls>"]) as session:
                await test(AgentServer(session, "0"), session)
            assert all(each.revoked for each in await profile.grants.list())

    asyncio.run(serve())


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("browser_evaluate", {}),
        ("browser_file_upload", {"paths": []}),
        ("x" * 10_000, {}),
        ("browser_navigate", {}),
        ("browser_navigate", {"url": 1}),
        ("browser_navigate", {"url": "https://site.example/", "identity": "Personal"}),
        ("browser_navigate", {"url": "https://site.example/" + "a" * 9000}),
        ("browser_navigate", {"url": "https://other.example/"}),
        ("browser_tabs", {"action": "steal"}),
        ("browser_wait_for", {"time": 1e9}),
        ("browser_click", {"target": "e1", "modifiers": ["Alt"] * 100}),
        ("fetch", {"url": "https://other.example/"}),
        ("fetch", {"url": "file:///etc/passwd"}),
        ("fetch", {"url": "about:blank"}),
        ("fetch", {"url": "https://site.example/", "method": "CONNECT"}),
        ("fetch", {"url": "https://site.example/", "headers": {"cookie": "a=b"}}),
        ("fetch", {"url": "https://site.example/", "headers": {"X": "a\r\nCookie: b"}}),
        ("fetch", {"url": "https://site.example/", "headers": {"Host": "other.example"}}),
    ],
)
def test_what_is_not_allowed_is_refused_with_a_short_message(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    async def test(server: AgentServer, _: AgentSession) -> None:
        with pytest.raises(ToolFailed) as caught:
            await server.call(tool, arguments)
        assert 10 < len(str(caught.value)) < 1000

    run(tmp_path, test, ["site.example"])


def test_after_a_revocation_every_tool_is_refused(tmp_path: Path) -> None:
    async def test(server: AgentServer, session: AgentSession) -> None:
        assert '"Work"' in (await server.call("identity", {})).text
        await session.profile.grants.revoke(session.grant_id)
        await session.ended
        for name in offered_tools(read_only=False, uploads=None):
            with pytest.raises(ToolFailed, match="ended the access"):
                await server.call(name, {})

    run(tmp_path, test)


def test_refusals_are_in_the_activity_log(tmp_path: Path) -> None:
    async def test(server: AgentServer, session: AgentSession) -> None:
        with pytest.raises(ToolFailed):
            await server.call("fetch", {"url": "https://other.example/path?secret"})
        (entry,) = await session.profile.activity_log.query(grant=session.grant_id)
        assert (entry.action, entry.host, entry.outcome) == ("fetch", "other.example", "refused")

    run(tmp_path, test, ["site.example"])


def test_each_request_of_a_recorded_identity_has_one_entry(tmp_path: Path) -> None:
    async def test(server: AgentServer, session: AgentSession) -> None:
        await session.profile.activity_log.set_recorded("Work", True)
        with Site() as site:
            await server.call("fetch", {"url": site.url("/go", to=site.url("/redirect/1", host="localhost"))})
            assert len(site.seen) == 3
        found = await session.profile.activity_log.query()
        assert {(each.grant, each.action, each.host, each.outcome, each.times) for each in found} == {
            (session.grant_id, "fetch", "127.0.0.1", "ok", 1),
            (session.grant_id, "fetch", "localhost", "ok", 2),
        }

    run(tmp_path, test)


def test_tools_are_listed_with_complete_schemas(tmp_path: Path) -> None:
    async def test(server: AgentServer, _: AgentSession) -> None:
        listed = (await server.list_tools(None, None)).tools
        assert [each.name for each in listed] == [each.name for each in TOOLS if not each.needs_uploads]
        for each in listed:
            assert each.input_schema["type"] == "object"
            assert "$ref" not in json.dumps(each.input_schema)
            assert each.input_schema["additionalProperties"] is False

    run(tmp_path, test)


@pytest.mark.parametrize(
    ("final", "status", "body", "has_cookies", "expected"),
    [
        ("/account", 200, "Hello", True, "yes"),
        ("/account", 200, "Hello", False, "no"),
        ("/account", 401, "", True, "no"),
        ("/users/sign_in?next=/account", 200, "", True, "no"),
        ("/account", 200, "<input name=p type='password'>", True, "no"),
        ("/account", 500, "", True, "unknown"),
    ],
)
def test_a_probe_judges_from_the_response(final: str, status: int, body: str, has_cookies: bool, expected: str) -> None:
    site = "https://site.example"
    assert looks_signed_in(f"{site}/account", site + final, status, body, has_cookies)[0] == expected


def test_while_another_engine_has_the_identity_the_agent_learns_what_to_do(tmp_path: Path) -> None:
    async def test(server: AgentServer, session: AgentSession) -> None:
        async with hatbox.open(tmp_path / "profile.db") as other, other.http_engine(identities="Work"):
            for _ in range(2):
                with pytest.raises(ToolFailed, match=r"already open.*Ask the user"):
                    await server.call("browser_navigate", {"url": "https://site.example/"})
        assert await session.profile.tabs.query() == []

    run(tmp_path, test)
