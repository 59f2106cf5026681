"""The server over streamable HTTP: in the process of the test, with the client of the SDK."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest

import hatbox
from hatbox.loopback.peer_user import UserCheck
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from hatbox.mcp.http_agents import HttpAgents
from hatbox.mcp.http_server import AgentHttpServer, HttpLimits, ReadingClient
from hatbox.mcp.tool_output import ToolFailed
from tests.engines.chromium import shared_driver
from tests.mcp.agent_client import http_agent
from tests.mcp.agent_site import AgentSite
from tests.mcp.initialize_message import INITIALIZE
from tests.waiting import until, until_awaited

MODERN = "2026-07-28"


@contextlib.asynccontextmanager
async def serve(
    folder: Path, limits: HttpLimits | None = None, *, refuses_users: bool = False
) -> AsyncIterator[tuple[AgentHttpServer, AgentSession]]:
    async with hatbox.open(folder / "profile.db") as profile:
        identity = await profile.identities.find("Work")
        async with AgentSession(profile, identity, AgentOptions(), hosts=["<all_urls>"]) as session:
            check = UserCheck(lambda *_: False) if refuses_users else None
            async with AgentHttpServer(session, "0", limits=limits, user_check=check) as server:
                yield server, session


def test_only_clients_with_the_token_and_the_host_are_answered(tmp_path: Path) -> None:
    async def run() -> None:
        limits = HttpLimits(body=10_000)
        async with serve(tmp_path, limits) as (server, session), httpx.AsyncClient() as client:
            accept = {"Accept": "application/json, text/event-stream"}
            good = {**accept, "Authorization": f"Bearer {session.token}"}
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            for status, headers in [
                (401, accept),
                (401, {**accept, "Authorization": "Bearer hatbox_guess"}),
                (421, {**good, "Host": "evil.example"}),
                (403, {**good, "Origin": "http://evil.example"}),
                (404, {**good, "Mcp-Session-Id": "0" * 32}),
            ]:
                assert (await client.post(server.url, json=call, headers=headers)).status_code == status
            large = await client.post(server.url, content=b" " * 20_000, headers=good)
            assert large.status_code == 413
            garbage = await client.post(server.url, content=b"{", headers={**good, "Content-Type": "application/json"})
            assert garbage.status_code == 400
            async with http_agent(server.url, session.token) as work:
                assert '"Work"' in await work.call("identity")

    asyncio.run(run())


def test_other_users_of_the_machine_and_slow_clients_get_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with serve(tmp_path, refuses_users=True) as (server, session), httpx.AsyncClient() as client:
            with pytest.raises(httpx.TransportError):
                await client.get(server.url, headers={"Authorization": f"Bearer {session.token}"})
        async with serve(tmp_path, HttpLimits(request_timeout=0.2)) as (server, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"POST /mcp HTTP/1.1\r\n")
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()

    asyncio.run(run())


def raw_client(session: AgentSession) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {session.token}", "Accept": "application/json, text/event-stream"}
    return httpx.AsyncClient(headers=headers)


async def called(client: httpx.AsyncClient, url: str, session_id: str) -> int:
    """The status of a tool call in a session."""
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "identity", "arguments": {}}}
    return (await client.post(url, json=call, headers={"Mcp-Session-Id": session_id})).status_code


def test_a_session_in_use_is_not_ended_for_another(tmp_path: Path) -> None:
    async def run() -> None:
        async with serve(tmp_path, HttpLimits(agents=1)) as (server, session), raw_client(session) as client:
            async with http_agent(server.url, session.token) as work:
                await work.call("identity")
                refused = await client.post(server.url, json=INITIALIZE)
                assert refused.status_code == 503
                assert "1 agents are connected, and all are in use" in refused.text
                await work.call("identity")
            assert (await client.post(server.url, json=INITIALIZE)).status_code == 200

    asyncio.run(run())


def test_a_running_tool_of_a_closed_connection_keeps_its_session(tmp_path: Path) -> None:
    async def run() -> None:
        limits = HttpLimits(agents=1)
        async with serve(tmp_path, limits) as (server, session), raw_client(session) as client:
            with AgentSite() as site:
                first = (await client.post(server.url, json=INITIALIZE)).headers["mcp-session-id"]
                arguments = {"name": "fetch", "arguments": {"url": site.url("/slow")}}
                call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": arguments}
                lost = asyncio.ensure_future(client.post(server.url, json=call, headers={"Mcp-Session-Id": first}))
                await until_awaited(_requested(site, "/slow"))
                lost.cancel()
                await asyncio.wait([lost])
                assert (await client.post(server.url, json=INITIALIZE)).status_code == 503
                site.release.set()

                async def is_idle() -> bool:
                    return (await client.post(server.url, json=INITIALIZE)).status_code == 200

                await until_awaited(is_idle)

    asyncio.run(run())


def test_the_session_that_is_idle_longest_ends_for_a_new_one(tmp_path: Path) -> None:
    async def run() -> None:
        async with serve(tmp_path, HttpLimits(agents=3)) as (server, session), raw_client(session) as client:
            ids = [(await client.post(server.url, json=INITIALIZE)).headers["mcp-session-id"] for _ in range(3)]
            assert await called(client, server.url, ids[0]) == 200
            garbage = await client.post(server.url, json={**INITIALIZE, "method": "tools/list"})
            assert garbage.status_code == 503  # it opens no session, so none ends
            for _ in range(2):
                assert (await client.post(server.url, json=INITIALIZE)).status_code == 200
            assert [await called(client, server.url, each) for each in ids] == [200, 404, 404]

    asyncio.run(run())


def test_idle_sessions_end(tmp_path: Path) -> None:
    async def run() -> None:
        async with serve(tmp_path, HttpLimits(idle_timeout=0.5)) as (server, session), raw_client(session) as client:
            session_id = (await client.post(server.url, json=INITIALIZE)).headers["mcp-session-id"]
            await until(lambda: not server._manager._server_instances)  # a request would extend it
            assert await called(client, server.url, session_id) == 404

    asyncio.run(run())


def test_the_named_agent_that_is_idle_longest_ends_for_a_new_one(tmp_path: Path) -> None:
    async def run() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            identity = await profile.identities.find("Work")
            async with AgentSession(profile, identity, AgentOptions(), hosts=["<all_urls>"]) as session:
                agents = HttpAgents(session, "0", limit=2, idle_timeout=60)
                first, second = [await agents.get(each) for each in ("name a", "name b")]
                with agents.use("name a"), agents.use("name c"):
                    await agents.get("name c")
                    assert await agents.get("name a") is first
                    with pytest.raises(ToolFailed, match="all are in use"):
                        await agents.get("name b")
                assert await agents.get("name b") is not second
                await agents.close()

    asyncio.run(run())


@pytest.mark.browser
def test_each_agent_has_its_own_tabs_in_one_browser(tmp_path: Path) -> None:
    async def run() -> None:
        with AgentSite() as site:
            async with serve(tmp_path) as (server, session):
                async with (
                    http_agent(server.url, session.token) as first,
                    http_agent(server.url, session.token) as second,
                    http_agent(f"{server.url}/third", session.token) as third,
                ):
                    assert third.client.protocol_version == MODERN
                    assert first.client.protocol_version != MODERN
                    agents = {"/form": first, "/dialog": second, "/password": third}
                    await asyncio.gather(
                        *(each.call("browser_navigate", url=site.url(path)) for path, each in agents.items())
                    )
                    for path, each in agents.items():
                        tabs = await each.call("browser_tabs", action="list")
                        assert path in tabs
                        assert "1: " not in tabs
                        assert path in await each.call("browser_snapshot")
                    await first.call("browser_tabs", action="close")
                    assert "/dialog" in await second.call("browser_snapshot")
                    await until_awaited(_tabs(session, 2))
                async with http_agent(server.url, session.token, MODERN) as unnamed:
                    assert "/mcp/agent1" in await unnamed.fail("browser_navigate", url=site.url("/form"))
                    assert '"Work"' not in await unnamed.fail("identity")
                async with http_agent(f"{server.url}/third", session.token, MODERN) as third:
                    assert "/password" in await third.call("browser_snapshot")  # requests need no connection
                await until_awaited(_tabs(session, 1))

    shared_driver.run(run())


def test_a_revoked_grant_ends_running_tools_and_the_server(tmp_path: Path) -> None:
    async def run() -> None:
        async with serve(tmp_path) as (server, session), http_agent(server.url, session.token) as work:
            with AgentSite() as site:
                running = asyncio.ensure_future(work.fail("fetch", url=site.url("/slow")))
                await until_awaited(_requested(site, "/slow"))
                await session.profile.grants.revoke(session.grant_id)
                async with asyncio.timeout(5):
                    assert "ended" in await running
                site.release.set()
            async with httpx.AsyncClient() as client:
                answer = await client.post(server.url, headers={"Authorization": f"Bearer {session.token}"})
                assert answer.status_code == 401

    asyncio.run(run())


def _tabs(session: AgentSession, number: int) -> Callable[[], Awaitable[bool]]:
    async def are_open() -> bool:
        return len(await session.profile.tabs.query()) == number

    return are_open


def _requested(site: AgentSite, path: str) -> Callable[[], Awaitable[bool]]:
    async def is_requested() -> bool:
        return any(each[1] == path for each in site.requests)

    return is_requested


def test_a_client_that_does_not_read_is_given_up() -> None:
    async def send(_: object) -> None:
        await asyncio.Event().wait()

    async def run() -> None:
        client = ReadingClient(send, 0.01)
        with pytest.raises(TimeoutError):
            await client.send({"type": "http.response.body"})
        assert client.is_lost

    asyncio.run(run())
