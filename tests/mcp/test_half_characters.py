"""Pages and responses with half a surrogate pair, which JSON cannot contain. A server that sent one would end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

import pytest

from hatbox.mcp.person_prompts import _message
from hatbox.mcp.person_requests import PersonRequest
from hatbox.mcp.server import failed_call
from tests.engines.chromium import shared_driver
from tests.mcp.agent_client import Agent, agent, http_agent, reference
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_http import serve
from tests.store.in_loop import in_loop

BODIES = {"unicode_escape": "\\ud83d", "raw_unicode_escape": "\\ud83d", "utf-7": "+2D0-", "utf-16": "\0\xd8a\0"}


@pytest.mark.usefixtures("browser")
def test_half_a_character_ends_no_server(tmp_path: Path) -> None:
    async def run() -> None:
        with AgentSite() as site:
            async with (
                serve(tmp_path) as (server, session),
                http_agent(server.url, session.token) as over_http,
                agent(tmp_path / "profile.db", "--identity", "Work") as over_stdio,
            ):
                for each in (over_http, over_stdio):
                    await _fetches(each, site)
                    await _opens(each, site)

    shared_driver.run(asyncio.wait_for(run(), 300))


async def _fetches(work: Agent, site: AgentSite) -> None:
    for charset, body in BODIES.items():
        encoded = quote(body.encode("latin-1"))
        assert "Status: 200" in await work.call("fetch", url=site.url(f"/encoded?{charset}={encoded}"))
    assert "\\ud83d" in await work.call("fetch", url=site.url("/encoded?unicode_escape=%5Cud83d"))  # as in browsers


async def _opens(work: Agent, site: AgentSite) -> None:
    page = await work.call("browser_navigate", url=site.url("/half"))
    assert "Page title: \ufffd" in page
    assert "\ufffd" in await work.call("browser_click", target=reference(page, "Tell"))
    assert "\ufffd" in await work.fail("browser_press_key", key="a")
    await work.call("browser_handle_dialog", accept=True)
    assert '"Work"' in await work.call("identity")


@in_loop
async def test_half_a_character_is_in_no_message() -> None:
    session = cast(Any, SimpleNamespace(identity=SimpleNamespace(name="\ud83d")))
    assert failed_call("\ud83d").model_dump_json().isascii() is False
    assert "\ufffd" in _message(session, PersonRequest("sign in", ""))
