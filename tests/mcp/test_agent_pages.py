"""Agents with pages: the client of the SDK, and Chromium. Several agents are those of `hatbox mcp` in processes."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from mcp import Client

import hatbox
from hatbox.mcp.agent_session import AgentOptions
from hatbox.mcp.password_redaction import HIDDEN
from tests.engines.chromium import shared_driver
from tests.mcp.agent_client import Agent, agent, reference, sdk, serving
from tests.mcp.agent_site import AgentSite
from tests.site import Site
from tests.waiting import until_awaited

pytestmark = pytest.mark.process


async def create(folder: Path) -> Path:
    async with hatbox.open(folder / "profile.db"):
        return folder / "profile.db"


def test_an_agent_uses_pages_and_cannot_leave_its_hosts(tmp_path: Path) -> None:
    async def run() -> None:
        path = await create(tmp_path)
        with AgentSite() as site:
            async with (
                serving(path, AgentOptions(uploads=uploads), ["127.0.0.1"]) as (server, session),
                Client(sdk(server, session)) as client,
            ):
                work = Agent(client)
                await _reads(work, site)
                await _enters(work, site)
                await _uploads(work, site)
                await _stays(work, site)
            assert {host for host, _ in site.requests} == {"127.0.0.1"}
        async with hatbox.open(path) as profile:
            (grant,) = await profile.grants.list()
            assert grant.revoked is not None
            entries = await profile.activity_log.query(grant=grant.id)
            assert {("browser_navigate", "127.0.0.1", "ok"), ("navigate", "localhost", "refused")} <= {
                (each.action, each.host, each.outcome) for each in entries
            }
            assert await profile.tabs.query() == []

    uploads = tmp_path / "uploads"
    uploads.mkdir()
    (uploads / "inside.txt").write_text("content of the file")
    (tmp_path / "outside.txt").write_text("secret")
    (uploads / "link.txt").symlink_to(tmp_path / "outside.txt")
    shared_driver.run(run())


async def _reads(work: Agent, site: AgentSite) -> None:
    assert "no page is open" in await work.fail("browser_snapshot")
    snapshot = await work.call("browser_navigate", url=site.url("/password"))
    assert "ann" in snapshot
    assert snapshot.count(HIDDEN) == 2
    assert "hunter2" not in snapshot
    assert "77" not in re.sub(r"untrusted-\w+", "", snapshot).replace(site.url(""), "")
    assert "<untrusted-" in snapshot
    part = await work.call("browser_snapshot", target=reference(snapshot, "Password"))
    assert "hunter2" not in part
    assert HIDDEN in part
    result = await work.client.call_tool("browser_take_screenshot", {"type": "jpeg"})
    assert [each.type for each in result.content] == ["text", "image"]
    long = await work.call("browser_navigate", url=site.url("/long"))
    assert len(long) < 70_000
    assert "characters are omitted" in long
    assert "Sign in" in await work.call("browser_navigate_back")


async def _enters(work: Agent, site: AgentSite) -> None:
    form = await work.call("browser_navigate", url=site.url("/form"))
    fields = [
        {"target": reference(form, "Text"), "value": "one", "type": "textbox", "name": "Text"},
        {"target": reference(form, "Agree"), "value": "true", "type": "checkbox", "element": "Agree"},
    ]
    await work.call("browser_fill_form", fields=fields)
    await work.call("browser_select_option", target=reference(form, "Size"), values=["large"])
    await work.call("browser_hover", target=reference(form, "Send"))
    sent = await work.call("browser_type", target=reference(form, "More"), text="two", submit=True)
    if "Page title: Sent" not in sent:
        sent = await work.call("browser_wait_for", text="text=one")
    assert "text=one&more=two&agree=on&size=large" in sent
    assert "new browser_snapshot" in await work.fail("browser_click", target=reference(form, "Send"))
    assert "Selectors are not supported" in await work.fail("browser_click", target="text=Send")
    dialog = await work.call("browser_navigate", url=site.url("/dialog"))
    assert "Sure?" in await work.call("browser_click", target=reference(dialog, "Ask"))
    assert "browser_handle_dialog" in await work.fail("browser_press_key", key="a")
    await work.call("browser_handle_dialog", accept=True)
    assert "answer true" in await work.call("browser_snapshot")


async def _uploads(work: Agent, site: AgentSite) -> None:
    page = await work.call("browser_navigate", url=site.url("/upload"))
    await work.call("browser_click", target=reference(page, "File"))
    for refused in ("../outside.txt", "link.txt", "/etc/passwd", "missing", "."):
        assert "below the folder" in await work.fail("browser_file_upload", paths=[refused])
    await work.call("browser_file_upload", paths=["inside.txt"])
    snapshot = ""
    while "content of the file" not in snapshot:  # the page reads the file asynchronously
        snapshot = await work.call("browser_snapshot")


async def _stays(work: Agent, site: AgentSite) -> None:
    other = "localhost"
    for url in (site.url("/secret", other), site.url("/redirect"), "file:///etc/passwd", "chrome://version"):
        assert "http://" in await work.fail("browser_navigate", url=url)
        assert "http://" in await work.fail("browser_tabs", action="new", url=url)
    for label in ("plain", "redirected", "blank", "opened"):
        page = await work.call("browser_navigate", url=site.url("/leave"))
        result = await work.client.call_tool("browser_click", {"target": reference(page, label)})
        assert "content of the other host" not in str(result.content)
        tabs = await work.call("browser_tabs", action="list")
        assert f"{other}:" not in tabs
    framed = await work.call("browser_navigate", url=site.url("/framed"))
    assert "outside" in framed
    assert "other host" not in framed


def test_two_agents_use_two_identities_at_once_and_one_is_revoked(tmp_path: Path) -> None:
    async def run() -> None:
        path = await create(tmp_path)
        options = ["--identity", "Work", "--uploads", str(tmp_path)]
        with Site() as site:
            async with agent(path, *options) as work, agent(path, "--identity", "Personal") as personal:
                assert "browser_file_upload" in await work.tools()
                assert "browser_file_upload" not in await personal.tools()
                for each, user in ((work, "Work"), (personal, "Personal")):
                    await each.call("browser_navigate", url=site.url("/login", user=user))
                for each, user in ((personal, "Personal"), (work, "Work")):
                    await each.call("browser_tabs", action="new", url=site.url("/me", as_=user))
                    assert f"]: {user}\n" in await each.call("browser_snapshot")
                    assert "1: (current)" in await each.call("browser_tabs", action="list")
                    assert user in await each.call("fetch", url=site.url("/me", as_=user))
                    assert (await each.call("signed_in", url=site.url("/me"))).startswith("yes")
                await _revoke(path, "Work")
                assert not site.mixed
                assert "Personal" in await personal.call("identity")
        async with hatbox.open(path) as profile:
            assert await profile.tabs.query() == []

    asyncio.run(run())


def test_two_agents_on_one_identity_have_their_own_tabs_in_two_processes(tmp_path: Path) -> None:
    async def run() -> None:
        path = await create(tmp_path)
        with Site() as site:
            async with agent(path, "--identity", "Work") as second:
                async with agent(path, "--identity", "Work") as first:
                    await first.call("browser_navigate", url=site.url("/login", user="Work"))
                    await second.call("browser_navigate", url=site.url("/me", as_="Work", second=1))
                    assert "]: Work\n" in await second.call("browser_snapshot")  # one browser, one cookie store
                    await first.call("browser_navigate", url=site.url("/me", as_="Work", first=1))
                    for each, own in ((first, "first=1"), (second, "second=1")):
                        tabs = await each.call("browser_tabs", action="list")
                        assert own in tabs
                        assert "1: " not in tabs
                        refused = await each.fail("ask_person", message="Sign in", url=site.url("/me"))
                        assert "hatbox mcp --http" in refused
                        assert "hatbox open 'Work'" in refused
                    limited = ["--identity", "Work", "--host", "127.0.0.1"]
                    async with agent(path, *limited) as third:
                        message = await third.fail("browser_navigate", url=site.url("/me"))
                        assert "--http" in message
                    await second.call("browser_tabs", action="close")
                    assert "first=1" in await first.call("browser_snapshot")
                # The browser was that of the first process.
                for _ in range(2):
                    shown = await second.client.call_tool("browser_navigate", {"url": site.url("/me", as_="Work")})
                    if not shown.is_error:
                        break
                assert "]: Work\n" in await second.call("browser_snapshot")
                assert not site.mixed

    asyncio.run(run())


async def _revoke(path: Path, name: str) -> None:
    """Revoke the grant of an agent, and wait until its browser has ended."""
    async with hatbox.open(path) as profile:
        grants = await profile.grants.list()
        await profile.grants.revoke(next(each.id for each in grants if name in each.purpose))

        async def has_ended() -> bool:
            return await profile.running_engine(name) is None

        await until_awaited(has_ended)
