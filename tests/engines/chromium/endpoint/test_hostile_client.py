"""Every method of the protocol, sent by a client that wants data of another identity."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from pathlib import Path
from typing import Any

import hatbox
from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization, authorize_token
from tests.engines.chromium.endpoint.protocol_description import arguments, description, methods
from tests.engines.chromium.endpoint.raw_client import RawClient
from tests.engines.chromium.real import cookie, running, with_browser
from tests.site import Site
from tests.waiting import until_awaited

TOKEN = "a-token"
SECONDS = 40  # of commands at most; a quiet machine needs a fraction
WINDOW = 64  # commands without a reply

# These end the connection or the page, or stop what the test itself does in it.
SKIPPED = {
    "Browser.close",
    "Emulation.setScriptExecutionDisabled",
    "Fetch.enable",
    "Page.close",
    "Page.navigate",
    "Page.reload",
    "Page.setDocumentContent",
    "Target.setAutoAttach",
}


@with_browser
async def test_no_method_reveals_or_changes_another_identity(browser: str, path: Path, site: Site) -> None:
    described = description(browser)
    marker = f"secret{secrets.token_hex(8)}"
    secret_url = site.url("/storage", host="localhost", write=marker, set=f"m=Personal-{marker}; Path=/; Max-Age=3600")
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        other = await runner.new_page("Personal", secret_url)
        infos = (await running(runner).env.session.send("Target.getTargets"))["targetInfos"]
        assert marker in json.dumps(infos)  # what an unfiltered client would see
        foreign = next(each for each in infos if marker in each["url"])
        window = await running(runner).env.session.send("Browser.getWindowForTarget", {"targetId": foreign["targetId"]})
        ids = {
            "targetId": foreign["targetId"],
            "browserContextId": foreign["browserContextId"],
            "windowId": window["windowId"],
            "frameId": foreign["targetId"],
            "sessionId": "0" * 32,
            "origin": site.url("/", host="localhost").rstrip("/"),
            "securityOrigin": site.url("/", host="localhost").rstrip("/"),
            "storageKey": site.url("/", host="localhost"),
            "url": site.url("/page/1", host="localhost"),
            "urls": [site.url("/", host="localhost")],
        }
        markers = [marker, foreign["targetId"], foreign["browserContextId"]]
        endpoint = await runner.open_endpoint("Work", authorize_token(TOKEN, TokenAuthorization()))
        async with RawClient(endpoint.url(TOKEN)) as client, RawClient(endpoint.url(TOKEN)) as silent:
            for each in (client, silent):
                await each.result("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
                await each.result(
                    "Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
                )
            _, page = await client.open_page(site.url("/page/1"))
            await client.result("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": False}, page)
            await client.evaluate("globalThis.worker = new Worker('data:text/javascript,1'); 1", page)
            worker = (
                await client.event("Target.attachedToTarget", lambda each: each["targetInfo"]["type"] == "worker")
            )["sessionId"]
            await client.evaluate("globalThis.shared = new SharedWorker('data:text/javascript,1'); 1", page)
            shared = (
                await client.event(
                    "Target.attachedToTarget", lambda each: each["targetInfo"]["type"] == "shared_worker"
                )
            )["sessionId"]
            sent = 0
            opening = asyncio.ensure_future(_use_other_identity(other, site, marker))
            deadline = time.monotonic() + SECONDS
            for session in ("", page, worker, shared):
                for method, command in methods(described):
                    if method not in SKIPPED and time.monotonic() < deadline:
                        await client.start(method, arguments(described, method, command, ids), session)
                        sent += 1
                        await _reply_window(client, sent)
            await opening
            assert not client.closed.is_set()
            assert not silent.closed.is_set()
            version = await silent.result("Browser.getVersion")  # all events before it have arrived
            assert version["product"]
            results = [each for each in client.received if '"error"' not in each[:120]]
            assert [text for text in results if any(each in text for each in markers)] == []
            assert [text for text in client.received if marker in text] == []
            worlds = [each["params"]["context"] for each in client.events if each["method"].endswith("ContextCreated")]
            assert {each["name"] for each in worlds} <= {"", "1"}  # none of Hatbox
            assert [text for text in silent.received if any(each in text for each in markers)] == []
            assert sum("result" in each for each in client.replies.values()) > 100
        assert await other.evaluate("localStorage.kept") == marker
        assert other.url == secret_url
        await runner.wait_until_synced()
        found = await cookie(profile, "Personal", "m")
        assert found is not None
        assert marker in found.value
        assert await cookie(profile, "Work", "m") is None


async def _use_other_identity(page: Any, site: Site, marker: str) -> None:
    """A popup, a navigation and a download, while the client listens."""
    async with page.expect_popup() as popup:
        await page.evaluate("url => { window.open(url) }", site.url("/page/2", host="localhost", secret=marker))
    await (await popup.value).close()
    async with page.expect_download():
        await page.evaluate("url => { location = url }", site.url("/download", host="localhost", secret=marker))


async def _reply_window(client: RawClient, sent: int) -> None:
    """Wait until few commands have no reply. Some never get one: after a while they do not count."""
    deadline = time.monotonic() + 1

    async def is_ready() -> bool:
        return len(client.replies) > sent - WINDOW or time.monotonic() > deadline or client.closed.is_set()

    await until_awaited(is_ready)
