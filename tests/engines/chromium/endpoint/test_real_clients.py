"""The programs that people connect to endpoints, each signed in as its own identity, all at once in one browser."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import hatbox
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from tests.engines.chromium import shared_driver
from tests.engines.chromium.endpoint.raw_client import RawClient
from tests.engines.chromium.real import with_browser
from tests.node.installed_modules import installed_modules
from tests.site import Site
from tests.waiting import until, until_awaited

IDENTITIES = [f"client-{number:02}" for number in range(20)]
PUPPETEER, MCP = IDENTITIES[5:8], IDENTITIES[7:9]  # beside another program; one identity has three
LIBRARIES = ["puppeteer-core", "puppeteer-core-22", "puppeteer-core-19"]
NAME = re.compile(r"client-\d\d")
SCRIPT = Path(__file__).parents[3] / "node" / "puppeteer_clients.mjs"


class Seen(NamedTuple):
    """What a client has seen of the world: whatever contains a name."""

    owner: str
    title: str
    texts: Sequence[str]


@pytest.fixture(scope="session")
def modules() -> Path:
    return installed_modules()


async def address_of(profile: hatbox.Profile, runner: ChromiumRunner, site: Site, name: str) -> str:
    """The endpoint of a new identity that is signed in already."""
    await profile.identities.create(name, color="blue", icon="circle")
    store = await profile.cookie_store(name)
    await store.set(site.url("/"), name="session", value=site.sign_in(name))
    endpoint = await runner.open_endpoint(name)
    _, token = await profile.grants.create(identities=name, actions=["pages", "cookieValues"], hosts=["<all_urls>"])
    return endpoint.url(token)


@contextlib.asynccontextmanager
async def playwright(name: str, address: str, site: Site) -> AsyncIterator[Callable[[], Awaitable[list[Seen]]]]:
    browser = await shared_driver.playwright().chromium.connect_over_cdp(address)
    (context,) = browser.contexts
    page = await context.new_page()
    await page.goto(site.url("/me", as_=name))

    async def look() -> list[Seen]:
        cookies = [str(each) for each in await context.cookies()]
        return [Seen(name, await page.title(), [await page.content(), *cookies, *(each.url for each in context.pages)])]

    yield look
    await browser.close()


@contextlib.asynccontextmanager
async def raw(name: str, address: str, site: Site) -> AsyncIterator[Callable[[], Awaitable[list[Seen]]]]:
    async with RawClient(address) as client:
        await client.result("Target.setDiscoverTargets", {"discover": True})
        _, session = await client.open_page(site.url("/me", as_=name))

        async def look() -> list[Seen]:
            title = await until_awaited(lambda: client.evaluate("document.title", session))
            await client.result("Storage.getCookies")
            await client.result("Target.getTargets")
            await client.call("Storage.getCookies", {}, session)
            return [Seen(name, title, client.received)]

        yield look


@contextlib.asynccontextmanager
async def puppeteer(
    modules: Path, addresses: dict[str, str], site: Site
) -> AsyncIterator[Callable[[], Awaitable[list[Seen]]]]:
    given = [
        {"endpoint": addresses[name], "page": site.url("/me", as_=name), "library": library}
        for name, library in zip(PUPPETEER, LIBRARIES, strict=True)
    ]
    pipe = asyncio.subprocess.PIPE
    environment = {**os.environ, "CLIENT_MODULES": f"{modules}/"}
    process = await asyncio.create_subprocess_exec(
        "node", str(SCRIPT), json.dumps(given), stdin=pipe, stdout=pipe, env=environment
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"open\n"

    async def look() -> list[Seen]:
        output, _ = await process.communicate(b"\n")
        seen = json.loads(output)
        assert [each["contexts"] for each in seen] == [1] * len(PUPPETEER)
        assert [each["text"] for each in seen] == PUPPETEER
        pairs = zip(PUPPETEER, seen, strict=True)
        return [Seen(name, each["title"], [*each["urls"], str(each["cookies"])]) for name, each in pairs]

    try:
        yield look
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@contextlib.asynccontextmanager
async def playwright_mcp(
    modules: Path, name: str, address: str, site: Site, folder: Path
) -> AsyncIterator[Callable[[], Awaitable[list[Seen]]]]:
    arguments = [str(modules / "@playwright" / "mcp" / "cli.js"), "--cdp-endpoint", address, "--cdp-timeout", "80000"]
    parameters = StdioServerParameters(command="node", args=arguments, env={**os.environ}, cwd=folder)
    async with Client(stdio_client(parameters)) as client:

        async def call(tool: str, **given: Any) -> str:
            result = await client.call_tool(tool, given)
            text = "\n".join(each.text for each in result.content if each.type == "text")
            assert not result.is_error, text
            return text

        await call("browser_tabs", action="new")
        await call("browser_navigate", url=site.url("/me", as_=name))

        async def look() -> list[Seen]:
            snapshot, tabs = await call("browser_snapshot"), await call("browser_tabs", action="list")
            (title,) = re.findall(r"Page Title: (.*)", snapshot)
            return [Seen(name, title, [snapshot, tabs])]

        yield look


Connection = AbstractAsyncContextManager[Callable[[], Awaitable[list[Seen]]]]


async def use(client: Connection, all_open: asyncio.Barrier) -> list[Seen]:
    """What a client sees when the pages of all others are open. Its tasks are its own, which the MCP SDK requires."""
    async with client as look:
        await all_open.wait()
        seen = await look()
        await all_open.wait()
    return seen


@with_browser
async def test_every_program_uses_its_own_identity_and_no_other(
    browser: str, path: Path, site: Site, modules: Path
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        addresses = {name: await address_of(profile, runner, site, name) for name in IDENTITIES}
        programs: list[Connection] = [
            *(playwright_mcp(modules, name, addresses[name], site, path.parent) for name in MCP),
            puppeteer(modules, addresses, site),
        ]
        others: list[Connection] = [
            *(playwright(name, addresses[name], site) for name in IDENTITIES[::2]),
            *(raw(name, addresses[name], site) for name in IDENTITIES[1::2]),
        ]
        all_open = asyncio.Barrier(len(programs) + len(others))
        async with asyncio.TaskGroup() as group:
            using: list[asyncio.Task[list[Seen]]] = []
            for number, each in enumerate([*programs, *others], 1):
                using.append(group.create_task(use(each, all_open)))
                if number <= len(programs):  # one after the other: a slow machine would exceed their timeouts
                    await until(lambda expected=number: all_open.n_waiting == expected)  # type: ignore[misc]
        seen = [each for task in using for each in task.result()]
        assert len(seen) == len(IDENTITIES) + len(PUPPETEER) + len(MCP)
        for owner, title, texts in seen:
            assert title == f"Signed in as {owner}"
            assert {found for text in texts for found in NAME.findall(text)} == {owner}
    assert site.mixed == []
