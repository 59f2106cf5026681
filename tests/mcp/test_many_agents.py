"""Many agents of `hatbox mcp`, each signed in as its own identity, at once in one browser.

HATBOX_TEST_AGENTS sets how many: each is a process with a Playwright driver of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from pathlib import Path

import hatbox
from tests.mcp.agent_client import Agent, agent, http_agent
from tests.mcp.test_http_command import command
from tests.site import Site

AGENTS = int(os.environ.get("HATBOX_TEST_AGENTS", "20"))
NAMES = [f"agent-{number:02}" for number in range(AGENTS)]
NAME = re.compile(r"agent-\d\d")
STARTING = 2  # at a time
HTTP = NAMES[-1]


async def _start(stack: contextlib.AsyncExitStack, path: Path, name: str) -> Agent:
    """One agent uses HTTP, the others stdio."""
    if name != HTTP:
        return await stack.enter_async_context(agent(path, "--identity", name))
    served, _ = await stack.enter_async_context(command(path, "--identity", name))
    return await stack.enter_async_context(http_agent(served["url"], served["token"]))


async def _use(path: Path, site: Site, name: str, starting: asyncio.Semaphore, all_open: asyncio.Barrier) -> str:
    """Sign in, and return what the agent sees when all others have signed in too."""
    async with contextlib.AsyncExitStack() as stack:  # in this task, which the SDK requires
        async with starting:
            own = await _start(stack, path, name)
            await own.call("browser_navigate", url=site.url("/login", user=name))
        await all_open.wait()
        seen = [
            await own.call("browser_navigate", url=site.url("/me", as_=name)),
            await own.call("browser_snapshot"),
            await own.call("browser_tabs", action="list"),
            await own.call("fetch", url=site.url("/me", as_=name)),
            await own.call("identity"),
        ]
        await all_open.wait()
    return "\n".join(seen)


def test_agents_in_one_browser_are_signed_in_as_their_own_identities(tmp_path: Path, browser: str) -> None:
    async def run() -> None:
        path = tmp_path / "profile.db"
        with Site() as site:
            async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser):
                for name in NAMES:
                    await profile.identities.create(name, color="blue", icon="circle")
                starting, all_open = asyncio.Semaphore(STARTING), asyncio.Barrier(AGENTS)
                seen = await asyncio.gather(*(_use(path, site, name, starting, all_open) for name in NAMES))
            assert site.mixed == []
        for name, text in zip(NAMES, seen, strict=True):
            assert f"Signed in as {name}" in text
            assert set(NAME.findall(text)) == {name}

    asyncio.run(asyncio.wait_for(run(), 600))
